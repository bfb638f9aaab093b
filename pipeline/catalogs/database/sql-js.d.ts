/** It brings no types; what is used of it is typed where it is used. */
declare module 'sql.js/dist/sql-wasm-inline.js';

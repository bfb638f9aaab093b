/** The program of the thread that compares passwords: bcrypt takes a tenth of a second or more of a processor. */

/** CommonJS that answers `{ id, password, hash }` with `{ id, isRight }`. The build puts the library into it. */
export const PROGRAM = `
const { parentPort } = require('node:worker_threads');
const { compareSync } = require('bcryptjs');
parentPort.on('message', ({ id, password, hash }) => {
  parentPort.postMessage({ id, isRight: compareSync(password, hash) });
});
`;

/** Databases of SQLite, made of statements. */

interface Made {
  run(sql: string): void;
  export(): Uint8Array;
  close(): void;
}

/** @param statements SQL, one behind another */
export async function database(...statements: readonly string[]): Promise<Uint8Array> {
  const module: { default: () => Promise<{ Database: new () => Made }> } = await import(
    'sql.js/dist/sql-wasm-inline.js'
  );
  const { Database } = await module.default();
  const made = new Database();
  for (const statement of statements) made.run(statement);
  const bytes = made.export();
  made.close();
  return bytes;
}

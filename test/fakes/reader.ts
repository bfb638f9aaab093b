/** The program that a confined check runs, built once from the sources; `main` is what it does. */
import { mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { buildSync } from 'esbuild';

/** @param main what the program does, in TypeScript, with `serveReader` at hand. @returns the file */
export function readerFile(main = 'serveReader();'): string {
  // Beside node_modules, so that packages are found.
  mkdirSync('node_modules/.cache', { recursive: true });
  const folder = mkdtempSync('node_modules/.cache/reader-');
  const outfile = join(process.cwd(), folder, 'reader.mjs');
  buildSync({
    stdin: {
      contents: `import { serveReader } from './pipeline/check/confined/reader.ts';\n${main}`,
      resolveDir: process.cwd(),
      loader: 'ts',
    },
    outfile,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    define: { PORTOLAN_VERSION: '"test"' },
  });
  return outfile;
}

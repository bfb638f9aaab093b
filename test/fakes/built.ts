/** Programs that are built from the sources, once in each process of tests. */
import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { buildSync } from 'esbuild';

const built = new Map<string, string>();

/** @param text what the program does, in TypeScript; it imports sources as `./pipeline/…`. @returns the file */
export function builtFile(text: string): string {
  const known = built.get(text);
  if (known !== undefined) return known;
  const name = createHash('sha256').update(text).digest('hex').slice(0, 12);
  // Beside node_modules, so that packages are found.
  const outfile = resolve('node_modules/.cache/portolan', `${name}-${process.pid}.mjs`);
  buildSync({
    stdin: { contents: text, resolveDir: process.cwd(), loader: 'ts' },
    outfile,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'error',
    define: { PORTOLAN_VERSION: '"0.0.0"' },
  });
  process.on('exit', () => rmSync(outfile, { force: true }));
  built.set(text, outfile);
  return outfile;
}

/** @param main what a confined check's reader does, in TypeScript, with `serveReader` at hand. @returns the file */
export function readerFile(main = 'serveReader();'): string {
  return builtFile(`import { serveReader } from './pipeline/check/confined/reader.ts';\n${main}`);
}

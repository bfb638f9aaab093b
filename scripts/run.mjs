// Runs a TypeScript program of this repository: node scripts/run.mjs PROGRAM [ARGUMENT ...]
import { mkdirSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildSync } from 'esbuild';
import { writeRuleLists } from './rule-lists.mjs';

const [program, ...programArguments] = process.argv.slice(2);
if (program === undefined) {
  process.stderr.write('usage: node scripts/run.mjs PROGRAM [ARGUMENT ...]\n');
  process.exit(2);
}
// Beside node_modules, so that packages left out of the bundle are found.
const folder = resolve('node_modules/.cache/portolan');
mkdirSync(folder, { recursive: true });
const outfile = join(folder, `${basename(program, '.ts')}-${process.pid}.mjs`);
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
writeRuleLists();
buildSync({
  entryPoints: [program],
  outfile,
  bundle: true,
  packages: 'external',
  platform: 'node',
  format: 'esm',
  target: 'node20',
  sourcemap: 'inline',
  logLevel: 'error',
  define: { PORTOLAN_VERSION: JSON.stringify(version) },
});
process.argv = [process.argv[0] ?? 'node', program, ...programArguments];
await import(pathToFileURL(outfile).href);

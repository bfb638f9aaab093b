// Writes dist/types/: the declarations that the libraries export, and those that they name. The compiler also declares
// every file that is only called inside, which nobody who imports a library reads.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

const FOLDER = 'dist/types';
const PROJECT = 'tsconfig.types.json';

rmSync(FOLDER, { recursive: true, force: true });
execFileSync('node_modules/.bin/tsc', ['--project', PROJECT], { stdio: 'inherit' });

const declarationOf = (path) => path.replace(/\.ts$/, '.d.ts');
const { files } = JSON.parse(readFileSync(PROJECT, 'utf8'));
const open = files.map((file) => join(FOLDER, declarationOf(file)));
const needed = new Set();
for (let file = open.pop(); file !== undefined; file = open.pop()) {
  if (needed.has(file) || !existsSync(file)) continue;
  needed.add(file);
  for (const [, path] of readFileSync(file, 'utf8').matchAll(/(?:from|import\(?) ?['"](\.[^'"]+)['"]/g))
    open.push(declarationOf(join(dirname(file), path)));
}
for (const path of readdirSync(FOLDER, { recursive: true })) {
  const file = join(FOLDER, path);
  if (file.endsWith('.d.ts') && !needed.has(file)) rmSync(file);
}

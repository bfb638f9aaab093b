// Reads all files of a directory with js-yaml and nothing else: node bench/js-yaml.mjs DIR
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadAll } from 'js-yaml';

const [directory = '.'] = process.argv.slice(2);
let documents = 0;
for (const path of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
  if (/\.(?:ya?ml|json)$/.test(path)) {
    documents += loadAll(readFileSync(join(directory, path), 'utf8')).length;
  }
}
console.log(documents);

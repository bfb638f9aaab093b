/** SHA-256 of the files of a release, as `sha256sum --check` reads them. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One line for each file of a directory, those in its directories too, in the order of their paths. */
export function checksums(directory: string): string {
  const lines = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort()
    .map((path) => `${sha256(path)}  ${path.slice(directory.length + 1)}\n`);
  return lines.join('');
}

/** The digest of a file, in hexadecimal. */
function sha256(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

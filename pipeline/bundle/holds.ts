import { statSync } from 'node:fs';
import { join } from 'node:path';

/** Whether a directory holds a bundle: it has the two folders of one. */
export function holdsBundle(path: string): boolean {
  const isFolder = (name: string): boolean =>
    statSync(join(path, name), { throwIfNoEntry: false })?.isDirectory() ?? false;
  return isFolder('manifests') && isFolder('metadata');
}

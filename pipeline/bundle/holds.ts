import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Whether a directory holds a bundle: it has the two folders of one. */
export function holdsBundle(path: string): boolean {
  const isFolder = (name: string): boolean => {
    const folder = join(path, name);
    return existsSync(folder) && statSync(folder).isDirectory();
  };
  return isFolder('manifests') && isFolder('metadata');
}

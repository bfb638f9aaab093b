import { join } from 'node:path';
import { isDirectory } from '../../directory.ts';

/** Whether a directory holds a bundle: it has the two folders of one. */
export function holdsBundle(path: string): boolean {
  return ['manifests', 'metadata'].every((name) => isDirectory(join(path, name)));
}

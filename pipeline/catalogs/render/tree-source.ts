/** A folder of an image as the source of a catalog or a bundle. */
import { posix } from 'node:path';
import type { CatalogSource, SourceFile } from '../../../catalog/source.ts';
import type { ImageEntry, ImageTree } from '../../oci/image/tree.ts';

/** Links in an image may go round in circles. */
const MOST_LINKS = 40;

/**
 * Links are followed within the image, to files only.
 *
 * @param folder path in the image, without a slash before it; empty for all of the image
 */
export function treeSource(tree: ImageTree, folder: string): CatalogSource {
  const prefix = folder === '' ? '' : `${folder}/`;
  const files: SourceFile[] = [];
  for (const [path, entry] of tree.entries) {
    if (!path.startsWith(prefix) || entry.kind === 'directory') continue;
    const content = contentOf(tree, path);
    files.push({
      path: path.slice(prefix.length),
      ...(content
        ? {}
        : { unreadable: `a link to ${JSON.stringify(entry.target)}, which is not a file of the image` }),
      read: () => (content ? tree.read(content) : new Uint8Array()),
      ...(content ? { readPieces: () => tree.pieces(content) } : {}),
    });
  }
  return { files: () => Promise.resolve(files) };
}

function contentOf(tree: ImageTree, path: string): ImageEntry | undefined {
  let at = path;
  for (let links = 0; links < MOST_LINKS; links++) {
    const entry = tree.entries.get(at);
    if (entry?.kind !== 'link') return entry?.kind === 'file' ? entry : undefined;
    // Joined to the root, a path cannot lead out of it.
    at = posix.join('/', posix.dirname(at), '/', entry.target ?? '').slice(1);
    if (entry.target?.startsWith('/')) at = posix.join('/', entry.target).slice(1);
  }
  return undefined;
}

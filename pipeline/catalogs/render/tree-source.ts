/** A folder of an image as the source of a catalog or a bundle. */
import { posix } from 'node:path';
import type { CatalogSource, SourceFile } from '../../../catalog/source.ts';
import { PipelineError } from '../../error.ts';
import type { ImageEntry, ImageTree } from '../../oci/image/tree.ts';

/** Links in an image may go round in circles. */
const MOST_LINKS = 40;

/** Bytes of all files of a catalog at most: the largest public one has a quarter of it. */
export const CATALOG_BYTES: number = 2 * 2 ** 30;

/**
 * Links are followed within the image, to files only.
 *
 * @param folder path in the image, without a slash before it; empty for all of the image
 * @param most bytes of its files at most; many links may lead to one file, which is read for each
 * @throws PipelineError `too-large`
 */
export function treeSource(tree: ImageTree, folder: string, most: number): CatalogSource {
  const prefix = folder === '' ? '' : `${folder}/`;
  const files: SourceFile[] = [];
  let size = 0;
  for (const [path, entry] of tree.entries) {
    if (!path.startsWith(prefix) || entry.kind === 'directory') continue;
    const content = fileAt(tree, path)?.entry;
    size += content?.size ?? 0;
    if (size > most)
      throw new PipelineError(
        'too-large',
        `the files of the image are larger than Portolan reads: the limit is ${most / 2 ** 20} MiB together`,
      );
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

/** The file at a path, or behind the links there; undefined if they lead to none, or in a circle. */
export function fileAt(
  tree: Pick<ImageTree, 'entries'>,
  path: string,
): { readonly path: string; readonly entry: ImageEntry } | undefined {
  let at = path;
  for (let links = 0; links < MOST_LINKS; links++) {
    const entry = tree.entries.get(at);
    if (entry?.kind !== 'link') return entry?.kind === 'file' ? { path: at, entry } : undefined;
    const target = entry.target ?? '';
    const base = target.startsWith('/') ? '' : posix.dirname(at);
    // Joined to the root, a path cannot lead out of it.
    at = posix.join('/', base, target).slice(1);
  }
  return undefined;
}

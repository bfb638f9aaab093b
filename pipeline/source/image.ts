/**
 * The catalog of an index image. Only the layers that can hold it are fetched: the server, and the
 * cache, which is most of an image, stay where they are.
 */
import { posix } from 'node:path';
import { PipelineError } from '../error.ts';
import { CONFIGS_LABEL } from '../image/base.ts';
import type { ImageTree } from '../image/tree.ts';
import { holdsFolder, unknownImage } from '../render/image.ts';
import type { OpenImage } from '../render/open-image.ts';

/** The catalog's files; the tree must be closed. */
export interface CatalogTree {
  readonly files: ImageTree;
  /** Where the catalog is in them, without a slash before it. */
  readonly folder: string;
}

/**
 * Unpacks the catalog of an index image.
 *
 * @param options.name what the image is called, for messages
 * @param options.allLayers whether layers are fetched too which the image's history places elsewhere
 * @throws PipelineError `usage` for an image that is none, `not-found` when its label names no folder
 */
export async function catalogTree(
  { labels, unpackFolder }: OpenImage,
  { name, allLayers }: { readonly name: string; readonly allLayers: boolean },
): Promise<CatalogTree> {
  const configs = labels.get(CONFIGS_LABEL);
  if (configs === undefined) throw unknownImage(name, labels);
  const folder = posix.join('/', configs).slice(1).replace(/\/$/, '');
  const files = await unpackFolder(folder, allLayers);
  if (holdsFolder(files, folder)) return { files, folder };
  files.close();
  throw new PipelineError('not-found', `${name} has no directory /${folder}, which its label names`);
}

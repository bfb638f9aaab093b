/**
 * The catalog of an index image. Only the layers that can hold it are fetched: the server, and the
 * cache, which is most of an image, stay where they are.
 */
import { posix } from 'node:path';
import type { CatalogSource } from '../../../catalog/source.ts';
import { PipelineError } from '../../error.ts';
import { CONFIGS_LABEL } from '../../oci/image/base.ts';
import type { ImageTree } from '../../oci/image/tree.ts';
import { formOfImage } from '../forms.ts';
import { fileIn, holdsFolder, unknownImage } from '../render/image.ts';
import type { OpenImage } from '../render/open-image.ts';
import { treeSource } from '../render/tree-source.ts';

/** The catalog's files; the tree must be closed. */
interface CatalogTree {
  readonly files: ImageTree;
  /** Where the catalog is in them, without a slash before it. */
  readonly folder: string;
}

/** The files of a catalog until they are closed. */
interface CatalogFiles {
  readonly source: CatalogSource;
  readonly close: () => void;
}

/**
 * The catalog of an index image, whether it holds files or another form.
 *
 * @throws PipelineError as {@link catalogTree}, and as `CatalogForm.source`
 */
export async function catalogFilesOf(
  image: OpenImage,
  options: { readonly name: string; readonly allLayers: boolean },
): Promise<CatalogFiles> {
  const other = formOfImage(image.labels);
  if (other) {
    const bytes = await fileIn(options.name, image, other.path);
    return { source: await other.form.source(bytes, options.name), close: () => undefined };
  }
  const { files, folder } = await catalogTree(image, options);
  return { source: treeSource(files, folder), close: () => files.close() };
}

/**
 * Unpacks the catalog of an index image.
 *
 * @param options.name what the image is called, for messages
 * @param options.allLayers whether layers are fetched too which the image's history places elsewhere
 * @throws PipelineError `usage` for an image that is none, `not-found` when its label names no folder
 */
async function catalogTree(
  { labels, unpackFolder }: OpenImage,
  { name, allLayers }: { readonly name: string; readonly allLayers: boolean },
): Promise<CatalogTree> {
  const configs = labels.get(CONFIGS_LABEL);
  if (configs === undefined) throw unknownImage(name, labels);
  const folder = posix.join('/', configs).slice(1).replace(/\/$/, '');
  const files = await unpackFolder(folder, allLayers);
  if (holdsFolder(files, folder)) return { files, folder };
  files.close();
  throw new PipelineError('not-found', `${name} has no directory /${folder}, which its label declares`);
}

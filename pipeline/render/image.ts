/** Images as blobs, by what their labels say that they hold. */
import { posix } from 'node:path';
import { type Loaded, load } from '../../catalog/load.ts';
import { PipelineError } from '../error.ts';
import { CONFIGS_LABEL } from '../image/base.ts';
import type { ImageTree } from '../image/tree.ts';
import { type OpenImage, withImage } from './open-image.ts';
import type { Rendering } from './reference.ts';
import { treeSource } from './tree-source.ts';

/** The label of index images of the time before file-based catalogs. */
const DATABASE_LABEL = 'operators.operatorframework.io.index.database.v1';

/**
 * @param name a reference, or `oci:DIR:TAG` and the like
 * @throws PipelineError `not-found`, or `usage` for an image that holds nothing to render
 */
export async function renderImage(name: string, { registry }: Rendering): Promise<Loaded> {
  return withImage(name, registry, async (image) => {
    const configs = image.labels.get(CONFIGS_LABEL);
    if (configs === undefined) throw unknownImage(name, image.labels);
    return renderIndexImage(name, image, configs);
  });
}

function renderIndexImage(name: string, { unpack }: OpenImage, configs: string): Promise<Loaded> {
  const folder = posix.join('/', configs).slice(1).replace(/\/$/, '');
  const isWanted = (path: string): boolean =>
    folder === '' || path.startsWith(`${folder}/`) || path === folder;
  const read = (tree: ImageTree): Promise<Loaded> => {
    if (!holdsFolder(tree, folder)) {
      throw new PipelineError('not-found', `${name} has no directory /${folder}, which its label names`);
    }
    return load(treeSource(tree, folder));
  };
  return unpack(isWanted, read, folder);
}

/** Whether a folder is there; archives need not name folders. */
export function holdsFolder(tree: ImageTree, folder: string): boolean {
  if (folder === '' || tree.entries.get(folder)?.kind === 'directory') return true;
  return [...tree.entries.keys()].some((path) => path.startsWith(`${folder}/`));
}

/** The error for an image that is neither an index image nor a bundle. */
export function unknownImage(name: string, labels: ReadonlyMap<string, string>): PipelineError {
  if (labels.has(DATABASE_LABEL)) {
    return new PipelineError(
      'usage',
      `${name} is an index image with a database, which opm no longer reads`,
      {
        hint: 'build it anew from a file-based catalog',
      },
    );
  }
  const found = [...labels].map(([key, value]) => `${key}=${value}`).join(', ');
  return new PipelineError(
    'usage',
    `${name} is neither an index image nor a bundle: ${found === '' ? 'it has no labels' : `its labels are ${found}`}`,
  );
}

/** A bundle that somebody names: a directory, or an image in a registry, a layout or an archive. */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { PipelineError } from '../../error.ts';
import { CONFIGS_LABEL } from '../../oci/image/base.ts';
import { unpackBundle } from '../render/image.ts';
import type { Rendering } from '../render/load.ts';
import { withImage } from '../render/open-image.ts';
import { type OpenBundle, openBundleDirectory } from './open-directory.ts';

/**
 * Opens a bundle: a directory that exists, and an image otherwise.
 *
 * @param name a path, a reference, or `oci:DIR:TAG` and the like
 * @throws PipelineError `not-found`, `usage` for an index image, and what a registry may throw
 */
export async function withBundle<T>(
  name: string,
  access: Pick<Rendering, 'directory' | 'registry'>,
  use: (bundle: OpenBundle) => Promise<T>,
): Promise<T> {
  const path = resolve(access.directory, name);
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory()) return use(openBundleDirectory(path));
  if (found) throw new PipelineError('usage', `${name} is a file: a bundle is a directory or an image`);
  if (isPath(name)) {
    throw new PipelineError('not-found', `the directory ${name} does not exist`, {
      // Names with one or two parts are short names of Docker Hub.
      ...(/^\w[^/]*(?:\/[^/]+)?$/.test(name)
        ? { hint: `for an image of Docker Hub, write docker.io/${name}` }
        : {}),
    });
  }
  return withImage(name, access, async (image) => {
    if (image.labels.has(CONFIGS_LABEL)) {
      throw new PipelineError('usage', `${name} is an index image, not a bundle`, {
        hint: 'to validate a catalog, run portolan validate',
      });
    }
    return unpackBundle(image, (source) => use({ source, labels: image.labels }));
  });
}

/** Whether a name of nothing is meant as a directory: an image has a host (with a dot, or `localhost`), a tag or a digest. */
function isPath(name: string): boolean {
  const [first = ''] = name.split('/').filter((part) => part !== '');
  return /^[/.~]/.test(name) || !(/[:@]/.test(name) || /\.|^localhost$/.test(first));
}

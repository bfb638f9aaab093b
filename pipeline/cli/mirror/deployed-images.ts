/** The images of deployments that a catalog does not hold, from bundle directories. */

import type { DeployedImages } from '../../../catalog/mirror/images.ts';
import { manifestLookups } from '../../catalogs/bundle/manifest-lookups.ts';
import type { Terminal } from '../../terminal.ts';
import type { Invocation, Option } from '../command.ts';

export const BUNDLES_OPTION: Readonly<Record<'bundles', Option>> = {
  bundles: {
    value: 'DIR',
    description:
      'bundle directories PACKAGE/VERSION, as portolan bundle fetch writes them: images that only deployments name count, too',
  },
};

/** @throws PipelineError `not-found` when the directory does not exist */
export function deployedImages({ text }: Invocation, terminal: Terminal): DeployedImages | undefined {
  const { manifests } = manifestLookups(text('bundles'), terminal);
  return manifests && ((bundle) => manifests(bundle)?.csv?.images);
}

/** The images of deployments that a catalog does not hold, from bundle directories or from the bundles' images. */

import type { DeployedImages } from '../../../catalog/mirror/images.ts';
import { tryParseReference } from '../../../catalog/reference.ts';
import { manifestLookups } from '../../catalogs/bundle/manifest-lookups.ts';
import type { OpenCatalog } from '../../catalogs/source/open.ts';
import { deployedInImage } from '../../check/content/deployments.ts';
import type { MirrorOutcome, SelectedCatalog } from '../../mirror/prepare.ts';
import type { Terminal } from '../../terminal.ts';
import type { Invocation, Option } from '../command.ts';
import { registryClientFor } from '../registry-access.ts';

export const BUNDLES_OPTION: Readonly<Record<'bundles', Option>> = {
  bundles: {
    value: 'DIR',
    description:
      'bundle directories PACKAGE/VERSION, as portolan bundle fetch writes them: images that only deployments name count, too',
  },
};

/**
 * The images of deployments in the bundle directories that an option names; undefined without the option.
 *
 * @throws PipelineError `not-found` when the directory does not exist
 */
export function deployedImages({ text }: Invocation, terminal: Terminal): DeployedImages | undefined {
  const { manifests } = manifestLookups(text('bundles'), terminal);
  return manifests && ((bundle) => manifests(bundle)?.csv?.images);
}

/** The catalogs of a configuration, as what prepares a mirror takes them. */
export function selectedCatalogs(
  catalogs: readonly OpenCatalog[],
  invocation: Invocation,
  terminal: Terminal,
): SelectedCatalog[] {
  const deployed = deployedImages(invocation, terminal);
  return catalogs.map(({ source, image }) => {
    const digest = image?.digest;
    return { source, deployed, digest, serverless: image?.hasServer === false };
  });
}

interface Deployed {
  readonly deployed?: DeployedImages | undefined;
}

interface Prepared<C> {
  /** Those given; where bundle images were asked, with the answers in `deployed`. */
  readonly catalogs: readonly C[];
  readonly outcome: MirrorOutcome;
}

/** Bundle images at a time: each is in memory as a whole. */
const TOGETHER = 4;

/**
 * Prepares a mirror. For bundles of which nothing says what images they deploy, their own images are asked, and the
 * mirror is prepared again with the answers. A bundle's image that cannot be read does not end it.
 */
export async function withDeployments<C extends Deployed>(
  catalogs: readonly C[],
  prepare: (catalogs: readonly C[]) => Promise<MirrorOutcome>,
  { invocation, terminal }: { readonly invocation: Invocation; readonly terminal: Terminal },
): Promise<Prepared<C>> {
  const outcome = await prepare(catalogs);
  const bundles = outcome.images.flatMap((one) => one.bundles).filter((one) => !one.hasDeployments);
  const images = new Set(bundles.map(({ image }) => image));
  // A tag may name another bundle by now.
  const wanted = [...images].filter((image) => tryParseReference(image)?.kind === 'digest');
  if (wanted.length === 0) return { catalogs, outcome };
  const read = new Map<string, readonly string[]>();
  const registry = registryClientFor(invocation, terminal);
  try {
    for (let i = 0; i < wanted.length; i += TOGETHER) {
      const batch = wanted.slice(i, i + TOGETHER);
      const found = await Promise.all(
        batch.map((image) => deployedInImage(image, { registry, store: undefined })),
      );
      for (const [at, image] of batch.entries()) {
        const named = found[at];
        if (named) read.set(image, named);
      }
    }
  } finally {
    registry.close();
  }
  const known = catalogs.map((one) => ({
    ...one,
    deployed: (bundle: Parameters<DeployedImages>[0]) => one.deployed?.(bundle) ?? read.get(bundle.image),
  }));
  return { catalogs: known, outcome: await prepare(known) };
}

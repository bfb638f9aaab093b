/**
 * The images that only deployments of bundles name, read from the bundles' own images: a catalog with
 * `olm.csv.metadata` does not have them. What cannot be read stays unknown.
 */
import type { Bundle } from '../../../catalog/fbc/model.ts';
import { parsedJson } from '../../../catalog/json.ts';
import type { DeployedImages } from '../../../catalog/mirror/images.ts';
import type { ManifestsOf } from '../../../catalog/olm/foresight/world.ts';
import { manifestsOfBundle } from '../../../catalog/olm/manifests.ts';
import { tryParseReference } from '../../../catalog/reference.ts';
import { usedImages } from '../../../catalog/references/csv.ts';
import { renderBundleImage } from '../../catalogs/render/image.ts';
import { PipelineError } from '../../error.ts';
import type { Policy } from '../../policy/policy.ts';
import { repositoryMatcher } from '../../policy/registries.ts';
import type { Registry } from '../../ports.ts';
import { derivedOnce, type ImagePorts } from '../world/stored-image.ts';
import type { BeforeAndAfter, TouchedCatalog } from '../world/touched-catalog.ts';

/** Most bundle images that one check reads, each of several megabytes; further bundles are reported as not checked. */
const MOST_IMAGES = 20;
const NOTHING: ManifestsOf = () => undefined;

interface DeploymentSources extends Pick<ImagePorts, 'store'> {
  readonly policy: Policy;
  readonly registry: Registry | undefined;
}

/**
 * The images in the deployments of the touched bundles, before and after.
 *
 * @param manifests what is known of bundles from elsewhere, which needs no image
 */
export async function deploymentsOf(
  touched: readonly TouchedCatalog[],
  manifests: BeforeAndAfter<ManifestsOf> = { before: NOTHING, after: NOTHING },
  { policy, registry, store }: DeploymentSources,
): Promise<BeforeAndAfter<DeployedImages>> {
  const allows = repositoryMatcher(policy.registries.allow);
  // The catalog itself, or the repository's bundle directories, may have the deployments: then no image is read.
  const isUnknown = (bundle: Bundle): boolean =>
    manifestsOfBundle(bundle).csv?.images === undefined && manifests.after(bundle)?.csv?.images === undefined;
  const bundleImages = new Set<string>();
  for (const { after } of touched) {
    for (const bundle of after?.blobs.bundles ?? []) {
      const reference = tryParseReference(bundle.image);
      if (reference?.kind === 'digest' && allows(reference) && isUnknown(bundle))
        bundleImages.add(bundle.image);
    }
  }
  const known = new Set(
    touched.flatMap(({ before }) => before?.blobs.bundles.map(({ image }) => image) ?? []),
  );
  // What the pull request brings comes first: of the others, some may be left out.
  const newsFirst = [...bundleImages].sort((a, b) => Number(known.has(a)) - Number(known.has(b)));
  const deployed = new Map<string, readonly string[]>();
  // One at a time: what is in memory is one bundle.
  for (const image of registry ? newsFirst.slice(0, MOST_IMAGES) : []) {
    const found = registry && (await deployedInImage(image, { registry, store }));
    if (found) deployed.set(image, found);
  }
  const side = (manifestsOf: ManifestsOf): DeployedImages => {
    return (bundle) => manifestsOf(bundle)?.csv?.images ?? deployed.get(bundle.image);
  };
  return { before: side(manifests.before), after: side(manifests.after) };
}

/** The images in the deployments of a bundle's image; undefined if the image cannot be read. */
export async function deployedInImage(
  image: string,
  ports: ImagePorts,
): Promise<readonly string[] | undefined> {
  const options = { directory: '/', registry: () => ports.registry };
  try {
    return await derivedOnce(image, ports, {
      kind: 'deployments',
      parse: (bytes) => texts(parsedJson(Buffer.from(bytes).toString('utf8'))),
      format: (images) => Buffer.from(JSON.stringify(images)),
      derive: async (name) => {
        const { csv } = await renderBundleImage(`docker://${name}`, options);
        return [...new Set(usedImages(csv).map((used) => used.image))];
      },
    });
  } catch (error) {
    if (error instanceof PipelineError) return undefined;
    throw error;
  }
}

/** A stored list of texts; undefined for anything else, which is then derived again. */
function texts(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) && value.every((text) => typeof text === 'string') ? value : undefined;
}

/** Names of the catalogs that a repository of bundle directories needs, worked out from the platforms of its bundles. */
import { OPENSHIFT_VERSIONS } from '../../../catalog/bundle/openshift-range.ts';
import { compareMinors, formatMinor, type Minor, tryParseMinor } from '../../../catalog/fbc/openshift.ts';
import { isObject } from '../../../catalog/go/shape.ts';
import type { ObjectReader } from '../../git/objects.ts';
import { whyUnreadable } from '../../git/source.ts';
import type { ListedFile } from '../../git/tree.ts';
import { readSettings } from '../../settings.ts';

const ANNOTATIONS = /^operators\/[^/]+\/[^/]+\/metadata\/annotations\.ya?ml$/;

/** Most bundles that are read, and the largest file of one, in bytes. */
const MOST_BUNDLES = 300;
const FILE_BYTES = 64 * 1024;
/** Most catalogs that are named: the latest. */
const MOST_NAMES = 12;

/** The catalog where no bundle names a platform. */
const ONLY = 'catalog';

/**
 * One catalog for each version of OpenShift between the lowest and the highest that bundles name.
 *
 * @returns none where there are no bundles
 */
export async function bundleCatalogNames(
  objects: ObjectReader,
  files: readonly ListedFile[],
): Promise<string[]> {
  const bundles = files.filter(
    ({ path, mode }) => ANNOTATIONS.test(path) && whyUnreadable(mode) === undefined,
  );
  if (bundles.length === 0) return [];
  const minors: Minor[] = [];
  const step = Math.max(1, bundles.length / MOST_BUNDLES);
  for (let i = 0; i < bundles.length; i += step) {
    const file = bundles[Math.floor(i)];
    if (file) minors.push(...(await platformsOf(objects, file)));
  }
  minors.sort(compareMinors);
  const [low, high] = [minors[0], minors.at(-1)];
  return low && high ? namesBetween(low, high) : [ONLY];
}

/** Versions that a bundle's annotation names. */
async function platformsOf(objects: ObjectReader, { id, path }: ListedFile): Promise<Minor[]> {
  if (((await objects.info(id))?.size ?? FILE_BYTES) >= FILE_BYTES) return [];
  const { settings } = readSettings(path, (await objects.read(id, FILE_BYTES)).bytes);
  const annotations = isObject(settings?.value) ? settings.value['annotations'] : undefined;
  const text = isObject(annotations) ? annotations[OPENSHIFT_VERSIONS] : undefined;
  if (typeof text !== 'string') return [];
  return text
    .replaceAll(/["'\s=]/g, '')
    .split(/[-,]/)
    .flatMap((one) => tryParseMinor(one) ?? []);
}

function namesBetween(low: Minor, high: Minor): string[] {
  if (low.major !== high.major) return [`v${formatMinor(high)}`];
  const from = Math.max(low.minor, high.minor - MOST_NAMES + 1);
  return Array.from({ length: high.minor - from + 1 }, (_, i) => `v${high.major}.${from + i}`);
}

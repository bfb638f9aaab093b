/** Bundle directories outside of operators/, which the default layout does not know: the patterns that hold them. */

import { OPENSHIFT_VERSIONS } from '../../../catalog/bundle/openshift-range.ts';
import { compareMinors, formatMinor, type Minor, tryParseMinor } from '../../../catalog/fbc/openshift.ts';
import { knownPlatforms } from '../../../catalog/fbc/platform.ts';
import { objectOf } from '../../../catalog/go/shape.ts';
import type { ObjectReader } from '../../git/objects.ts';
import { whyUnreadable } from '../../git/source.ts';
import type { ListedFile } from '../../git/tree.ts';
import { readSettings } from '../../settings.ts';
import { isVersionFolder, patternDefect } from '../layout.ts';
import { isUnshipped } from './unshipped.ts';

interface BundleFolders {
  /** Patterns of bundle directories, by folder; empty where they are in operators/. */
  readonly patterns: readonly string[];
  /** Packages, each with a path in its folder. */
  readonly places: ReadonlyMap<string, string>;
  /** Bundle directories that are not called PACKAGE/VERSION, versions as `*`: checks find them by their files. */
  readonly others: readonly string[];
}

export const NO_FOLDERS: BundleFolders = { patterns: [], places: new Map(), others: [] };

/** The ClusterServiceVersion of a bundle, with the bundle's directory in the group. */
const MANIFEST = /^(.+)\/manifests\/[^/]*clusterserviceversion\.ya?ml$/;
/** `FOLDER/PACKAGE/VERSION`; the default layout has those of `operators/`. */
const PLACE = /^((?:.*\/)?)([^/]+)\/([^/]+)$/;
const PACKAGE = 'operators.operatorframework.io.bundle.package.v1';

/** The folders of packages in the format before bundles: a `*.package.yaml` beside the folders of versions. */
export function packageManifests(files: readonly ListedFile[]): string[] {
  const csvs = files.filter(({ path }) => /clusterserviceversion\.ya?ml$/.test(path));
  const folders = files.flatMap(({ path }) => /^(.+)\/[^/]+\.package\.ya?ml$/.exec(path)?.[1] ?? []);
  return [...new Set(folders)].filter(
    (folder) => !isUnshipped(`${folder}/`) && csvs.some(({ path }) => path.startsWith(`${folder}/`)),
  );
}

/** The largest file of annotations that is read, in bytes. */
const FILE_BYTES = 64 * 1024;

/** The folders of bundles whose packages have the names that the bundles state. */
export async function bundleFolders(
  objects: ObjectReader,
  files: readonly ListedFile[],
): Promise<BundleFolders> {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const found = new Map<string, Map<string, ListedFile>>();
  const others = new Set<string>();
  for (const { path } of files) {
    const [, directory = ''] = MANIFEST.exec(path) ?? [];
    const annotations = byPath.get(`${directory}/metadata/annotations.yaml`);
    if (!annotations || isUnshipped(path)) continue;
    const [, folder = '', name = '', version = ''] = PLACE.exec(directory) ?? [];
    if (!isVersionFolder(version)) others.add(directory);
    else if (folder !== 'operators/')
      found.set(folder, (found.get(folder) ?? new Map()).set(name, annotations));
  }
  const patterns: string[] = [];
  const places = new Map<string, string>();
  for (const [folder, packages] of found) {
    const named = await Promise.all(
      [...packages].map(async ([name, file]) => (await packageIn(objects, file)) === name),
    );
    const names = [...packages.keys()];
    // At the top, any folder could be a package.
    const candidates =
      folder === ''
        ? names.map((name) => `{package:${name}}/{version}/**`)
        : [`${folder}{package}/{version}/**`];
    // `{package}` must be the package's name: other folders are found by their files alone.
    if (named.includes(false) || candidates.some((pattern) => patternDefect(pattern) !== undefined)) {
      for (const name of packages.keys()) others.add(`${folder}${name}/*`);
      continue;
    }
    patterns.push(...candidates);
    for (const [name, { path }] of packages) places.set(name, path);
  }
  return { patterns, places, others: [...others] };
}

/** The annotations in a file of metadata; none where it has no mapping of them, undefined where it is not read. */
async function annotationsIn(
  objects: ObjectReader,
  { id, path }: ListedFile,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  // What a partial clone lacks has no size, and counts as too large.
  if (((await objects.info(id))?.size ?? FILE_BYTES) >= FILE_BYTES) return undefined;
  const { settings } = readSettings(path, (await objects.read(id, FILE_BYTES)).bytes);
  return objectOf(objectOf(settings?.value)['annotations']);
}

/** The package that the annotations of a bundle name. */
async function packageIn(objects: ObjectReader, file: ListedFile): Promise<string | undefined> {
  const name = (await annotationsIn(objects, file))?.[PACKAGE];
  return typeof name === 'string' ? name : undefined;
}

// Names of the catalogs that a repository of bundle directories needs, worked out from the platforms of its bundles.

/** Annotations of the default layout's bundles: those of other folders do not decide how catalogs are called. */
const ANNOTATIONS = /^operators\/[^/]+\/[^/]+\/metadata\/annotations\.ya?ml$/;

/** Most bundles that are read. */
const MOST_BUNDLES = 300;
/** Most catalogs that are named, the latest: OpenShift supports fewer at a time. */
const MOST_NAMES = 12;

/** The catalog where no bundle names a platform. */
const ONLY = 'catalog';

/**
 * One catalog for each version of OpenShift from the lowest that bundles name to the newest one.
 *
 * @returns none where `operators/` has no bundles
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
  let isOpen = false;
  // Where there are too many to read, a sample spread over all: the step may be a fraction.
  const step = Math.max(1, bundles.length / MOST_BUNDLES);
  for (let i = 0; i < bundles.length; i += step) {
    const file = bundles[Math.floor(i)];
    const named = file ? await platformsOf(objects, file) : undefined;
    minors.push(...(named?.minors ?? []));
    isOpen ||= named?.isOpen === true;
  }
  minors.sort(compareMinors);
  const [low, high] = [minors[0], minors.at(-1)];
  if (!low || !high) return [ONLY];
  const newest = (isOpen && knownPlatforms().findLast(({ major }) => major === high.major)) || high;
  return namesBetween(low, compareMinors(newest, high) > 0 ? newest : high);
}

interface NamedPlatforms {
  readonly minors: readonly Minor[];
  /** Whether the bundle is for all later versions, too, as most are. */
  readonly isOpen: boolean;
}

/** Versions that a bundle's annotation names: `v4.12`, `=v4.12`, `v4.12-v4.14` or `v4.12,v4.13`; none that cannot be read. */
async function platformsOf(objects: ObjectReader, file: ListedFile): Promise<NamedPlatforms | undefined> {
  const annotations = await annotationsIn(objects, file);
  if (!annotations) return undefined;
  const text = annotations[OPENSHIFT_VERSIONS];
  if (typeof text !== 'string') return { minors: [], isOpen: true };
  const minors = text
    .replaceAll(/["'\s=]/g, '')
    .split(/[-,]/)
    .flatMap((one) => tryParseMinor(one) ?? []);
  return { minors, isOpen: !/[=-]/.test(text) };
}

/**
 * Names of catalogs, one for each minor version, of which the latest are kept. Between two major versions
 * nobody knows which ones there are: then only the highest is named.
 */
function namesBetween(low: Minor, high: Minor): string[] {
  if (low.major !== high.major) return [`v${formatMinor(high)}`];
  const from = Math.max(low.minor, high.minor - MOST_NAMES + 1);
  return Array.from({ length: high.minor - from + 1 }, (_, i) => `v${high.major}.${from + i}`);
}

/**
 * Manifests, and CRDs among them, from the bundle directories of the repository itself, for
 * catalogs that hold only the metadata of their bundles. They are read from git objects, before and after the change, each blob once.
 */
import { firstValue, readManifestFile } from '../../../catalog/bundle/manifest.ts';
import { type Crd, readCrd } from '../../../catalog/crd/crd.ts';
import { valueInterner } from '../../../catalog/crd/intern.ts';
import type { Bundle } from '../../../catalog/fbc/model.ts';
import type { CrdsOf, ManifestsOf } from '../../../catalog/olm/foresight/world.ts';
import {
  type ManifestPart,
  type Manifests,
  manifestPart,
  manifestsOf,
} from '../../../catalog/olm/manifests.ts';
import { LARGEST_DOCUMENT } from '../../../catalog/source.ts';
import { folderOfVersion, isCalledCsv, isCsvOf } from '../../catalogs/bundle/manifest-lookups.ts';
import { type BundleFolder, bundleFolders } from '../../change/unit.ts';
import { mentionsAny } from '../../file-pieces.ts';
import { bytesWithin, type ObjectReader, type TreeEntry } from '../../git/objects.ts';
import { whyUnreadable } from '../../git/source.ts';
import { isTree } from '../../git/tree.ts';
import type { Policy } from '../../policy/policy.ts';
import type { CheckReport } from '../report.ts';
import type { CheckScene } from './scene.ts';
import type { CatalogState, TouchedCatalog } from './touched-catalog.ts';

/** What looks bundles up in one state. */
interface Lookups {
  readonly crds: CrdsOf;
  readonly manifests: ManifestsOf;
}

/** What looks bundles up in each state. */
export interface Sides {
  readonly before: Lookups;
  readonly after: Lookups;
}

export interface OwnManifests {
  readonly sides: Sides;
  /** What was too much to read. */
  readonly unchecked: CheckReport['unchecked'];
}

/** Files and bytes of manifests that one check reads at most: what is beyond is said not to be checked. */
const MOST_FILES = 20_000;
const MEBIBYTE = 1024 * 1024;
const MOST_BYTES = 256 * MEBIBYTE;
/** Bytes of manifests that are kept until somebody asks what is in them; more are read at once. */
const MOST_KEPT = 64 * MEBIBYTE;
/** Files that are asked for at once. */
const TOGETHER = 8;

/**
 * CRDs of the bundles of touched catalogs whose manifests lie where the layout has bundles.
 *
 * @param gone bundles that their catalogs no longer have
 * @throws PipelineError `not-found`, `unreachable` when objects cannot be brought
 */
export async function ownManifests(
  { objects, policy, trees }: Pick<CheckScene, 'objects' | 'policy' | 'trees'>,
  touched: readonly TouchedCatalog[],
  gone: readonly Bundle[] = [],
): Promise<OwnManifests> {
  const reading = newReading(objects, policy);
  const earlier = bundlesOf([...bundlesIn(touched.map(({ before: state }) => state)), ...gone]);
  const later = bundlesOf(bundlesIn(touched.map(({ after: state }) => state)));
  // Bundles of a package that no catalog had may have had directories all the same.
  const newcomers = [...later].filter(([name]) => !earlier.has(name));
  const before = await sideOf(reading, trees.base, new Map([...earlier, ...newcomers]));
  const after = await sideOf(reading, trees.merged, later);
  return { sides: { before, after }, unchecked: [...reading.left].sort().map(tooMuch) };
}

function tooMuch(name: string): CheckReport['unchecked'][number] {
  return {
    what: `whether clusters can install the bundles of package ${JSON.stringify(name)}, and custom resources survive its upgrades`,
    why: `its bundle directories have a file larger than ${LARGEST_DOCUMENT / MEBIBYTE} MiB or limits.fileBytes, or more than ${MOST_FILES} files or ${MOST_BYTES / MEBIBYTE} MiB`,
  };
}

/** The manifests that one check reads, of either side, and how much of its limits they take. */
interface ManifestReading {
  readonly objects: ObjectReader;
  readonly policy: Policy;
  readonly byBlob: Map<string, ReadManifest>;
  /** Makes equal parts of CRDs one. */
  readonly intern: <T>(value: T) => T;
  /** Packages that were left out. */
  readonly left: Set<string>;
  files: number;
  bytes: number;
  /** Bytes that are kept. */
  kept: number;
}

/** A manifest that was read. What is not a CRD is only parsed when somebody asks for its part. */
interface ReadManifest {
  readonly crds: readonly Crd[];
  readonly part: () => ManifestPart;
}

/** Begins the reading of manifests: nothing is read yet. */
function newReading(objects: ObjectReader, policy: Policy): ManifestReading {
  return {
    objects,
    policy,
    byBlob: new Map(),
    intern: valueInterner(),
    left: new Set(),
    files: 0,
    bytes: 0,
    kept: 0,
  };
}

function bundlesIn(states: readonly (CatalogState | undefined)[]): Bundle[] {
  return states.flatMap((state) => state?.blobs.bundles ?? []);
}

/** Bundles whose manifests the catalog does not hold. */
function bundlesOf(bundles: readonly Bundle[]): ReadonlyMap<string, Bundle[]> {
  const wanted = new Map<string, Map<string, Bundle>>();
  for (const bundle of bundles) {
    if (bundle.properties.some(({ type }) => type === 'olm.bundle.object')) continue;
    const ofPackage = wanted.get(bundle.package) ?? new Map<string, Bundle>();
    wanted.set(bundle.package, ofPackage.set(bundle.name, bundle));
  }
  return new Map([...wanted].map(([name, bundles]) => [name, [...bundles.values()]]));
}

interface BundleFiles {
  readonly bundle: Bundle;
  readonly files: readonly TreeEntry[];
}

/** Look-ups of the manifests of bundles in one tree. A bundle is known only if all of its files were read. */
async function sideOf(
  reading: ManifestReading,
  tree: string,
  wanted: ReadonlyMap<string, readonly Bundle[]>,
): Promise<Lookups> {
  const { objects, policy } = reading;
  const found = new Map<string, readonly ReadManifest[]>();
  const packages = new Set(wanted.keys());
  const folders =
    packages.size === 0 ? [] : await bundleFolders(objects, tree, { layout: policy.layout, packages });
  for (const [name, bundles] of wanted) {
    const own = folders.filter((folder) => folder.package === name);
    const manifests = await filesOfBundles(reading, own, bundles);
    await readAll(reading, name, manifests);
    for (const { bundle, files } of manifests) {
      const read = files.map(({ id }) => reading.byBlob.get(id));
      if (read.every((one) => one !== undefined)) found.set(keyOf(bundle), read);
    }
  }
  // Put together when a rule first asks for them: for most bundles none does.
  const known = new Map<string, Manifests>();
  return {
    crds: (bundle) => found.get(keyOf(bundle))?.flatMap(({ crds }) => crds),
    manifests: (bundle) => {
      const read = found.get(keyOf(bundle));
      const manifests = known.get(keyOf(bundle)) ?? (read && manifestsOf(read.map(({ part }) => part())));
      if (manifests) known.set(keyOf(bundle), manifests);
      return manifests;
    },
  };
}

function keyOf({ package: name, name: bundle }: Bundle): string {
  return `${name}\n${bundle}`;
}

/** The manifests of those bundles that have a folder, by its name or by its ClusterServiceVersion. */
async function filesOfBundles(
  reading: ManifestReading,
  folders: readonly BundleFolder[],
  bundles: readonly Bundle[],
): Promise<BundleFiles[]> {
  const listed = await Promise.all(folders.map(({ id }) => filesIn(reading.objects, id)));
  const byVersion = new Map(folders.map(({ version }, i) => [version, listed[i]]));
  const versions = [...byVersion.keys()];
  const manifests: BundleFiles[] = [];
  const others: Bundle[] = [];
  for (const bundle of bundles) {
    const folder = folderOfVersion(versions, bundle);
    const files = folder === undefined ? undefined : byVersion.get(folder);
    if (folder === undefined) others.push(bundle);
    else if (files) manifests.push({ bundle, files });
  }
  const plain = listed.flatMap((files) => (files ? [files] : []));
  return others.length === 0 ? manifests : [...manifests, ...(await manifestsByCsv(reading, plain, others))];
}

/** Plain files of a bundle's `manifests`; undefined where it has none. */
async function filesIn(objects: ObjectReader, folder: string): Promise<readonly TreeEntry[] | undefined> {
  const manifests = (await objects.tree(folder)).find(({ name }) => name === 'manifests');
  if (!manifests || !isTree(manifests.mode)) return undefined;
  return (await objects.tree(manifests.id)).filter(({ mode }) => whyUnreadable(mode) === undefined);
}

/** Folders whose ClusterServiceVersion has a bundle's name; each file is looked at once. */
async function manifestsByCsv(
  reading: ManifestReading,
  listed: readonly (readonly TreeEntry[])[],
  bundles: readonly Bundle[],
): Promise<BundleFiles[]> {
  const left = new Set(bundles);
  const manifests: BundleFiles[] = [];
  const called = listed.map((files) => files.filter(({ name }) => isCalledCsv(name)));
  await reading.objects.prefetch(called.flat().map(({ id }) => id));
  let isUnread = false;
  for (const [i, files] of listed.entries()) {
    for (const { id } of called[i] ?? []) {
      const bytes = await bytesOf(reading, id);
      isUnread ||= !bytes;
      for (const bundle of left) {
        if (!bytes || !isCsvOf(bytes, bundle)) continue;
        left.delete(bundle);
        manifests.push({ bundle, files });
      }
      if (left.size === 0) return manifests;
    }
  }
  // A file that was not read may be the ClusterServiceVersion of any of those left.
  if (isUnread) for (const { package: name } of left) reading.left.add(name);
  return manifests;
}

/** Reads the manifests of a package's bundles; a package with too many is noted as left out. */
async function readAll(
  reading: ManifestReading,
  name: string,
  manifests: readonly BundleFiles[],
): Promise<void> {
  const names = new Map(manifests.flatMap(({ files }) => files.map((file) => [file.id, file.name])));
  const ids = [...names.keys()].filter((id) => !reading.byBlob.has(id));
  if (reading.files + ids.length > MOST_FILES) {
    reading.left.add(name);
    return;
  }
  reading.files += ids.length;
  await reading.objects.prefetch(ids);
  for (let i = 0; i < ids.length; i += TOGETHER) {
    const batch = ids.slice(i, i + TOGETHER);
    const contents = await Promise.all(batch.map((id) => bytesOf(reading, id)));
    for (const [at, id] of batch.entries()) {
      const bytes = contents[at];
      if (bytes) reading.byBlob.set(id, readManifest(reading, names.get(id) ?? '', bytes));
      else reading.left.add(name);
    }
  }
}

/** Reads a file of a bundle: at once if it may be a CRD, else when somebody asks for it. */
function readManifest(reading: ManifestReading, name: string, bytes: Buffer): ReadManifest {
  const value = (): unknown => firstValue(readManifestFile(name, bytes))?.value;
  if (mentionsAny(bytes, ['CustomResourceDefinition']) || reading.kept + bytes.length > MOST_KEPT) {
    const read = value();
    const crd = readCrd(read);
    const part = manifestPart(read);
    return { crds: crd ? [reading.intern(crd)] : [], part: () => part };
  }
  // Most are asked for by nobody: what is in them is found out when they are.
  reading.kept += bytes.length;
  let part: ManifestPart | undefined;
  return { crds: [], part: () => (part ??= manifestPart(value())) };
}

/** A blob's bytes; undefined where they are more than is read. */
async function bytesOf(reading: ManifestReading, id: string): Promise<Buffer | undefined> {
  const { objects, policy } = reading;
  const most = Math.min(policy.limits.fileBytes, LARGEST_DOCUMENT, MOST_BYTES - reading.bytes);
  const bytes = await bytesWithin(objects, id, most);
  reading.bytes += bytes?.length ?? 0;
  return bytes;
}

/**
 * What bundles do to installed versions where no catalog of the repository has them: the directory of a bundle is in the
 * source of its operator, and changes in place, or has those of earlier versions beside it.
 */
import { type BundleFiles, readBundleFiles } from '../../../catalog/bundle/read.ts';
import { bundleOf } from '../../../catalog/bundle/registry-bundle.ts';
import { renderBundle } from '../../../catalog/bundle/render.ts';
import { compareReleases } from '../../../catalog/edit/by-replaces.ts';
import { EditError } from '../../../catalog/edit/package.ts';
import { type PlacedBundle, placedBundle } from '../../../catalog/edit/package-graph.ts';
import { packageOf } from '../../../catalog/edit/update.ts';
import { inFile } from '../../../catalog/fbc/document.ts';
import { type Catalog, catalogOf } from '../../../catalog/fbc/model.ts';
import type { Finding } from '../../../catalog/finding.ts';
import { changeOf } from '../../../catalog/olm/foresight/world.ts';
import { plainBundle } from '../../../catalog/opm/template/template.ts';
import { satisfies } from '../../../catalog/version/satisfies.ts';
import {
  compareVersions,
  formatVersion,
  tryParseRange,
  tryParseVersion,
} from '../../../catalog/version/version.ts';
import type { BundleFolder } from '../../catalogs/bundle/check-bundle.ts';
import { isWithin } from '../../change/catalogs.ts';
import { treeSource } from '../../git/source.ts';
import { entryAt, isTree, joinPath } from '../../git/tree.ts';
import { inChannel, severitiesOf } from '../../policy/severity.ts';
import type { CheckScene } from '../world/scene.ts';
import type { Sided } from '../world/touched-catalog.ts';
import { type CatalogResult, foreseenIn } from './catalog-rules.ts';

/** What is known of a bundle's place. */
interface Known {
  /** Finds a bundle as it was released; undefined if nothing says that it was. */
  readonly releasedAs: (bundle: PlacedBundle) => Promise<PlacedBundle | undefined>;
  /** Whether catalogs say what the bundle replaces, whatever it says itself. */
  readonly isPlacedByCatalogs: boolean;
}

/**
 * Compares a bundle with what was there before: the version that it takes the place of, or the nearest one beside it. One
 * that was released and changes under its version is compared with what clusters have of it.
 */
export async function checkUpgrade(
  scene: CheckScene,
  folder: BundleFolder,
  { before: inPlace, after }: Sided<PlacedBundle | undefined>,
  { releasedAs, isPlacedByCatalogs }: Known,
): Promise<CatalogResult[]> {
  if (!after) return [];
  if (inPlace && isSameRelease(inPlace, after)) {
    const released = await releasedAs(inPlace);
    if (!released) return [];
    const causes = async (one: PlacedBundle, other: PlacedBundle): Promise<ReadonlySet<string>> =>
      new Set(((await changeIn(scene, folder, one, other))?.findings ?? []).map(causeOf));
    // What is only on the branch may go again, and what is said of the bundle as it was is known.
    const [all, known] = [await causes(released, after), await causes(inPlace, inPlace)];
    const isNews = (finding: Finding): boolean => all.has(causeOf(finding)) && !known.has(causeOf(finding));
    const own = await changeIn(scene, folder, inPlace, after);
    return own ? [{ ...own, findings: own.findings.filter(isNews) }] : [];
  }
  const below = isBelow(inPlace, after)
    ? inPlace
    : inPlace
      ? undefined
      : await besideIt(scene, folder, after);
  if (!below) return [];
  const above = isPlacedByCatalogs
    ? { ...after, ...NO_EDGES, replaces: below.blob.name }
    : placedAbove(below, after);
  const found = await upgradeIn(scene, folder, below, above);
  return found ? [found] : [];
}

/** Whether two bundles have one name and one version. */
export function isSameRelease(one: PlacedBundle, other: PlacedBundle): boolean {
  const { blob, version } = one;
  return (
    blob.package === other.blob.package &&
    blob.name === other.blob.name &&
    compareVersions(version, other.version) === 0
  );
}

function causeOf({ rule, subject, location }: Finding): string {
  return JSON.stringify([rule, subject, location.file]);
}

/**
 * What a bundle that changes under its version does to those who have it. It is compared as if it were the next version;
 * messages have its real one.
 */
async function changeIn(
  scene: CheckScene,
  folder: BundleFolder,
  released: PlacedBundle,
  changed: PlacedBundle,
): Promise<CatalogResult | undefined> {
  const { blob, version } = released;
  const { patch } = version;
  const next = {
    ...version,
    patch: typeof patch === 'bigint' ? patch + 1n : patch + 1,
    prerelease: [],
    build: ['changed'],
  };
  const name = `${blob.name}-released`;
  const below = { ...released, blob: { ...blob, name } };
  const above = {
    ...changed,
    ...NO_EDGES,
    replaces: name,
    version: next,
    blob: { ...changed.blob, version: next },
  };
  const found = await upgradeIn(scene, folder, below, above);
  const named = (text: string): string =>
    text.replaceAll(name, `${blob.name} (released)`).replaceAll(formatVersion(next), formatVersion(version));
  return (
    found && { ...found, findings: found.findings.map((one) => ({ ...one, message: named(one.message) })) }
  );
}

/** What the next bundle does to those who have the one below. */
async function upgradeIn(
  scene: CheckScene,
  folder: BundleFolder,
  below: PlacedBundle,
  above: PlacedBundle,
): Promise<CatalogResult | undefined> {
  const published = { ...below, ...NO_EDGES };
  const was = catalogWith([published]);
  const is = catalogWith([published, above]);
  if (!was || !is) return undefined;
  const { policy } = scene;
  const options = { name: folder.path, isWhole: false, olm: policy.graph.olm };
  const change = await changeOf({ ...options, catalog: was }, { ...options, catalog: is });
  const severityOf = severitiesOf(policy);
  const result = foreseenIn(change, { severityOf, before: true, after: true });
  const place = above.blob.document.locate([]);
  const placed = (finding: Finding): Finding => ({
    ...inChannel(policy, finding),
    ...(isWithin(finding.location.file, folder.path) ? {} : { location: place }),
  });
  return { ...result, findings: result.findings.map(placed), known: result.known.map(placed), diffs: [] };
}

/** The files of the bundle in a folder; undefined where there is none. */
export async function bundleFilesAt(
  { objects }: Pick<CheckScene, 'objects'>,
  tree: string,
  path: string,
): Promise<BundleFiles | undefined> {
  const entry = await entryAt(objects, tree, path);
  if (!entry || !isTree(entry.mode)) return undefined;
  const inside = await objects.tree(entry.id);
  if (!inside.some(({ name }) => name === 'manifests' || name === 'metadata')) return undefined;
  return readBundleFiles(treeSource(objects, entry.id));
}

/** The bundle that a folder's files are; undefined for one that opm could not read. */
export function placedAt(files: BundleFiles | undefined, path: string): PlacedBundle | undefined {
  if (!files || files.manifests.length === 0 || files.metadata.length === 0) return undefined;
  const { bundle } = bundleOf(files);
  if (!bundle) return undefined;
  const { blob } = renderBundle(bundle);
  if (!blob?.version) return undefined;
  return placedBundle(bundle, {
    ...blob,
    document: inFile(blob.document, joinPath(path, blob.document.file)),
  });
}

/** Whether a bundle is one that clusters upgrade from. Nobody has a version that a branch only says between two releases. */
function isBelow(one: PlacedBundle | undefined, { blob, version }: PlacedBundle): one is PlacedBundle {
  return (
    one?.blob.package === blob.package &&
    one.version.prerelease.length === 0 &&
    compareVersions(one.version, version) < 0
  );
}

/** The next lower version in a folder beside that of a bundle; those whose names are versions are looked into first. */
async function besideIt(
  scene: CheckScene,
  { path }: BundleFolder,
  bundle: PlacedBundle,
): Promise<PlacedBundle | undefined> {
  const { objects, trees } = scene;
  const parent = path.split('/').slice(0, -1).join('/');
  const entry = parent === '' ? { id: trees.base } : await entryAt(objects, trees.base, parent);
  const folders = entry ? (await objects.tree(entry.id)).filter(({ mode }) => isTree(mode)) : [];
  const placed = folders.map(({ name }) => ({ name, version: tryParseVersion(name.replace(/^v/, '')) }));
  placed.sort((a, b) => compareReleases(b.version, a.version));
  let found: PlacedBundle | undefined;
  for (const { name, version } of placed) {
    if (version && compareVersions(version, bundle.version) >= 0) continue;
    const beside = joinPath(parent, name);
    const one = placedAt(await bundleFilesAt(scene, trees.base, beside), beside);
    if (isBelow(one, bundle) && (!found || compareVersions(one.version, found.version) > 0)) found = one;
    if (found && version) return found;
  }
  return found;
}

/** A bundle that is an upgrade of the one below it, if it names that one, or no version at all. */
function placedAbove(below: PlacedBundle, bundle: PlacedBundle): PlacedBundle {
  const { replaces, skips, skipRange } = bundle;
  const { name } = below.blob;
  const range = tryParseRange(skipRange);
  const reaches =
    replaces === name || skips.includes(name) || (range !== undefined && satisfies(below.version, range));
  const isSilent = replaces === '' && skips.length === 0 && skipRange === '';
  return { ...bundle, ...NO_EDGES, replaces: reaches || isSilent ? name : '' };
}

/** Versions that are not in the repository are unknown: edges to them say nothing. */
const NO_EDGES = { replaces: '', skips: [], skipRange: '' };

/** Undefined for what opm makes no catalog of, such as two bundles with one version. */
function catalogWith(bundles: readonly PlacedBundle[]): Catalog | undefined {
  try {
    const { blobs } = packageOf(bundles, 'replaces');
    return catalogOf({ ...blobs, bundles: blobs.bundles.map(plainBundle) });
  } catch (error) {
    if (error instanceof EditError) return undefined;
    throw error;
  }
}

/**
 * Bundle directories that no catalog of the repository has, although one has their package: nobody can install them.
 * A package without any catalog is left to the pipeline that makes catalogs from directories.
 */
import type { Bundle } from '../../../catalog/fbc/model.ts';
import type { Finding } from '../../../catalog/finding.ts';
import { quoted } from '../../../catalog/names.ts';
import { rule } from '../../../catalog/rules/bundle/dangling.ts';
import { folderOfVersion, isCalledCsv } from '../../catalogs/bundle/manifest-lookups.ts';
import { filesOf } from '../../change/catalog-files.ts';
import { fileReader } from '../../change/content.ts';
import { type BundleFolder, bundleFolders, catalogUnits } from '../../change/unit.ts';
import { whyUnreadable } from '../../git/source.ts';
import { entryAt, isTree } from '../../git/tree.ts';
import { severitiesOf } from '../../policy/severity.ts';
import type { CheckReport } from '../report.ts';
import { ContextReader, type KeptOutlines } from '../world/context.ts';
import type { CheckScene } from '../world/scene.ts';
import type { CatalogResult } from './catalog-rules.ts';

interface DanglingBundles {
  readonly results: readonly CatalogResult[];
  readonly unchecked: CheckReport['unchecked'];
}

/** Findings about bundle directories that no catalog lists; those that the base branch has already are `known`. */
export async function danglingBundles(scene: CheckScene, kept?: KeptOutlines): Promise<DanglingBundles> {
  const severity = severitiesOf(scene.policy)(rule);
  const packages = new Set([
    ...scene.change.packages.keys(),
    ...[...scene.change.contents.values()].flatMap((names) => [...names]),
  ]);
  if (severity === 'off' || packages.size === 0) return { results: [], unchecked: [] };
  const after = await danglingIn(scene, { tree: scene.trees.merged, packages, kept });
  if (after.folders.length === 0) return { results: [], unchecked: after.unchecked };
  const before = await danglingIn(scene, { tree: scene.trees.base, packages, kept });
  const old = new Set(before.folders.map(({ path }) => path));
  const findings = after.folders.map((folder) => findingOf(folder, severity));
  return {
    results: [
      {
        findings: findings.filter((_, i) => !old.has(after.folders[i]?.path ?? '')),
        known: findings.filter((_, i) => old.has(after.folders[i]?.path ?? '')),
        diffs: [],
      },
    ],
    unchecked: after.unchecked,
  };
}

/** The finding about a bundle directory that no catalog lists. */
function findingOf({ path, package: name, version }: BundleFolder, severity: Finding['severity']): Finding {
  return {
    rule: rule.id,
    severity,
    message: `bundle directory ${version} of package ${quoted(name)} is in no catalog of this repository: clusters cannot install it`,
    location: { file: `${path}/metadata/annotations.yaml`, line: 1, column: 1 },
    package: name,
    hint: `add the bundle to a channel, or remove ${path}`,
  };
}

interface Side {
  readonly tree: string;
  readonly packages: ReadonlySet<string>;
  readonly kept: KeptOutlines | undefined;
}

/** The folders of bundles that no catalog lists, in one tree. */
async function danglingIn(
  scene: CheckScene,
  side: Side,
): Promise<{ readonly folders: readonly BundleFolder[]; readonly unchecked: CheckReport['unchecked'] }> {
  const { objects, policy } = scene;
  const { tree, packages } = side;
  const all = await bundleFolders(objects, tree, { layout: policy.layout, packages });
  if (all.length === 0) return { folders: [], unchecked: [] };
  const { bundles, unread } = await listedBundles(scene, side, new Set(all.map((folder) => folder.package)));
  const folders: BundleFolder[] = [];
  for (const [name, listed] of bundles) {
    const own = all.filter((folder) => folder.package === name);
    folders.push(...(await withoutBundle(scene, own, listed)));
  }
  if (unread.size === 0) return { folders, unchecked: [] };
  // A file that was not read may list the bundle, so nothing is reported.
  const what = `whether a catalog has each bundle directory of ${[...packages].sort().join(', ')}`;
  const why = `some files of ${[...unread].sort().join(', ')} cannot be read or are too large`;
  return { folders: [], unchecked: [{ what, why }] };
}

/** Bundles of packages in all catalogs that people write; packages that are in no catalog, or are composed, are left out. */
export async function listedBundles(
  { objects, policy }: Pick<CheckScene, 'objects' | 'policy'>,
  { tree, kept }: Pick<Side, 'tree' | 'kept'>,
  packages: ReadonlySet<string>,
): Promise<{
  readonly bundles: ReadonlyMap<string, readonly Bundle[]>;
  readonly unread: ReadonlySet<string>;
}> {
  const units = await catalogUnits(objects, tree, policy.layout);
  const filesOfCatalog = filesOf(objects, { tree, units });
  const reader = new ContextReader(objects, fileReader(objects, policy.limits), {
    limits: policy.limits,
    kept,
  });
  const catalogs = new Set([...units.values()].map(({ catalog }) => catalog));
  const files = (await Promise.all([...catalogs].map(filesOfCatalog)))
    .flat()
    .filter(({ unit }) => unit.package === undefined || packages.has(unit.package));
  const composedNames = new Set(files.flatMap(({ unit }) => (unit.composed ? (unit.package ?? []) : [])));
  const written = files.filter(({ composed: isComposed }) => !isComposed);
  await reader.read(written);
  const bundles = new Map<string, Bundle[]>();
  for (const file of written) {
    for (const { name, bundles: own } of reader.outline(file)?.catalog.packages.values() ?? []) {
      if (packages.has(name) && !composedNames.has(name))
        bundles.set(name, [...(bundles.get(name) ?? []), ...own.values()]);
    }
  }
  return { bundles, unread: new Set([...reader.left, ...reader.unreadable]) };
}

/**
 * Folders that stand for none of these bundles, neither by the version in their name nor by their ClusterServiceVersion.
 * Only where some bundle has no folder of its version, ClusterServiceVersions are looked into.
 */
async function withoutBundle(
  scene: CheckScene,
  folders: readonly BundleFolder[],
  bundles: readonly Bundle[],
): Promise<BundleFolder[]> {
  const versions = folders.map(({ version }) => version);
  const found = bundles.map((bundle) => folderOfVersion(versions, bundle));
  const taken = new Set(found);
  const others = bundles.filter((_, i) => found[i] === undefined);
  const unlisted: BundleFolder[] = [];
  for (const folder of folders) {
    if (taken.has(folder.version)) continue;
    if (others.length > 0 && (await hasCsvOf(scene, folder, others))) continue;
    if (await isBundle(scene, folder)) unlisted.push(folder);
  }
  return unlisted;
}

/** Whether a folder has manifests: one without them has nothing to install. */
async function isBundle({ objects }: CheckScene, { id }: BundleFolder): Promise<boolean> {
  return (await objects.tree(id)).some(({ name, mode }) => name === 'manifests' && isTree(mode));
}

/** Every name in a manifest, in block and flow style. */
const CSV_NAME = /(?<![\w.-])["']?name["']?\s*:\s*["']?([\w.+-]+)/g;

/** Whether a bundle's folder has the ClusterServiceVersion of one of these bundles. It is searched for, not parsed. */
async function hasCsvOf(
  { objects, policy }: CheckScene,
  { id }: BundleFolder,
  bundles: readonly Bundle[],
): Promise<boolean> {
  const manifests = await entryAt(objects, id, 'manifests');
  if (!manifests || !isTree(manifests.mode)) return false;
  const files = (await objects.tree(manifests.id)).filter(
    ({ name, mode }) => isCalledCsv(name) && whyUnreadable(mode) === undefined,
  );
  for (const file of files) {
    if (((await objects.info(file.id))?.size ?? 0) > policy.limits.fileBytes) continue;
    const { bytes } = await objects.read(file.id, policy.limits.fileBytes);
    const names = new Set([...bytes.toString('utf8').matchAll(CSV_NAME)].map(([, name]) => name));
    if (bundles.some(({ name }) => names.has(name))) return true;
  }
  return false;
}

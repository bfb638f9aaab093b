/** Bundles in the directories of a tree, and those beside them. */
import { type BundleFiles, readBundleFiles } from '../../../catalog/bundle/read.ts';
import { bundleOf } from '../../../catalog/bundle/registry-bundle.ts';
import { renderBundle } from '../../../catalog/bundle/render.ts';
import { compareReleases } from '../../../catalog/edit/by-replaces.ts';
import { type PlacedBundle, placedBundle } from '../../../catalog/edit/package-graph.ts';
import { inFile } from '../../../catalog/fbc/document.ts';
import { compareVersions, tryParseVersion, type Version } from '../../../catalog/version/version.ts';
import type { BundleFolder } from '../../catalogs/bundle/check-bundle.ts';
import { treeSource } from '../../git/source.ts';
import { entryAt, isTree, joinPath } from '../../git/tree.ts';
import type { CheckScene } from '../world/scene.ts';

/** The files of the bundle in a folder, also of half of one, for which there are findings; undefined where there is none. */
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

/**
 * Whether a bundle is a lower version of the same package that clusters upgrade from. A prerelease is none: a branch has such
 * versions between two releases, and nobody installs them.
 */
export function isBelow(one: PlacedBundle | undefined, { blob, version }: PlacedBundle): one is PlacedBundle {
  return (
    one?.blob.package === blob.package &&
    one.version.prerelease.length === 0 &&
    compareVersions(one.version, version) < 0
  );
}

/** Folders beside one, the highest version first; those that are not called by versions come last. */
async function foldersBeside(
  { objects, trees }: CheckScene,
  path: string,
): Promise<[parent: string, folders: { readonly name: string; readonly version: Version | undefined }[]]> {
  const parent = path.split('/').slice(0, -1).join('/');
  const entry = parent === '' ? { id: trees.base } : await entryAt(objects, trees.base, parent);
  const folders = entry ? (await objects.tree(entry.id)).filter(({ mode }) => isTree(mode)) : [];
  const placed = folders.map(({ name }) => ({ name, version: tryParseVersion(name.replace(/^v/, '')) }));
  return [parent, placed.sort((a, b) => compareReleases(b.version, a.version))];
}

/**
 * Whether the base branch has a later version of the same package beside a folder that is called by its
 * version. If so, the version counts as released.
 */
export async function hasLater(
  scene: CheckScene,
  { path }: BundleFolder,
  bundle: PlacedBundle,
): Promise<boolean> {
  const [parent, [latest, ...others]] = await foldersBeside(scene, path);
  // In a folder such as `bundle/`, the version in place is overwritten by the next one.
  const isCalledByVersion = [latest, ...others].some(
    (one) => one?.version && joinPath(parent, one.name) === path,
  );
  if (!isCalledByVersion || !latest?.version || compareVersions(latest.version, bundle.version) <= 0)
    return false;
  const beside = joinPath(parent, latest.name);
  const one = placedAt(await bundleFilesAt(scene, scene.trees.base, beside), beside);
  return one !== undefined && isBelow(bundle, one);
}

/** The next lower version in a folder beside that of a bundle; those whose names are versions are looked into first. */
export async function nextLowerBeside(
  scene: CheckScene,
  { path }: BundleFolder,
  bundle: PlacedBundle,
): Promise<PlacedBundle | undefined> {
  const { trees } = scene;
  const [parent, placed] = await foldersBeside(scene, path);
  let found: PlacedBundle | undefined;
  for (const { name, version } of placed) {
    if (version && compareVersions(version, bundle.version) >= 0) continue;
    const beside = joinPath(parent, name);
    const one = placedAt(await bundleFilesAt(scene, trees.base, beside), beside);
    if (isBelow(one, bundle) && (!found || compareVersions(one.version, found.version) > 0)) found = one;
    // Folders with a version in their names come first, the highest of them first.
    if (found && version) return found;
  }
  return found;
}

/**
 * Files that checking a change will read, so that a repository of which little is here
 * brings them in one request. Whatever is left out is fetched when it is read.
 */

import { groupedBy } from '../../catalog/go/grouped.ts';
import type { ObjectReader, TreeEntry } from '../git/objects.ts';
import {
  diffTrees,
  entryAt,
  isTree,
  type ListedFile,
  listFiles,
  type PathChange,
  SUBMODULE_MODE,
} from '../git/tree.ts';
import { CODE_OWNERS_FILES } from '../policy/owners/code-owners.ts';
import type { Policy } from '../policy/policy.ts';
import { POLICY_PATH } from '../policy/read-policy.ts';
import type { ChangedPath, Trees } from './classification-input.ts';
import type { Area } from './path.ts';
import { type CatalogUnit, catalogUnits } from './unit.ts';

/** Places of which the old files are read too. */
const COMPARED: ReadonlySet<Area> = new Set(['catalog', 'template', 'composite', 'packageConfig', 'owners']);

/** Fetches what is needed to say what a change is; nothing if the repository is all here. */
export async function bringNeeded(
  objects: ObjectReader,
  { trees, policy, paths }: { trees: Trees; policy: Policy; paths: readonly ChangedPath[] },
): Promise<void> {
  if (!objects.isRemote) return;
  const ids = paths.flatMap(({ area, before, after }) => {
    const sides = COMPARED.has(area) ? [before, after] : area === 'bundle' ? [after] : [];
    return sides.flatMap((file) => (file && file.mode !== SUBMODULE_MODE ? [file.id] : []));
  });
  const names = new Set(paths.flatMap(({ package: name }) => name ?? []));
  for (const tree of [trees.base, trees.merged]) {
    for (const name of names) ids.push(...(await ownersFiles(objects, tree, { name, policy })));
  }
  ids.push(...(await unitFiles(objects, trees, policy)));
  await objects.prefetch(ids);
}

/** Changed files that are looked at ahead of the policy, which may let fewer be read. */
const MOST_CHANGES = 3000;

/** Files in which catalogs, templates, settings and owners are written, whatever the layout. */
const LIKELY = /\.(?:ya?ml|json)$|(?:^|\/)(?:OWNERS|OWNERS_ALIASES|\.indexignore)$/;

/** What differs between two commits, as far as it is looked at ahead of the policy. */
export async function likelyChanges(
  objects: ObjectReader,
  sides: { readonly before: string; readonly after: string },
): Promise<readonly PathChange[]> {
  return (await diffTrees(objects, sides, MOST_CHANGES)).changes;
}

/** Folders (`catalogs/v4.20/etcd`), or files that hold a whole catalog, whose past will most likely be asked for. */
function likelyFolders(changes: readonly PathChange[]): string[] {
  const places = changes.flatMap(({ path }) => {
    const names = path.split('/');
    if (!/^(?:catalogs?|configs)$/.test(names[0] ?? '') || !LIKELY.test(path)) return [];
    return names.length > 3 ? [names.slice(0, 3).join('/')] : [path];
  });
  return [...new Set(places)];
}

/**
 * Places whose history the rules will most likely read: those that a change touches, and for a package's folder
 * (`catalogs/v4.19/etcd`) the same folder in every other catalog of the repository (`catalogs/v4.20/etcd`).
 */
export async function likelyPastFolders(
  objects: ObjectReader,
  base: string,
  changes: readonly PathChange[],
): Promise<string[]> {
  const touched = likelyFolders(changes);
  const inPackages = touched.flatMap((path) => {
    const [top = '', , ...rest] = path.split('/');
    return rest.length > 0 ? [{ top, inCatalog: rest.join('/') }] : [];
  });
  const others = [...groupedBy(inPackages, ({ top }) => top)].map(async ([top, places]) => {
    const folder = await entryAt(objects, base, top);
    const catalogs = folder && isTree(folder.mode) ? await objects.tree(folder.id) : [];
    return places.flatMap(({ inCatalog }) => catalogs.map(({ name }) => `${top}/${name}/${inCatalog}`));
  });
  return [...new Set([...touched, ...(await Promise.all(others)).flat()])];
}

/**
 * Fetches the policy and, in the same request, what will most likely be asked for next: the files that differ,
 * those beside them, and the owners of the packages that their paths name.
 *
 * @param base id of the commit whose policy and owners count
 */
export async function bringLikely(
  objects: ObjectReader,
  base: string,
  changes: readonly PathChange[],
): Promise<void> {
  const likely = changes.filter(({ path }) => LIKELY.test(path));
  const names = new Set(likely.flatMap(({ path }) => path.split('/')));
  const folders = new Set(likely.map(({ path }) => path.split('/').slice(0, -1).join('/')));
  const settings = [
    POLICY_PATH,
    ALIASES,
    ...CODE_OWNERS_FILES,
    ...[...names].map((name) => `operators/${name}/ci.yaml`),
  ];
  const found = await Promise.all([
    ...settings.map((path) => entryAt(objects, base, path)),
    ...[...folders].map((path) => entryAt(objects, base, path)),
    ...[...names].map((name) => entryAt(objects, base, `operators/${name}/catalog-templates`)),
  ]);
  const beside = await Promise.all(
    found.map((entry) => (entry && isTree(entry.mode) ? objects.tree(entry.id) : [])),
  );
  const files = [
    ...found,
    ...likely.flatMap(({ before, after }) => [before, after]),
    ...beside.flatMap(likelyBeside),
    ...(await otherPackages(objects, base, changes)),
  ];
  // Regular files have modes that begin with 100: of links, submodules and folders nothing is read.
  await objects.prefetch(files.flatMap((file) => (file && /^100/.test(file.mode) ? [file.id] : [])));
}

/**
 * The files of all other packages in the catalogs that most likely change, because checks need whole catalogs; none if they
 * are many: the check asks for those within its limits.
 */
async function otherPackages(
  objects: ObjectReader,
  base: string,
  changes: readonly PathChange[],
): Promise<readonly ListedFile[]> {
  const folders = likelyFolders(changes).map((path) => path.split('/').slice(0, 2).join('/'));
  const entries = await Promise.all([...new Set(folders)].map((path) => entryAt(objects, base, path)));
  const listed = await Promise.all(
    entries.map((entry) => (entry && isTree(entry.mode) ? listFiles(objects, entry.id) : [])),
  );
  const files = listed.flat().filter(({ path }) => LIKELY.test(path));
  return files.length > MOST_AROUND ? [] : files;
}

const ALIASES = 'OWNERS_ALIASES';

/** Files beside a changed one are brought when they are few. */
const MOST_BESIDE = 20;

/**
 * The files beside a changed one that catalogs and settings may be in; none if they are many, since most are
 * not read.
 */
function likelyBeside(entries: readonly TreeEntry[]): readonly TreeEntry[] {
  return entries.length > MOST_BESIDE ? [] : entries.filter(({ name }) => LIKELY.test(name));
}

/** The ids of the files that name a package's owners. */
async function ownersFiles(
  objects: ObjectReader,
  tree: string,
  { name, policy }: { name: string; policy: Policy },
): Promise<string[]> {
  const paths = policy.owners.sources.map(({ path }) => path).filter((path) => path.includes('{package}'));
  const entries = await Promise.all(
    paths.map((path) =>
      entryAt(
        objects,
        tree,
        path.replaceAll('{package}', () => name),
      ),
    ),
  );
  return entries.flatMap((entry) => (entry && !isTree(entry.mode) ? [entry.id] : []));
}

/** Most files of untouched packages that are brought in the same request; more of them are asked for later. */
const MOST_AROUND = 1000;

/** Ids of the files of the packages that change, and of all others in the same catalogs unless these are too many. */
async function unitFiles(objects: ObjectReader, trees: Trees, { layout, limits }: Policy): Promise<string[]> {
  const before = await catalogUnits(objects, trees.base, layout);
  const after = await catalogUnits(objects, trees.merged, layout);
  const changed = [
    ...[...before.values()].filter(({ path, id }) => after.get(path)?.id !== id),
    ...[...after.values()].filter(({ path, id }) => before.get(path)?.id !== id),
  ];
  const catalogs = new Set(changed.map(({ catalog }) => catalog));
  const around = [...after.values()].filter(({ catalog, composed }) => catalogs.has(catalog) && !composed);
  const list = async (units: readonly CatalogUnit[]): Promise<string[]> => {
    const listed = await Promise.all(
      units.map(({ id, mode }) => (isTree(mode) ? listFiles(objects, id) : [{ id, mode }])),
    );
    return listed.flat().flatMap(({ id, mode }) => (mode === SUBMODULE_MODE ? [] : [id]));
  };
  const isTooMuch = around.length > MOST_AROUND || limits.contextBytes === 0;
  const others = isTooMuch ? [] : await list(around);
  return [...(await list(changed)), ...(others.length > MOST_AROUND ? [] : others)];
}

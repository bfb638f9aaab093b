/** Where owners of packages are looked up: files that name people, and the `ci.yaml` files of packages. */
import type { ObjectReader } from '../../git/objects.ts';
import type { ListedFile } from '../../git/tree.ts';
import type { CatalogFile } from './catalog-files.ts';

/** Files that name people, or where they are looked up. */
const PEOPLE = /^config\.yaml$|(?:^|\/)(?:ci\.yaml|OWNERS|OWNERS_ALIASES|CODEOWNERS)$/;

export function isFileOfPeople(path: string): boolean {
  return PEOPLE.test(path);
}

/** Files of people in the folders above paths. */
export function filesOfPeople(files: readonly ListedFile[], below: readonly string[]): ListedFile[] {
  const folders = new Set(['', '.github/', 'docs/']);
  for (const path of below)
    for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1))
      folders.add(path.slice(0, at + 1));
  return files.filter(
    ({ path }) => PEOPLE.test(path) && folders.has(path.slice(0, path.lastIndexOf('/') + 1)),
  );
}

/** Paths of files that are not in the clone. */
export async function missingOf(objects: ObjectReader, files: readonly ListedFile[]): Promise<string[]> {
  const infos = await Promise.all(files.map(({ id }) => objects.info(id)));
  return files.flatMap(({ path }, i) => (infos[i] ? [] : [path]));
}

/** Most places of `ci.yaml` files that are tried. */
const MOST_PLACES = 8;

/** Paths of `ci.yaml` files with `{package}` in folders that are called after packages; the default one is not among them. */
export function reviewersPaths(paths: readonly string[], packages: ReadonlySet<string>): string[] {
  const found = new Set<string>();
  for (const path of paths) {
    const [, before = '', name = ''] = /^(.*\/)?([^/]+)\/ci\.yaml$/.exec(path) ?? [];
    if (packages.has(name) && before !== 'operators/') found.add(`${before}{package}/ci.yaml`);
  }
  // Of catalogs named after versions, the newest has every package that is still maintained.
  return [...found].slice(-MOST_PLACES).reverse();
}

/** Those paths that name owners of packages of which no path before it does. */
export async function neededReviewers(
  paths: readonly string[],
  ownedUnder: (some: readonly string[]) => Promise<number>,
): Promise<string[]> {
  const needed: string[] = [];
  let owned = paths.length === 0 ? 0 : await ownedUnder([]);
  for (const path of paths) {
    const more = await ownedUnder([...needed, path]);
    if (more > owned) needed.push(path);
    owned = Math.max(owned, more);
  }
  return needed;
}

/** A path of each package: in a catalog, or its folder among the operators. */
export function packagePlaces(
  catalogs: readonly CatalogFile[],
  paths: readonly string[],
): Map<string, string> {
  const places = new Map<string, string>();
  for (const path of paths) {
    const [, name] = /^operators\/([^/]+)\/./.exec(path) ?? [];
    if (name !== undefined) places.set(name, path);
  }
  for (const { path, packages } of catalogs) for (const name of packages) places.set(name, path);
  return places;
}

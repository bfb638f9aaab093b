/** The pattern of the layout that matches files of one shape, and no other file of the repository. */

import { appendToGroup, groupedBy } from '../../../catalog/go/grouped.ts';
import { compareText } from '../../../catalog/go/text.ts';
import type { CatalogFile } from './catalog-files.ts';
import { ENDING, FORMAT, folderOf, haveOwnPackages, isText, type Part, type Shape } from './shapes.ts';

interface Repository {
  /** Paths of files with whole packages. */
  readonly whole: ReadonlySet<string>;
  /** Whether a path is something else than a catalog's. */
  readonly isOther: (path: string) => boolean;
  /** Whether a file that was not read has the name of a whole catalog beside it, and another ending: it is a catalog of its own. */
  readonly isDouble: (path: string) => boolean;
  /** Names of the files in each folder, and in those below it as paths. */
  readonly byFolder: ReadonlyMap<string, readonly string[]>;
}

/** For each folder, the paths below it. */
export function filesByFolder(paths: readonly string[]): Map<string, string[]> {
  const folders = new Map<string, string[]>();
  for (const path of paths) {
    const names = path.split('/');
    for (let i = 0; i < names.length; i++) {
      const folder = names.slice(0, i).join('/');
      appendToGroup(folders, folder, names.slice(i).join('/'));
    }
  }
  return folders;
}

/** The pattern that matches the files of a shape, with `**` from the first folder in which only catalogs are. */
export function patternOf(shape: Shape, repository: Repository): string {
  const { folders, stem } = shape;
  if (stem) return [...folders.map(partText), `${partText(stem)}.${endingText(shape)}`].join('/');
  // Below the catalog's or the package's own folder, everything is the catalog's where nothing else is there.
  const lastVariable = folders.findLastIndex(({ kind }) => kind !== 'name');
  // At least one folder: `**` alone would match the whole repository.
  for (let depth = Math.max(1, lastVariable + 1); depth <= folders.length; depth++) {
    if (haveOnlyCatalogs(shape, depth, repository))
      return [...folders.slice(0, depth).map(partText), '**'].join('/');
  }
  return [...folders.map(partText), fileText(shape, repository)].join('/');
}

/** A part of a shape as the pattern has it. */
export function partText(part: Part): string {
  switch (part.kind) {
    case 'name':
      return part.text;
    case 'any':
      return '*';
    case 'package':
      return '{package}';
    case 'catalog':
      return `${part.before}{catalog${part.glob}}${part.after ?? ''}`;
  }
}

/**
 * Whether only files of the catalog are in the folders of a shape's files, and one folder has several: the pattern of a
 * single file names it.
 *
 * @param depth how many names of a path are the folder's
 */
function haveOnlyCatalogs(
  { files }: Shape,
  depth: number,
  { isOther, isDouble, byFolder, whole }: Repository,
): boolean {
  const own = new Set(files.map(({ path }) => path));
  const folders = new Set(files.map(({ path }) => path.split('/').slice(0, depth).join('/')));
  let isMany = false;
  for (const folder of folders) {
    // Files such as `.indexignore` belong to no catalog.
    const inside = (byFolder.get(folder) ?? []).filter((path) => !path.split('/').at(-1)?.startsWith('.'));
    isMany ||= inside.length > 1;
    const isForeign = (path: string): boolean =>
      isOther(path) || isDouble(path) || (whole.has(path) && !own.has(path));
    if (inside.some((path) => isForeign(`${folder}/${path}`))) return false;
  }
  return isMany;
}

/**
 * The last segment of a pattern: the only name; else what the names have in common, with `*`; or all names, where that
 * would match other files.
 */
function fileText({ files }: Shape, { isOther, byFolder }: Repository): string {
  const names = [...new Set(files.map(({ path }) => path.split('/').at(-1) ?? ''))].sort(compareText);
  const [first = ''] = names;
  if (names.length === 1) return first;
  const begin = commonStart(names.map((name) => name.replace(ENDING, '')));
  const glob = `${begin}*.${endingText({ files })}`;
  const endings = endingsOf(files);
  const folders = new Set(files.map(({ path }) => path.split('/').slice(0, -1).join('/')));
  // Whether the glob would match a file that is not a catalog's.
  const isStrange = [...folders].some((folder) =>
    (byFolder.get(folder) ?? []).some(
      (name) =>
        !name.includes('/') &&
        name.startsWith(begin) &&
        endings.includes(ENDING.exec(name)?.[0].slice(1) ?? '') &&
        isOther(folder === '' ? name : `${folder}/${name}`),
    ),
  );
  return isStrange ? `{${names.join(',')}}` : glob;
}

/** How the files' names end, without the dot: `yaml`, or `{json,yaml}`. */
function endingText({ files }: Pick<Shape, 'files'>): string {
  const endings = endingsOf(files);
  return endings.length === 1 ? (endings[0] ?? '') : `{${endings.join(',')}}`;
}

/** The endings of files' names, without the dot, each once and sorted. */
function endingsOf(files: Shape['files']): string[] {
  return [...new Set(files.map(({ path }) => ENDING.exec(path)?.[0].slice(1) ?? ''))].sort(compareText);
}

/** What all names start with; may be empty. */
function commonStart(names: readonly string[]): string {
  const [first = ''] = names;
  let length = first.length;
  for (const name of names) while (!name.startsWith(first.slice(0, length))) length--;
  return first.slice(0, length);
}

// Files of different paths that are catalogs of one pattern: what differs is a name of theirs.

/**
 * Joins shapes that differ only in their last folder, if each has packages of its own: the folders are called
 * otherwise than their packages, so that the pattern has `*` for them.
 */
export function withoutOddNames(shapes: readonly Shape[]): Shape[] {
  const last = (shape: Shape): Part | undefined => shape.folders.at(-1);
  // Only below a catalog's folder is it clear that the last one is a package's, whatever it is called.
  const isOdd = (shape: Shape): boolean =>
    last(shape)?.kind === 'name' &&
    shape.folders.some(({ kind }) => kind === 'catalog') &&
    shape.files.some(({ defines }) => defines.length > 0);
  const key = ({ folders, stem }: Shape): string => JSON.stringify([folders.slice(0, -1), stem]);
  const groups = groupedBy(shapes.filter(isOdd), key);
  // Shapes with a package in common are other catalogs, not packages of one.
  const joined = [...groups.values()].filter((group) => group.length > 1 && haveOwnPackages(group));
  const gone = new Set(joined.flat());
  return [
    ...shapes.filter((shape) => !gone.has(shape)),
    ...joined.flatMap((group): Shape[] => {
      const [first] = group;
      if (!first) return [];
      const files = group.flatMap((shape) => shape.files);
      return [{ ...first, folders: [...first.folders.slice(0, -1), { kind: 'any' }], files }];
    }),
  ];
}

/**
 * Joins shapes that differ only in the folder above their packages, or in the file's name, if they have the
 * same packages: that name is the catalog's, so that the pattern has `{catalog}` for it.
 */
export function withCatalogNames(shapes: readonly Shape[]): Shape[] {
  const groups = groupedBy(shapes, (shape) => JSON.stringify(keyWithoutCatalog(shape)));
  const found = [...groups.values()].flatMap((group) => {
    const at = catalogFolder(group[0]);
    if (at === undefined) return group;
    // Below a folder called `catalogs`, a single folder is a catalog, too.
    const isSeveral = group.length > 1 || isText(group[0]?.folders[at - 1], 'catalogs');
    if (!isSeveral || haveOwnPackages(group)) return group;
    const [first] = group;
    if (!first) return [];
    const folders = first.folders.with(at, { kind: 'catalog', before: '', glob: '' });
    return [{ ...first, folders, files: group.flatMap(({ files }) => files) }];
  });
  return found.map((shape) => inCatalogOf(found, shape));
}

/**
 * A shape of plain names in the folder of a catalog that another shape has: its folder there is the catalog, and the one
 * below it any folder.
 */
function inCatalogOf(all: readonly Shape[], shape: Shape): Shape {
  const at = shape.folders.length - 2;
  const isPlain = !shape.stem && at >= 0 && shape.folders.every(({ kind }) => kind === 'name');
  const catalogFolderOf = (path: string): string =>
    path
      .split('/')
      .slice(0, at + 1)
      .join('/');
  const own = new Set(shape.files.map(({ path }) => catalogFolderOf(path)));
  const host = all.find(
    (one) =>
      one.folders[at]?.kind === 'catalog' && one.files.some(({ path }) => own.has(catalogFolderOf(path))),
  );
  const catalog = host?.folders[at];
  if (!isPlain || !host || !catalog || !haveOwnPackages([shape, host])) return shape;
  return { ...shape, folders: shape.folders.with(at, catalog).with(at + 1, { kind: 'any' }) };
}

/**
 * The shapes, in which the file's name names the catalog: several files of one folder each have a whole package of the
 * same name.
 */
export function withFileNames(shape: Shape, { isOther, byFolder }: Repository): Shape[] {
  const { folders, files, stem } = shape;
  if (stem || !files.some((file, i) => files.slice(0, i).some((other) => isAlternative(file, other))))
    return [shape];
  const named = groupedBy(files, ({ path }) => path.split('/').at(-1) ?? '');
  const isStrange = [...new Set(files.map(({ path }) => folderOf(path)))].some((folder) =>
    (byFolder.get(folder) ?? []).some(
      (name) =>
        !name.includes('/') && FORMAT.test(name) && isOther(folder === '' ? name : `${folder}/${name}`),
    ),
  );
  const endings = new Set([...named.keys()].map((name) => ENDING.exec(name)?.[0]));
  // Each name is written out if `{catalog}` would be there twice, would match any file of the top or other files, or if the
  // endings differ.
  if (folders.some(({ kind }) => kind === 'catalog') || folders.length === 0 || isStrange || endings.size > 1)
    return [...named].map(([name, own]) => ({
      folders,
      stem: { kind: 'name', text: name.replace(ENDING, '') },
      files: own,
    }));
  return [{ ...shape, stem: { kind: 'catalog', before: '', glob: '' } }];
}

/**
 * Whether two whole catalogs in files of one folder define the same package: they cannot be parts of one
 * catalog.
 */
function isAlternative(a: CatalogFile, b: CatalogFile): boolean {
  if (!a.isWhole || !b.isWhole || folderOf(a.path) !== folderOf(b.path)) return false;
  return a.defines.some((name) => b.defines.includes(name));
}

/** Equal for shapes that differ only in the folder that may name the catalog. */
function keyWithoutCatalog(shape: Shape): unknown {
  const at = catalogFolder(shape);
  return [at === undefined ? shape.folders : shape.folders.with(at, { kind: 'any' }), shape.stem];
}

/** Where the catalog's folder may stand above that of a package: never at the top. */
function catalogFolder(shape: Shape | undefined): number | undefined {
  if (!shape || shape.stem || shape.folders.some(({ kind }) => kind === 'catalog')) return undefined;
  const at = shape.folders.findIndex(({ kind }) => kind === 'package') - 1;
  return at > 0 ? at : undefined;
}

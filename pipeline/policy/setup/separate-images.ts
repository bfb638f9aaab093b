/** What Dockerfiles say of images: catalogs of one platform in images of their own, and folders that one image has together. */
import { groupedBy } from '../../../catalog/go/grouped.ts';
import type { WrittenPattern } from '../policy-file.ts';
import type { BuildFacts } from './build-files.ts';
import { VARIABLE } from './build-files.ts';
import type { CatalogFile } from './catalog-files.ts';
import { catalogNamer } from './catalog-names.ts';
import { foldersAbove } from './fragments.ts';
import { matchOf } from './rivals.ts';

/**
 * Names catalogs apart that patterns would join. Catalogs in folders of their own are apart unless a Dockerfile copies
 * several into one image: `certified-{catalog}/**` and `community-{catalog}/**`. Parts of one folder are apart where
 * Dockerfiles copy the files of each pattern by themselves: `{catalog}/a/catalog/**` and `{catalog}/b/catalog/**` are
 * `a-{catalog}` and `b-{catalog}`.
 *
 * @returns the same patterns where one image has them all, or nothing says which has which
 */
export function withImageNames(
  patterns: readonly WrittenPattern[],
  files: readonly CatalogFile[],
  build: BuildFacts,
): readonly WrittenPattern[] {
  const plain = patterns.map(pathOf);
  const nameOf = catalogNamer(patterns);
  const owner = (path: string): string | undefined =>
    plain.find((pattern) => catalogNamer([pattern])(path) !== undefined);
  const own = files.filter(({ path }) => owner(path) !== undefined);
  // The files of each catalog that has files of several patterns.
  const joined = [...groupedBy(own, ({ path }) => nameOf(path) ?? '').values()].filter(
    (some) => new Set(some.map(({ path }) => owner(path))).size > 1,
  );
  const isApart = (some: readonly CatalogFile[]): boolean =>
    haveOwnFolders(some, owner, build) || areApart(some, owner, build);
  if (joined.length === 0 || !joined.every(isApart)) return patterns;
  const split = new Set(joined.flat().map(({ path }) => owner(path)));
  const names = new Map([...split].flatMap((one) => (one === undefined ? [] : [[one, nameIn(one, plain)]])));
  // Two patterns of one name would be one catalog again.
  return new Set(names.values()).size < names.size
    ? patterns
    : patterns.map((one) => {
        const name = names.get(pathOf(one));
        return name === undefined ? one : { path: pathOf(one), name };
      });
}

/** The text of a pattern, with or without a name of its catalog. */
function pathOf(pattern: WrittenPattern): string {
  return typeof pattern === 'string' ? pattern : pattern.path;
}

/**
 * Patterns in which packages are catalogs, where a Dockerfile for each copies its files alone: `index/{catalog}/catalog.yaml`.
 */
export function withPackagesApart(
  patterns: readonly WrittenPattern[],
  files: readonly CatalogFile[],
  build: BuildFacts,
): readonly WrittenPattern[] {
  return patterns.map((pattern) => {
    const text = pathOf(pattern);
    const depth = text.split('/').indexOf('{package}') + 1;
    if (depth === 0 || text.includes('{catalog')) return pattern;
    const nameOf = catalogNamer([pattern]);
    const own = files.filter(({ path }) => nameOf(path) !== undefined);
    const packageOf = (path: string): string => path.split('/').slice(0, depth).join('/');
    const isSeveral = new Set(own.map(({ path }) => packageOf(path))).size > 1;
    return isSeveral && areApart(own, packageOf, build) ? text.replace('{package}', '{catalog}') : pattern;
  });
}

/**
 * Patterns with one for folders of packages beside each other, where a Dockerfile copies the folder that they are in:
 * `catalog/GROUP/PACKAGE/`.
 */
export function withFoldersOfOneImage(
  patterns: readonly WrittenPattern[],
  files: readonly CatalogFile[],
  { mentions }: BuildFacts,
): readonly WrittenPattern[] {
  const copied = mentions.filter(({ path, isCopied }) => isCopied && path !== '' && !path.includes(VARIABLE));
  /** The pattern with `*` for the folder directly in a copied one: patterns of one image become equal. */
  const inImage = (pattern: WrittenPattern): string => {
    if (typeof pattern !== 'string') return JSON.stringify(pattern);
    const segments = pattern.split('/');
    const at = copied.find(({ path }) => pattern.startsWith(`${path}/`))?.path.split('/').length ?? -1;
    const isFolder = at >= 0 && at < segments.length - 1 && !/[{*]/.test(segments[at] ?? '');
    return isFolder ? segments.with(at, '*').join('/') : pattern;
  };
  const definedBy = (pattern: WrittenPattern): string[] => {
    const nameOf = catalogNamer([pattern]);
    return files.flatMap(({ path, defines }) => (nameOf(path) === undefined ? [] : defines));
  };
  return [...groupedBy(patterns, inImage)].flatMap(([joined, some]) => {
    const defined = some.flatMap(definedBy);
    // opm cannot serve a package that two files of an image define.
    return some.length > 1 && new Set(defined).size === defined.length ? [joined] : some;
  });
}

/**
 * Patterns of single files, with all that lies in their folders, where Dockerfiles copy these and they hold nothing else:
 * opm reads whatever is added there, and a file may be split or renamed.
 */
export function withCopiedFolders(
  patterns: readonly WrittenPattern[],
  paths: readonly string[],
  { mentions }: BuildFacts,
): readonly WrittenPattern[] {
  const copied = new Set(mentions.flatMap(({ path, isCopied }) => (isCopied ? [path] : [])));
  return patterns.map((pattern) => {
    if (typeof pattern !== 'string' || !/\/[^/*{]+\.(?:json|ya?ml)$/.test(pattern)) return pattern;
    const whole = `${pattern.slice(0, pattern.lastIndexOf('/'))}/**`;
    const isOwn = catalogNamer([pattern]);
    const isInside = catalogNamer([whole]);
    const inside = paths.filter((path) => isInside(path) !== undefined && !/(?:^|\/)\./.test(path));
    const isPublished = (path: string): boolean => foldersAbove(path).some((folder) => copied.has(folder));
    const isWhole = inside.every((path) => isOwn(path) !== undefined && isPublished(path));
    return inside.length > 0 && isWhole ? whole : pattern;
  });
}

/** Patterns with one for folders beside each other that have names of their own: `catalogs/{catalog}/**`, also for those to come. */
export function withWholeNames(patterns: readonly WrittenPattern[]): readonly WrittenPattern[] {
  const groups = groupedBy(patterns, wholeName);
  return [...groups].flatMap(([whole, some]) => (some.length > 1 ? [whole] : some));
}

/** A pattern whose catalogs have the whole names of their folders, if it has such names; else the pattern as a text of its own. */
function wholeName(pattern: WrittenPattern): string {
  const { path, name } = typeof pattern === 'string' ? { path: pattern, name: undefined } : pattern;
  const segments = path.split('/');
  const at = segments.findIndex((segment) => segment.replace(/\{catalog:[^}]*\}/, '{catalog}') === name);
  return at > 0 ? segments.with(at, '{catalog}').join('/') : JSON.stringify(pattern);
}

/** Whether the files of each pattern have a folder of the catalog, or a file of it, to themselves, and no Dockerfile copies two. */
function haveOwnFolders(
  files: readonly CatalogFile[],
  owner: (path: string) => string | undefined,
  { mentions }: BuildFacts,
): boolean {
  const owners = groupedBy(files, ({ path }) => rootOf(path, owner(path) ?? ''));
  if ([...owners.values()].some((some) => new Set(some.map(({ path }) => owner(path))).size > 1))
    return false;
  const images = new Map<string, Set<string>>();
  for (const { path, file, isCopied } of mentions) {
    const roots = isCopied ? [...owners.keys()].filter((root) => matchOf(path, root)) : [];
    // What a variable stands for differs from build to build.
    for (const root of roots)
      images.set(file, (images.get(file) ?? new Set()).add(path.includes(VARIABLE) ? path : root));
  }
  return [...images.values()].every(({ size }) => size === 1);
}

/** The folder that is called after a file's catalog, or the file that is; the top where the pattern has no name for it. */
function rootOf(path: string, pattern: string): string {
  const depth = pattern.split('/').findIndex((segment) => segment.includes('{catalog')) + 1;
  return path.split('/').slice(0, depth).join('/');
}

/** Whether each file is copied into an image, and no Dockerfile copies files of two patterns. */
function areApart(
  files: readonly CatalogFile[],
  owner: (path: string) => string | undefined,
  { mentions }: BuildFacts,
): boolean {
  const images = new Map<string, Set<string | undefined>>();
  for (const { path } of files) {
    const copies = mentions.filter(
      (one) => one.isCopied && !one.path.includes(VARIABLE) && `${path}/`.startsWith(`${one.path}/`),
    );
    if (copies.length === 0) return false;
    for (const { file } of copies) images.set(file, (images.get(file) ?? new Set()).add(owner(path)));
  }
  return [...images.values()].every(({ size }) => size === 1);
}

/** The folders that not all patterns have, and the catalog's own name with what it stands in. */
function nameIn(pattern: string, all: readonly string[]): string {
  const others = all.filter((one) => one !== pattern).map((one) => new Set(one.split('/')));
  const segments = pattern.split('/');
  // Folders that are written out, but for those that all patterns have.
  const folders = segments
    .slice(0, -1)
    .filter((folder) => !/[{*]/.test(folder) && !others.every((other) => other.has(folder)));
  const own = segments.find((segment) => segment.includes('{catalog'));
  const [, before = ''] = /([^{}*]*)\{catalog\b/.exec(own ?? '') ?? [];
  return [...folders, ...(own === undefined ? [] : [`${before}{catalog}`])]
    .join('-')
    .replaceAll(/[^A-Za-z0-9._{}-]/g, '-');
}

/** Catalogs of which only the people of a repository know whether each of them is published. */
import { groupedBy } from '../../../catalog/go/grouped.ts';
import type { WrittenPattern } from '../policy-file.ts';
import { type BuildFacts, VARIABLE } from './build-files.ts';
import type { CatalogFacts } from './catalog-files.ts';
import { catalogNamer } from './catalog-names.ts';
import type { LeftOut } from './fragments.ts';
import { folderOf } from './shapes.ts';

interface Rivals {
  /** What only people can decide, in words. */
  readonly questions: readonly string[];
  /** Files of catalogs that nothing ships, beside one with the same packages that is shipped. */
  readonly unused: readonly LeftOut[];
}

/** One catalog as a pattern finds it. */
interface Place {
  /** The folder of a catalog, or its only file. */
  readonly root: string;
  /** The place of its pattern among all. */
  readonly pattern: number;
  readonly files: readonly CatalogFacts[];
  readonly packages: ReadonlySet<string>;
}

/** Looks for catalogs of the same platform that may be copies, drafts or stages of each other. */
export function rivalsAmong(
  patterns: readonly WrittenPattern[],
  catalogs: readonly CatalogFacts[],
  build: BuildFacts,
): Rivals {
  const places = placesOf(patterns, catalogs);
  const roots = places.map(({ root }) => root);
  const questions: string[] = places.flatMap((place) => [
    ...questionOfImages(place, build),
    ...questionOfPackages(place, roots, build),
  ]);
  const unused = copiesBeside(places, (place) =>
    isEmpty(place, build) ? 'unknown' : shippedState(place, roots, build),
  );
  const copies = copiesOf(build);
  const isCopied = (place: Place): boolean => !copies || shippedState(place, roots, copies) === 'shipped';
  const sources = new Map<Place, string>();
  for (const [one, other] of pairsOf(places)) {
    // Two catalogs with nothing in common are not rivals, unless they may be parts of one.
    const shared = [...one.packages].find((name) => other.packages.has(name));
    if (shared === undefined && !isSibling(one, other)) continue;
    const [first, second] = [one, other].map((place) => shippedState(place, roots, build));
    // Build files name both. One that no Dockerfile copies, and whose blobs the other has, is what the other is built from.
    if (first === 'shipped' && second === 'shipped') {
      for (const [copy, source] of [
        [one, other],
        [other, one],
      ] as const)
        if (isSourceOf(source, copy) && isCopied(copy) && !isCopied(source)) sources.set(source, copy.root);
      continue;
    }
    if (shared !== undefined && first === 'shipped' && second === 'unknown') unused.set(other, one.root);
    else if (shared !== undefined && first === 'unknown' && second === 'shipped') unused.set(one, other.root);
    else {
      const isOpen = [first, second].includes('open');
      questions.push(questionOf(one, other, { shared, isOpen, copier: copierOf(one, other, build) }));
    }
  }
  return {
    questions,
    unused: [
      ...leftOut(unused, ({ files }, root) =>
        files.some(({ bundles }) => bundles.length > 0)
          ? `no build file names it, and ${root}, which one does, has the same package`
          : `it has no bundle, and ${root}, which a build file names, has the same package`,
      ),
      ...leftOut(
        sources,
        (_, root) => `no Dockerfile copies it, and ${root}, which one does, has the same blobs`,
      ),
    ],
  };
}

/**
 * Files of catalogs that no Dockerfile copies, where Dockerfiles copy others with the same packages: inputs of their
 * build, which scripts name.
 */
export function uncopiedAmong(
  patterns: readonly WrittenPattern[],
  catalogs: readonly CatalogFacts[],
  build: BuildFacts,
): LeftOut[] {
  const copies = copiesOf(build);
  if (!copies) return [];
  const places = placesOf(patterns, catalogs);
  const roots = places.map(({ root }) => root);
  return leftOut(
    copiesBeside(places, (place) => shippedState(place, roots, copies)),
    (_, root) => `no Dockerfile copies it, and ${root}, which one does, has the same package`,
  );
}

/** The files of some places, each with the reason to leave it out. */
function leftOut(
  places: ReadonlyMap<Place, string>,
  reasonOf: (place: Place, root: string) => string,
): LeftOut[] {
  return [...places].flatMap(([place, root]) =>
    place.files.map(({ path }) => ({ path, reason: reasonOf(place, root) })),
  );
}

/** What Dockerfiles copy, alone; undefined where a build writes its Dockerfiles itself. */
function copiesOf(build: BuildFacts): BuildFacts | undefined {
  // `opm generate dockerfile` writes one for a catalog's folder.
  if (build.words.has('generate') && build.words.has('dockerfile')) return undefined;
  return { ...build, mentions: build.mentions.filter(({ isCopied }) => isCopied) };
}

/** Whether a catalog has no bundle and no channel that another one lacks. */
function isSourceOf(one: Place, other: Place): boolean {
  const keysOf = ({ files }: Place): string[] =>
    files.flatMap(({ bundles, channels }) => [...bundles, ...channels]);
  const known = new Set(keysOf(other));
  return keysOf(one).every((key) => known.has(key));
}

/**
 * Catalogs of a pattern and a top folder that no build file names, where catalogs of another pattern and another top
 * folder are shipped with the same packages: sources or copies of those, whatever their platforms.
 */
function copiesBeside(places: readonly Place[], stateOf: (place: Place) => ShippedState): Map<Place, string> {
  const shipped = places.filter((place) => stateOf(place) === 'shipped');
  const unused = new Map<Place, string>();
  for (const group of groupedBy(places, (place) => JSON.stringify([topOf(place), place.pattern])).values()) {
    const [first] = group;
    if (!first || shipped.some((one) => topOf(one) === topOf(first) || one.pattern === first.pattern))
      continue;
    const unknown = group.filter((place) => stateOf(place) === 'unknown');
    const names = new Set(unknown.flatMap(({ packages }) => [...packages]));
    const other = shipped.find(({ packages }) => [...packages].some((name) => names.has(name)));
    if (other) for (const place of unknown) unused.set(place, other.root);
  }
  return unused;
}

/** Whether a catalog has no bundle, and no Dockerfile copies it. */
function isEmpty({ root, files }: Place, { mentions }: BuildFacts): boolean {
  return (
    files.every(({ bundles }) => bundles.length === 0) &&
    !mentions.some(({ path, isCopied }) => isCopied && matchOf(path, root) !== undefined)
  );
}

/** The first folder of a catalog's path. */
function topOf({ root }: Place): string {
  return root.split('/')[0] ?? '';
}

/** What a user must decide about two folders of catalogs, in words. */
function questionOf(
  one: Place,
  other: Place,
  {
    shared,
    isOpen,
    copier,
  }: { readonly shared: string | undefined; readonly isOpen: boolean; readonly copier: string | undefined },
): string {
  const both = `${one.root} and ${other.root}`;
  const why = isOpen
    ? 'a build argument decides which of them is published'
    : 'no Dockerfile, Makefile or CI file says which of them is published';
  if (shared !== undefined && copier !== undefined)
    return `${both} both define package ${shared}, and ${copier} copies them into one image, which opm cannot serve`;
  return shared === undefined
    ? `${both} may be one catalog or two: ${why}`
    : `${both} both define package ${shared}, and ${why}`;
}

/** The Dockerfile that copies the folder in which two catalogs are. */
function copierOf(one: Place, other: Place, { mentions }: BuildFacts): string | undefined {
  const isIn = ({ root }: Place, path: string): boolean => root.startsWith(`${path}/`);
  return mentions.find(({ path, isCopied }) => isCopied && isIn(one, path) && isIn(other, path))?.file;
}

/**
 * The folders that hold one catalog each, with the files and packages in them, and the pattern that names the catalog.
 */
function placesOf(patterns: readonly WrittenPattern[], catalogs: readonly CatalogFacts[]): Place[] {
  const namers = patterns.map((pattern, index) => ({
    index,
    nameOf: catalogNamer([pattern]),
    depth: depthOf(typeof pattern === 'string' ? pattern : pattern.path),
  }));
  const namerOf = (path: string) => namers.find(({ nameOf }) => nameOf(path) !== undefined);
  const rootOf = (path: string): string | undefined => {
    const found = namerOf(path);
    return found && path.split('/').slice(0, found.depth).join('/');
  };
  const own = catalogs.filter(({ path }) => rootOf(path) !== undefined);
  return [...groupedBy(own, ({ path }) => rootOf(path) ?? '')].map(([root, files]) => ({
    root,
    pattern: namerOf(files[0]?.path ?? '')?.index ?? -1,
    files,
    packages: new Set(files.flatMap(({ defines }) => defines)),
  }));
}

/** How many names of a path lead to its catalog. */
function depthOf(pattern: string): number {
  // `{catalog}` does not end the way to a catalog: any letter stands for it.
  const segments = pattern.split('/').map((one) => one.replace(/\{catalog[^}]*\}/, 'C'));
  const end = segments.findIndex((one) => /[*{]/.test(one));
  if (end >= 0) return end;
  const isFile = pattern.split('/').at(-1)?.includes('{catalog') || segments.length === 1;
  return isFile ? segments.length : segments.length - 1;
}

/** Pairs of catalogs that no version, architecture or folder of catalogs tells apart. */
function* pairsOf(places: readonly Place[]): Generator<[Place, Place]> {
  for (const group of groupedBy(places, ({ root }) => platformOf(root)).values())
    for (const [i, one] of group.entries())
      for (const other of group.slice(i + 1)) if (!isDeclared(one.root, other.root)) yield [one, other];
}

/** Versions (`4.19`, `4-19`, or `419` not in a longer number) and architectures. */
const PLATFORM =
  /[0-9]+[._-][0-9]+|(?<![A-Za-z0-9])v?[4-9][0-9]{2}(?![0-9])|amd64|arm64|aarch64|x86_64|ppc64le|s390x/g;

/** The versions and architectures in a path, as one text. */
function platformOf(root: string): string {
  return (root.match(PLATFORM) ?? []).join(' ');
}

/**
 * Whether folders are called catalogs: by the folder in which they lie, or by their platform, unless the name of one comes
 * from the other's as that of a copy does (`catalog/v4.19`, `catalog-old/v4.19`).
 */
function isDeclared(one: string, other: string): boolean {
  if (platformOf(one) !== '' && !isDerived(one, other)) return true;
  const folder = folderOf(one);
  return folder === folderOf(other) && isFolderOfCatalogs(folder);
}

/**
 * Whether one folder seems to be called after the other, as a copy is (`catalog-old` after `catalog`). Only the
 * parts in which their paths differ are compared.
 */
function isDerived(one: string, other: string): boolean {
  const [a, b] = [one.split('/'), other.split('/')];
  // Take off what both begin with, then what both end with.
  while (a.length > 0 && b.length > 0 && a[0] === b[0]) for (const names of [a, b]) names.shift();
  while (a.length > 0 && b.length > 0 && a.at(-1) === b.at(-1)) for (const names of [a, b]) names.pop();
  const [first, second] = [a.join('/'), b.join('/')];
  return first.includes(second) || second.includes(first);
}

/**
 * Whether two catalogs may be packages of one: their folders are beside each other, and neither is called
 * after its package.
 */
function isSibling(one: Place, other: Place): boolean {
  const isPackage = ({ root, packages }: Place): boolean => packages.has(root.split('/').at(-1) ?? '');
  return folderOf(one.root) === folderOf(other.root) && !isPackage(one) && !isPackage(other);
}

/** Build files name it; only a build argument tells; they do not name it. */
type ShippedState = 'shipped' | 'open' | 'unknown';

/** What build files say about a catalog: they name it, a build argument decides, or they do not name it. */
function shippedState(
  { root, files }: Place,
  roots: readonly string[],
  { mentions, words }: BuildFacts,
): ShippedState {
  let isOpen = false;
  const inner = roots.filter((one) => one.startsWith(`${root}/`));
  for (const { path, isCopied } of mentions) {
    // What is named inside of a catalog in this folder is that catalog's, and who names the folder alone may mean either.
    if (inner.some((one) => matchOf(path, one))) continue;
    if (inner.length > 0 && !(path === root ? isCopied : files.some((file) => leadsTo(path, file)))) continue;
    const match = matchOf(path, root);
    // A variable may stand for a word that some build file has; for any other value, a build argument must give it.
    if (match?.every((value) => words.has(value))) return 'shipped';
    if (match) isOpen = true;
    // Who names a folder above that holds no other catalog means this one.
    const isAbove = root.startsWith(`${path}/`);
    if (isAbove && !roots.some((one) => one !== root && `${one}/`.startsWith(`${path}/`))) return 'shipped';
  }
  return isOpen ? 'open' : 'unknown';
}

/** Whether a mention names a file, or a folder above it. */
function leadsTo(mention: string, { path }: CatalogFacts): boolean {
  const names = path.split('/').slice(0, mention.split('/').length);
  return matchOf(mention, names.join('/')) !== undefined;
}

/** The values of a mention's variables for which it names this folder or something in it; undefined if there are none. */
export function matchOf(mention: string, root: string): string[] | undefined {
  const [names, wanted] = [mention.split('/'), root.split('/')];
  if (names.length < wanted.length) return undefined;
  const values: string[] = [];
  for (const [i, want] of wanted.entries()) {
    const found = patternOf(names[i] ?? '')?.exec(want);
    if (!found) return undefined;
    values.push(...found.slice(1));
  }
  return values;
}

/** Most wildcards in a name: a pattern with many takes long to match. */
const MOST_WILDCARDS = 4;

/** A name of a mention as an expression, with a group for each variable; undefined for one that takes long to match. */
function patternOf(name: string): RegExp | undefined {
  if (name.split(/[*\0]+/).length > MOST_WILDCARDS + 1 || name.includes('**')) return undefined;
  const text = name
    .replaceAll(/[\\^$.+?()[\]{}|]/g, '\\$&')
    .replaceAll('*', '[^/]*')
    .replaceAll(VARIABLE, '(.+)');
  return new RegExp(`^${text}$`);
}

/**
 * The question whether a folder is one catalog or several, where Dockerfiles copy single folders of it; empty
 * if one copies all.
 */
function questionOfImages({ root, files }: Place, { mentions }: BuildFacts): string[] {
  const copied = mentions.filter(({ isCopied }) => isCopied);
  if (copied.some(({ path }) => root.startsWith(`${path}/`) || isFolder(path, root))) return [];
  const folders = [...new Set(files.flatMap(({ path }) => foldersBetween(root, path)))];
  const parts = copied.flatMap(({ path, file }) =>
    folders
      .filter((folder) => isFolder(path, folder))
      .map((folder) => ({ folder, file, isOpen: path.includes(VARIABLE) })),
  );
  // Parts are catalogs of their own if they go into several images: of several Dockerfiles, or of one with a variable.
  const several = (key: 'folder' | 'file'): boolean => new Set(parts.map((one) => one[key])).size > 1;
  const [first] = parts;
  return first && several('folder') && (several('file') || parts.some(({ isOpen }) => isOpen))
    ? [
        `${root} may be one catalog or several: ${first.file} copies only a part of it, such as ${first.folder}`,
      ]
    : [];
}

/**
 * The question whether the packages below a folder such as `catalogs` are one catalog or one each; empty if a
 * build file names any of them.
 */
function questionOfPackages(place: Place, roots: readonly string[], build: BuildFacts): string[] {
  const { root, files, packages } = place;
  const isSeveral = packages.size > 1 && files.every(({ path }) => foldersBetween(root, path).length > 0);
  return isSeveral && isFolderOfCatalogs(root) && shippedState(place, roots, build) === 'unknown'
    ? [
        `${root} may be one catalog of ${packages.size} packages or a catalog for each: no Dockerfile, Makefile or CI file says which is published`,
      ]
    : [];
}

/** Whether a folder's name says that each folder in it is a catalog. */
function isFolderOfCatalogs(folder: string): boolean {
  return /(?:^|[/_-])(?:catalogs|indexes|indices)$/.test(folder);
}

/** Whether a mention is of this very folder, for some values of its variables. */
function isFolder(mention: string, folder: string): boolean {
  return mention.split('/').length === folder.split('/').length && matchOf(mention, folder) !== undefined;
}

/** The folders below a root in which a file lies. */
function foldersBetween(root: string, path: string): string[] {
  const names = path.split('/').slice(0, -1);
  const depth = root.split('/').length;
  return names.slice(depth).map((_, i) => names.slice(0, depth + i + 1).join('/'));
}

/** Where a repository keeps its catalogs, told from the files that are catalogs and from all others. */
import { compareMinors, minorOfCatalog, splitAtMinor } from '../../../catalog/fbc/openshift.ts';
import { groupedBy } from '../../../catalog/go/grouped.ts';
import { compareText } from '../../../catalog/go/text.ts';
import { joinPath } from '../../git/tree.ts';
import { compileLayout } from '../layout.ts';
import type { WrittenPattern } from '../policy-file.ts';
import type { CatalogFile } from './catalog-files.ts';

export interface FoundLayout {
  /** Patterns for `layout.catalog`; empty when nothing was found. */
  readonly patterns: readonly WrittenPattern[];
  /** Names of the catalogs, platform versions in their order. */
  readonly catalogs: readonly string[];
  /** Paths of files that have blobs of a catalog, but only what another file has as well: they are sources, or left over. */
  readonly others: readonly string[];
  /** Whether the folders of catalogs have other YAML or JSON files, which a pattern for everything below would take for blobs. */
  readonly isMixed?: true;
}

/**
 * Tells the layout of catalogs.
 *
 * @param paths of all files of the repository
 * @param read paths of those that were read; of the others of their kind nothing else is expected
 */
export function layoutOf(
  files: readonly CatalogFile[],
  paths: readonly string[],
  read: ReadonlySet<string> = new Set(paths),
  style: LayoutStyle = {},
): FoundLayout {
  const shapes = shapesOf(files).map((shape) => styled(shape, style));
  const isCatalog = new Set(files.map(({ path }) => path));
  const isOther = (path: string): boolean => !FORMAT.test(path) || (read.has(path) && !isCatalog.has(path));
  const byFolder = filesByFolder(paths);
  const found = new Map<string, Found>();
  const whole = new Set(files.filter(({ isWhole }) => isWhole).map(({ path }) => path));
  const repository = { isOther, byFolder, whole };
  for (const shape of withCatalogNames(withoutOddNames(shapes)).flatMap((one) =>
    withFileNames(one, repository),
  )) {
    const pattern = patternOf(shape, repository);
    const known = found.get(pattern);
    found.set(pattern, { shape, files: [...(known?.files ?? []), ...shape.files] });
  }
  const patterns = named(found);
  const nameOf = catalogNamer(patterns);
  const others = files.filter(({ path }) => patterns.length > 0 && nameOf(path) === undefined);
  // Of any other pattern, only one that ends with ** takes other files for blobs, and then there are none.
  const isMixed =
    patterns.some((one) => typeof one === 'string' && one.startsWith('catalogs/{catalog}/{package}/')) &&
    files.some(({ path }) =>
      (byFolder.get(folderOf(path)) ?? []).some(
        (name) => FORMAT.test(name) && isOther(joinPath(folderOf(path), name)),
      ),
    );
  return {
    patterns,
    catalogs: catalogsIn(patterns, paths),
    others: others.map(({ path }) => path),
    ...(isMixed ? { isMixed } : {}),
  };
}

/** How much a layout names instead of capturing it; a narrower one matches fewer files. */
export interface LayoutStyle {
  /** Write folders of packages out. */
  readonly literalPackages?: boolean;
  /** Let folders of catalogs be versions only. */
  readonly versionsOnly?: boolean;
}

function styled(shape: Shape, { literalPackages, versionsOnly }: LayoutStyle): Shape {
  const narrow = (part: Part): Part =>
    versionsOnly && part.kind === 'catalog' && part.version !== undefined
      ? { ...part, glob: `:${part.version.replaceAll(/[0-9]+/g, '*')}` }
      : part;
  const names = shape.files.map(({ path }) => path.split('/'));
  const written = (part: Part, i: number): Part => {
    const [text = '', ...more] = new Set(names.map((folders) => folders[i] ?? ''));
    return literalPackages && part.kind === 'package' && more.length === 0 ? { kind: 'name', text } : part;
  };
  return {
    ...shape,
    folders: shape.folders.map((part, i) => narrow(written(part, i))),
    stem: shape.stem && narrow(shape.stem),
  };
}

/** What a folder of a path, or the file's name without its ending, stands for. */
type Part =
  | { readonly kind: 'name'; readonly text: string }
  | { readonly kind: 'package' | 'any' }
  /** A version of the platform after a text that stays; or a name that differs from catalog to catalog. */
  | {
      readonly kind: 'catalog';
      readonly before: string;
      readonly glob: string;
      readonly after?: string;
      /** The version of the first catalog, where it is one. */
      readonly version?: string;
    };

/** Files whose paths differ in nothing but their catalogs and packages. */
interface Shape {
  readonly folders: readonly Part[];
  /** Set where the file's name tells the catalog. */
  readonly stem: Part | undefined;
  readonly files: readonly CatalogFile[];
}

interface Found {
  readonly shape: Shape;
  readonly files: readonly CatalogFile[];
}

const ENDING = /\.[^./]+$/;
const FORMAT = /\.(?:ya?ml|json)$/;

function shapesOf(files: readonly CatalogFile[]): Shape[] {
  const shapes = new Map<string, Shape>();
  const isVersionHere = versionTest(files);
  for (const file of files) {
    const { folders, stem } = partsOf(file, isVersionHere);
    const key = JSON.stringify([folders, stem], (name, value: unknown) =>
      // Versions of one form are of one shape.
      name === 'version' ? String(value).replaceAll(/[0-9]+/g, '*') : value,
    );
    shapes.set(key, { folders, stem, files: [...(shapes.get(key)?.files ?? []), file] });
  }
  return [...shapes.values()];
}

function partsOf(
  { path, packages, defines }: CatalogFile,
  isVersionHere: (name: string) => boolean,
): Pick<Shape, 'folders' | 'stem'> {
  const names = path.split('/');
  const folders = names.slice(0, -1);
  const packageAt = folders.findLastIndex((folder) => packages.includes(folder));
  const versionAt = folders.findIndex((folder, i) => i !== packageAt && isVersionHere(folder));
  const parts = folders.map((folder, i): Part => {
    if (i === packageAt) return { kind: 'package' };
    return i === versionAt ? versionPart(folder, i === 0) : { kind: 'name', text: folder };
  });
  const stem = (names.at(-1) ?? '').replace(ENDING, '');
  // A file with a part of a package may be called after a version of the operator.
  const isNamed = versionAt < 0 && isVersion(stem) && defines.length > 0;
  return { folders: parts, stem: isNamed ? versionPart(stem, folders.length === 0) : undefined };
}

/** Which folders are called after versions: those of OpenShift, or of the operator if several are and none is OpenShift's. */
function versionTest(files: readonly CatalogFile[]): (name: string) => boolean {
  const folders = new Set(files.flatMap(({ path }) => path.split('/').slice(0, -1)));
  if ([...folders].some(isVersion)) return isVersion;
  const isOwn = (name: string): boolean => /^v[0-9]{1,3}\.[0-9]{1,3}$/.test(name);
  return [...folders].filter(isOwn).length > 1 ? isOwn : () => false;
}

function isVersion(name: string): boolean {
  return /^v?[4-9][._-][0-9]{1,3}$/.test(splitAtMinor(name.replace(AFTER, ''))?.minor ?? '');
}

/** What may follow the version in the name of a catalog's folder: `4.19-catalog`. */
const AFTER = /[-_](?:catalogs?|fbc|index|configs)$/;

/** @param isFirst whether nothing else says where the pattern begins, so that the version itself must */
function versionPart(name: string, isFirst: boolean): Part {
  const [after = ''] = AFTER.exec(name) ?? [];
  const own = name.slice(0, name.length - after.length);
  const { before, minor } = splitAtMinor(own) ?? { before: '', minor: own };
  const glob = isFirst && before === '' ? `:${minor.replaceAll(/[0-9]+/g, '*')}` : '';
  return { kind: 'catalog', before, glob, ...(after === '' ? {} : { after }), version: minor };
}

/** Folders that are called otherwise than the packages in them, and each otherwise, stand for any name. */
function withoutOddNames(shapes: readonly Shape[]): Shape[] {
  const last = (shape: Shape): Part | undefined => shape.folders.at(-1);
  const isOdd = (shape: Shape): boolean =>
    last(shape)?.kind === 'name' &&
    shape.folders.length > 1 &&
    shape.folders.some(({ kind }) => kind === 'catalog') &&
    shape.files.some(({ defines }) => defines.length > 0);
  const key = ({ folders, stem }: Shape): string => JSON.stringify([folders.slice(0, -1), stem]);
  const groups = groupedBy(shapes.filter(isOdd), key);
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

function haveOwnPackages(shapes: readonly Shape[]): boolean {
  const seen = new Set<string>();
  for (const shape of shapes) {
    const own = new Set(shape.files.flatMap(({ packages }) => packages));
    if ([...own].some((name) => seen.has(name))) return false;
    for (const name of own) seen.add(name);
  }
  return true;
}

/** The folder above packages, or the file's name, is the catalog's where several catalogs lie side by side. */
function withCatalogNames(shapes: readonly Shape[]): Shape[] {
  const groups = groupedBy(shapes, (shape) => JSON.stringify(keyWithoutCatalog(shape)));
  return [...groups.values()].flatMap((group) => {
    const at = catalogFolder(group[0]);
    if (at === undefined) return group;
    const isSeveral = group.length > 1 || isText(group[0]?.folders[at - 1], 'catalogs');
    if (!isSeveral || haveOwnPackages(group)) return group;
    const [first] = group;
    if (!first) return [];
    const folders = first.folders.with(at, { kind: 'catalog', before: '', glob: '' });
    return [{ ...first, folders, files: group.flatMap(({ files }) => files) }];
  });
}

/** The file's name is the catalog's where several files of one folder each have a whole package of the same name. */
function withFileNames(shape: Shape, { isOther, byFolder }: Repository): Shape[] {
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
  if (folders.some(({ kind }) => kind === 'catalog') || folders.length === 0 || isStrange || endings.size > 1)
    return [...named].map(([name, own]) => ({
      folders,
      stem: { kind: 'name', text: name.replace(ENDING, '') },
      files: own,
    }));
  return [{ ...shape, stem: { kind: 'catalog', before: '', glob: '' } }];
}

function isAlternative(a: CatalogFile, b: CatalogFile): boolean {
  if (!a.isWhole || !b.isWhole || folderOf(a.path) !== folderOf(b.path)) return false;
  return a.defines.some((name) => b.defines.includes(name));
}

function isText(part: Part | undefined, text: string): boolean {
  return part?.kind === 'name' && part.text === text;
}

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

interface Repository {
  /** Paths of files with whole packages. */
  readonly whole: ReadonlySet<string>;
  /** Whether a path is something else than a catalog's. */
  readonly isOther: (path: string) => boolean;
  /** Names of the files in each folder, and in those below it as paths. */
  readonly byFolder: ReadonlyMap<string, readonly string[]>;
}

function filesByFolder(paths: readonly string[]): Map<string, string[]> {
  const folders = new Map<string, string[]>();
  for (const path of paths) {
    const names = path.split('/');
    for (let i = 0; i < names.length; i++) {
      const folder = names.slice(0, i).join('/');
      const rest = names.slice(i).join('/');
      const known = folders.get(folder);
      if (known) known.push(rest);
      else folders.set(folder, [rest]);
    }
  }
  return folders;
}

function patternOf(shape: Shape, repository: Repository): string {
  const { folders, stem } = shape;
  if (stem) {
    const [ending = ''] = ENDING.exec(shape.files[0]?.path ?? '') ?? [];
    return [...folders.map(partText), `${partText(stem)}${ending}`].join('/');
  }
  // Below the catalog's or the package's own folder, everything is the catalog's where nothing else is there.
  const named = folders.findLastIndex(({ kind }) => kind !== 'name');
  for (let depth = Math.max(1, named + 1); depth <= folders.length; depth++) {
    if (isAllCatalog(shape, depth, repository))
      return [...folders.slice(0, depth).map(partText), '**'].join('/');
  }
  return [...folders.map(partText), fileText(shape, repository)].join('/');
}

function partText(part: Part): string {
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

/** Whether folders hold several files, all of which are the catalog's. */
function isAllCatalog({ files }: Shape, depth: number, { isOther, byFolder, whole }: Repository): boolean {
  const own = new Set(files.map(({ path }) => path));
  const folders = new Set(files.map(({ path }) => path.split('/').slice(0, depth).join('/')));
  let isMany = false;
  for (const folder of folders) {
    const inside = (byFolder.get(folder) ?? []).filter((path) => !path.split('/').at(-1)?.startsWith('.'));
    isMany ||= inside.length > 1;
    const isForeign = (path: string): boolean => isOther(path) || (whole.has(path) && !own.has(path));
    if (inside.some((path) => isForeign(`${folder}/${path}`))) return false;
  }
  return isMany;
}

/** The names of the files, as few as there are, or what they have in common. */
function fileText({ files }: Shape, { isOther, byFolder }: Repository): string {
  const names = [...new Set(files.map(({ path }) => path.split('/').at(-1) ?? ''))].sort(compareText);
  const [first = ''] = names;
  if (names.length === 1) return first;
  const endings = [...new Set(names.map((name) => ENDING.exec(name)?.[0].slice(1) ?? ''))];
  const ending = endings.length === 1 ? endings[0] : `{${endings.join(',')}}`;
  const begin = commonStart(names.map((name) => name.replace(ENDING, '')));
  const glob = `${begin}*.${ending}`;
  const folders = new Set(files.map(({ path }) => path.split('/').slice(0, -1).join('/')));
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

function commonStart(names: readonly string[]): string {
  const [first = ''] = names;
  let length = first.length;
  for (const name of names) while (!name.startsWith(first.slice(0, length))) length--;
  return first.slice(0, length);
}

/** The patterns, those that name more before those that name less, each with its catalog's name where two have one. */
function named(found: ReadonlyMap<string, Found>): WrittenPattern[] {
  const all = [...found].map(([pattern, one]) => ({ pattern, ...one }));
  const variables = (pattern: string): number => pattern.split(/\{package|\*/).length;
  all.sort(
    (a, b) =>
      variables(a.pattern) - variables(b.pattern) ||
      b.files.length - a.files.length ||
      compareText(a.pattern, b.pattern),
  );
  const real = all
    .filter(
      (one) =>
        (one.files.some(({ hasContent }) => hasContent) || isPart(one.files, all)) && !isSource(one, all),
    )
    .filter((one, _, rest) => !isCovered(one, rest));
  return real.map(({ pattern, shape, files }) => {
    const others = real.filter((other) => other.pattern !== pattern && isClash(files, pattern, other));
    if (others.length === 0) return withOwnName(pattern);
    return {
      path: pattern,
      name: nameIn(
        shape,
        others.map((other) => other.shape),
      ),
    };
  });
}

/** Whether a pattern for everything below a folder has all files of another one, in catalogs of the same names. */
function isCovered(
  { pattern, files }: { readonly pattern: string; readonly files: readonly CatalogFile[] },
  all: readonly { readonly pattern: string }[],
): boolean {
  const own = catalogNamer([pattern]);
  return all.some((other) => {
    if (other.pattern === pattern || !other.pattern.endsWith('/**')) return false;
    if (pattern.endsWith('/**') && pattern.split('/').length <= other.pattern.split('/').length) return false;
    const nameOf = catalogNamer([other.pattern]);
    return files.every(({ path }) => nameOf(path) !== undefined && nameOf(path) === own(path));
  });
}

/** Whether files name no package of their own, and whole catalogs elsewhere have the packages of which they are. */
function isSource(
  { files, pattern }: { readonly files: readonly CatalogFile[]; readonly pattern: string },
  all: readonly { readonly files: readonly CatalogFile[]; readonly pattern: string }[],
): boolean {
  if (files.some(({ defines }) => defines.length > 0)) return false;
  const whole = new Set(
    all
      .filter((other) => other.pattern !== pattern)
      .flatMap((other) => other.files.filter(({ isWhole }) => isWhole).flatMap(({ packages }) => packages)),
  );
  return files.every(({ packages }) => packages.every((name) => whole.has(name)));
}

/** Whether files have what belongs to the channels and bundles of others. */
function isPart(
  files: readonly CatalogFile[],
  all: readonly { readonly files: readonly CatalogFile[] }[],
): boolean {
  const folders = new Set(files.map(({ path }) => folderOf(path)));
  return all.some((other) =>
    other.files.some(
      ({ path, hasContent }) => hasContent && [...folders].some((folder) => path.startsWith(`${folder}/`)),
    ),
  );
}

function folderOf(path: string): string {
  return path.split('/').slice(0, -1).join('/');
}

function withOwnName(pattern: string): WrittenPattern {
  return /[{*]/.test(pattern) ? pattern : { path: pattern, name: literalName(pattern) };
}

/** A name for the catalog in one file: its folder's, or its own at the top. */
function literalName(path: string): string {
  const names = path.split('/');
  return (names.at(-2) ?? names.at(-1)?.replace(ENDING, '') ?? '').replaceAll(/[^A-Za-z0-9._-]/g, '-');
}

/** Whether two patterns have catalogs of one name that both define a package. */
function isClash(
  files: readonly CatalogFile[],
  pattern: string,
  other: { readonly pattern: string; readonly files: readonly CatalogFile[] },
): boolean {
  const own = definedIn(files, pattern);
  return [...definedIn(other.files, other.pattern)].some((definition) => own.has(definition));
}

function definedIn(files: readonly CatalogFile[], pattern: string): Set<string> {
  const nameOf = catalogNamer([withOwnName(pattern)]);
  return new Set(
    files.flatMap(({ path, defines }) => defines.map((name) => JSON.stringify([nameOf(path), name]))),
  );
}

/** A catalog's name of the folders in which its path differs from others: `stage-{catalog}`. */
function nameIn(shape: Shape, others: readonly Shape[]): string {
  const known = new Set(others.flatMap(({ folders }) => folders.map(partText)));
  const parts = [...shape.folders, ...(shape.stem ? [shape.stem] : [])].flatMap((part) => {
    if (part.kind === 'catalog') return [`${part.before}{catalog}${part.after ?? ''}`];
    return part.kind === 'name' && !known.has(part.text) ? [part.text] : [];
  });
  return parts.join('-').replaceAll(/[^A-Za-z0-9._{}-]/g, '-') || 'catalog';
}

/** Names catalogs as the gate will. */
export function catalogNamer(patterns: readonly WrittenPattern[]): (path: string) => string | undefined {
  const compiled = patterns.map((one) => {
    const [pattern, name] = typeof one === 'string' ? [one] : [one.path, one.name];
    return { layout: compileLayout([{ kind: 'catalog', pattern, name }]), root: rootName(pattern) };
  });
  return (path) => {
    for (const { layout, root } of compiled) {
      const match = layout.match(path);
      if (match) return match.catalog ?? root;
    }
    return undefined;
  };
}

/** The name of the last folder that is written out: it is the catalog's own. */
function rootName(pattern: string): string {
  const segments = pattern.split('/');
  const variable = segments.findIndex((segment) => /[{*]/.test(segment));
  return segments.slice(0, variable < 0 ? segments.length : variable).at(-1) ?? '';
}

/** Names of the catalogs in which files are, platform versions in their order. */
export function catalogsIn(patterns: readonly WrittenPattern[], paths: readonly string[]): string[] {
  if (patterns.length === 0) return [];
  const nameOf = catalogNamer(patterns);
  return [...new Set(paths.flatMap((path) => nameOf(path) ?? []))].sort(byVersion);
}

function byVersion(a: string, b: string): number {
  const [x, y] = [minorOfCatalog(a), minorOfCatalog(b)];
  if (x && y) return compareMinors(x, y) || compareText(a, b);
  return x ? -1 : y ? 1 : compareText(a, b);
}

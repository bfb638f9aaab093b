/** Where a repository keeps its catalogs, worked out from the files that are catalogs and from all others. */
import { platformInName } from '../../../catalog/fbc/fragment.ts';
import { compareText } from '../../../catalog/go/text.ts';
import { joinPath } from '../../git/tree.ts';
import { patternDefect } from '../layout.ts';
import type { WrittenPattern } from '../policy-file.ts';
import { isDockerfile } from './build-files.ts';
import type { CatalogFile } from './catalog-files.ts';
import { catalogNamer, catalogsIn } from './catalog-names.ts';
import {
  filesByFolder,
  partText,
  patternOf,
  withCatalogNames,
  withFileNames,
  withoutOddNames,
} from './pattern-text.ts';
import { ENDING, FORMAT, folderOf, type LayoutStyle, type Shape, shapesOf, styledShape } from './shapes.ts';

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
  const shapes = shapesOf(files).map((shape) => styledShape(shape, style));
  const isCatalog = new Set(files.map(({ path }) => path));
  // A file that could be a catalog and was not read is taken for one like those that were.
  const isOther = (path: string): boolean => !isCatalog.has(path) && (!FORMAT.test(path) || read.has(path));
  const byFolder = filesByFolder(paths);
  const found = new Map<string, FoundShape>();
  const whole = new Set(files.filter(({ isWhole }) => isWhole).map(({ path }) => path));
  const stems = new Set([...whole].map((path) => path.replace(ENDING, '')));
  // `catalog.json` that was not read, beside the whole catalog `catalog.yaml`.
  const isDouble = (path: string): boolean =>
    FORMAT.test(path) && !read.has(path) && !isCatalog.has(path) && stems.has(path.replace(ENDING, ''));
  const repository = { isOther, isDouble, byFolder, whole };
  for (const shape of withCatalogNames(withoutOddNames(shapes)).flatMap((one) =>
    withFileNames(one, repository),
  )) {
    const pattern = patternOf(shape, repository);
    // A name with a brace of its own.
    if (patternDefect(pattern) !== undefined) continue;
    const known = found.get(pattern);
    found.set(pattern, { shape, files: [...(known?.files ?? []), ...shape.files] });
  }
  const patterns = withRoomToSplit(namedPatterns(found), paths);
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

// Patterns in the order in which they match, without those that others make needless, each with a name
// where two would share one.

interface FoundShape {
  readonly shape: Shape;
  readonly files: readonly CatalogFile[];
}

/** The patterns, those that name more before those that name less, each with its catalog's name where two have one. */
function namedPatterns(found: ReadonlyMap<string, FoundShape>): WrittenPattern[] {
  const all = [...found].map(([pattern, one]) => ({ pattern, ...one }));
  // A pattern that captures less comes first: the first match decides, and it is the more exact one.
  const variables = (pattern: string): number => pattern.split(/\{package|\*/).length;
  all.sort(
    (a, b) =>
      variables(a.pattern) - variables(b.pattern) ||
      b.files.length - a.files.length ||
      compareText(a.pattern, b.pattern),
  );
  // Files without channels or bundles are a catalog only as a part of one, and sources of other catalogs are none.
  const real = all
    .filter(
      (one) =>
        (one.files.some(({ hasContent }) => hasContent) || isPart(one.files, all)) && !isSource(one, all),
    )
    .filter((one, _, rest) => !isCovered(one, rest));
  return real.map(({ pattern, shape, files }) => {
    const others = real.filter(
      (other) =>
        other.pattern !== pattern && (areApart(shape, other.shape) || isClash(files, pattern, other)),
    );
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

/**
 * The only catalog in one file with what its name may get behind it, where Dockerfiles are called after versions of the
 * platform: such a catalog is often split by them, and the policy of a pull request is that before it.
 */
function withRoomToSplit(
  patterns: readonly WrittenPattern[],
  paths: readonly string[],
): readonly WrittenPattern[] {
  const [only, ...others] = patterns;
  const names = typeof only === 'string' || !only ? [] : only.path.split('/');
  const folder = names.at(-2);
  const images = paths.filter((path) => isDockerfile(path) && platformInName(path));
  // With one Dockerfile, nothing shows that it will be split.
  if (folder === undefined || others.length > 0 || images.length < 2) return patterns;
  const pattern = names.with(-2, `{catalog:${folder}*}`).join('/');
  const nameOf = catalogNamer([pattern]);
  const isAlone = paths.every((path) => nameOf(path) === undefined || path === names.join('/'));
  return isAlone && patternDefect(pattern) === undefined ? [pattern] : patterns;
}

/** Whether a pattern for everything below a folder has all files of another pattern, in catalogs of the same names. */
function isCovered(
  { pattern, files }: { readonly pattern: string; readonly files: readonly CatalogFile[] },
  all: readonly { readonly pattern: string }[],
): boolean {
  const own = catalogNamer([pattern]);
  return all.some((other) => {
    if (other.pattern === pattern || !other.pattern.endsWith('/**')) return false;
    // Of two that end so, only the one that begins deeper can be covered.
    if (pattern.endsWith('/**') && pattern.split('/').length <= other.pattern.split('/').length) return false;
    const nameOf = catalogNamer([other.pattern]);
    return files.every(({ path }) => nameOf(path) !== undefined && nameOf(path) === own(path));
  });
}

/** Whether files define no package, and whole catalogs elsewhere have the packages that they are about. */
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

/**
 * Whether other catalogs have bundles or channels below the folders of these files, which then are only a part of them.
 */
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

/** A pattern, with a name if it is of one file only, since nothing in it names the catalog. */
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

/** The packages that files define, each with the catalog that the pattern puts it in. */
function definedIn(files: readonly CatalogFile[], pattern: string): Set<string> {
  const nameOf = catalogNamer([withOwnName(pattern)]);
  return new Set(
    files.flatMap(({ path, defines }) => defines.map((name) => JSON.stringify([nameOf(path), name]))),
  );
}

/** Whether catalogs lie below folders of different packages. */
function areApart(one: Shape, other: Shape): boolean {
  const [first, second] = [one, other].map(({ folders }) => folders.find((part) => 'isOwner' in part));
  return first !== undefined && second !== undefined && partText(first) !== partText(second);
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

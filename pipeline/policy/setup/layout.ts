/** Where a repository keeps its catalogs, worked out from the files that are catalogs and from all others. */
import { joinPath } from '../../git/tree.ts';
import type { WrittenPattern } from '../policy-file.ts';
import type { CatalogFile } from './catalog-files.ts';
import { catalogNamer, catalogsIn } from './catalog-names.ts';
import { type Found, named } from './named-patterns.ts';
import { filesByFolder, patternOf } from './pattern-text.ts';
import { withCatalogNames, withFileNames, withoutOddNames } from './shape-groups.ts';
import { ENDING, FORMAT, folderOf, type LayoutStyle, shapesOf, styled } from './shapes.ts';

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
  const isOther = (path: string): boolean => !isCatalog.has(path) && (!FORMAT.test(path) || read.has(path));
  const byFolder = filesByFolder(paths);
  const found = new Map<string, Found>();
  const whole = new Set(files.filter(({ isWhole }) => isWhole).map(({ path }) => path));
  const stems = new Set([...whole].map((path) => path.replace(ENDING, '')));
  const isDouble = (path: string): boolean =>
    FORMAT.test(path) && !read.has(path) && !isCatalog.has(path) && stems.has(path.replace(ENDING, ''));
  const repository = { isOther, isDouble, byFolder, whole };
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

/** Where a repository keeps its catalogs, told from the files that it has. */
import { tryParseMinor } from '../../../catalog/fbc/openshift.ts';

/** A file of a catalog, and the package that it names first. */
export interface CatalogFile {
  readonly path: string;
  readonly package: string;
}

export interface FoundLayout {
  /** Patterns for `layout.catalog`, the one that most files match first; empty when nothing was found. */
  readonly patterns: readonly string[];
  /** Names of the catalogs, platform versions in their order. */
  readonly catalogs: readonly string[];
}

/** Tells the layout of catalogs. */
export function layoutOf(files: readonly CatalogFile[]): FoundLayout {
  const counts = new Map<string, number>();
  const catalogs = new Set<string>();
  for (const file of files) {
    const { pattern, catalog } = patternOf(file);
    counts.set(pattern, (counts.get(pattern) ?? 0) + 1);
    if (catalog !== undefined) catalogs.add(catalog);
  }
  const patterns = [...counts]
    .sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
    .map(([pattern]) => pattern);
  return { patterns, catalogs: [...catalogs].sort(byVersion) };
}

/** The folder named after the package is `{package}`, the one named after a version of the platform `{catalog}`. */
function patternOf({ path, package: name }: CatalogFile): { pattern: string; catalog: string | undefined } {
  const names = path.split('/');
  const folders = names.slice(0, -1);
  const packageAt = folders.lastIndexOf(name);
  const file = names.at(-1) ?? '';
  const stem = file.replace(/\.(?:ya?ml|json)$/, '');
  const versionAt = folders.findIndex((folder) => tryParseMinor(folder) !== undefined);
  const catalogAt = versionAt >= 0 ? versionAt : packageAt - 1;
  const depth = Math.max(packageAt, versionAt) + 1;
  if (depth === 0 && tryParseMinor(stem)) {
    const pattern = [...folders, file.replace(stem, '{catalog}')].join('/');
    return { pattern, catalog: stem };
  }
  const kept = folders.slice(0, depth === 0 ? folders.length : depth);
  const segments = kept.map((folder, i) =>
    i === packageAt
      ? '{package}'
      : i === catalogAt && i > 0
        ? '{catalog}'
        : i === versionAt
          ? '{catalog}'
          : folder,
  );
  return { pattern: [...segments, '**'].join('/'), catalog: kept[catalogAt] };
}

function byVersion(a: string, b: string): number {
  const [x, y] = [tryParseMinor(a), tryParseMinor(b)];
  if (x && y) return x.major - y.major || x.minor - y.minor;
  return x ? -1 : y ? 1 : a < b ? -1 : 1;
}

/** Where the layout's patterns have bundle directories. */
import { type CompiledPattern, firstMatch, type Layout, type PatternSegment } from './layout.ts';

/** Folders of a bundle directory: what a pattern writes out before them leads to the directory. */
const OF_BUNDLE: ReadonlySet<string> = new Set(['manifests', 'metadata', 'tests']);

/** How many segments of a pattern lead to a bundle directory: to the package and version, and to a folder such as `bundle/` in it. */
export function bundleDepth({ segments }: CompiledPattern): number {
  // `{package}` and `{version}` say which bundle it is; a catalog has many.
  const isNamed = ({ names }: PatternSegment): boolean => names.some((name) => name !== 'catalog');
  const last = segments.findLastIndex(isNamed);
  // The directory ends before what varies, such as `**`, before a folder that every bundle has, and before a file's name.
  const after = segments.findIndex(
    ({ literal }, i) =>
      i > last && (literal === undefined || OF_BUNDLE.has(literal) || i === segments.length - 1),
  );
  return after < 0 ? segments.length : after;
}

/** The bundle directory that a path is in, by the first pattern that matches the path; empty if none does. */
export function bundleFolderOf({ patterns }: Layout, path: string): string {
  const pattern = patterns.find((one) => firstMatch([one], path) !== undefined);
  return pattern ? path.split('/').slice(0, bundleDepth(pattern)).join('/') : '';
}

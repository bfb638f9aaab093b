/** Names of the catalogs that patterns of a layout make. */
import { compareMinors, minorOfCatalog } from '../../../catalog/fbc/openshift.ts';
import { compareText } from '../../../catalog/go/text.ts';
import { compileLayout, patternDefect } from '../layout.ts';
import type { WrittenPattern } from '../policy-file.ts';

/**
 * The name that checks will give to the catalog of a path; undefined for a path in no catalog. Patterns that checks
 * refuse, such as those with a brace in the name of a folder, match nothing.
 */
export function catalogNamer(patterns: readonly WrittenPattern[]): (path: string) => string | undefined {
  const compiled = patterns.flatMap((one) => {
    const [pattern, name] = typeof one === 'string' ? [one] : [one.path, one.name];
    if (patternDefect(pattern) !== undefined) return [];
    return [{ layout: compileLayout([{ kind: 'catalog', pattern, name }]), root: rootName(pattern) }];
  });
  return (path) => {
    for (const { layout, root } of compiled) {
      const match = layout.match(path);
      if (match) return match.catalog ?? root;
    }
    return undefined;
  };
}

/** The name of the last folder before anything variable: where no `{catalog}` names the catalog, this folder is its own. */
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

/** Orders names of catalogs: those with a version first, by their versions. */
function byVersion(a: string, b: string): number {
  const [x, y] = [minorOfCatalog(a), minorOfCatalog(b)];
  if (x && y) return compareMinors(x, y) || compareText(a, b);
  if (x || y) return x ? -1 : 1;
  return compareText(a, b);
}

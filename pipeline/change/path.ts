/** What a changed path is: part of a package, of the gate itself, of the repository's root, or nothing known. */

import { compileLayout, type Layout, type PathKind } from '../policy/layout.ts';
import type { OwnersSource, Policy } from '../policy/policy.ts';

/** Beyond the kinds of the layout: files that name owners, the gate's own files, and the rest. */
export type Area = PathKind | 'owners' | 'gate' | 'root' | 'unknown';

export interface PlacedPath {
  readonly path: string;
  readonly area: Area;
  readonly package: string | undefined;
  readonly catalog: string | undefined;
  readonly version: string | undefined;
}

/** Says what paths are, under a policy. */
export function pathPlacer({ layout, owners }: Policy): (path: string) => PlacedPath {
  const sources = owners.sources.map(sourceMatcher);
  return (path) => {
    const unplaced = { path, package: undefined, catalog: undefined, version: undefined };
    if (isGatePath(path)) return { ...unplaced, area: 'gate' };
    const match = layout.match(path);
    const ownersOf = firstDefined(sources, (source) => source(path, layout));
    if (ownersOf !== undefined) return { ...unplaced, area: 'owners', package: ownersOf };
    if (match) {
      const { kind, ...names } = match;
      return { path, area: kind, ...names };
    }
    return { ...unplaced, area: path.includes('/') ? 'unknown' : 'root' };
  };
}

function firstDefined<T, R>(list: readonly T[], of: (item: T) => R | undefined): R | undefined {
  for (const item of list) {
    const found = of(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Says of which package a path names the owners, or undefined when it names none. */
function sourceMatcher({
  path: pattern,
}: OwnersSource): (path: string, layout: Layout) => string | undefined {
  if (pattern.startsWith('{dir}/')) {
    const name = pattern.slice('{dir}/'.length);
    // A file in the folder of all packages is of none of them, though it stands where their names do.
    return (path, layout) =>
      path.split('/').at(-1) === name ? layout.packageAt(path.slice(0, -name.length - 1)) : undefined;
  }
  const own = compileLayout([{ kind: 'packageConfig', pattern }]);
  return (path) => own.match(path)?.package;
}

const GATE = /^(?:\.github\/|(?:docs\/)?codeowners$|owners_aliases$)/i;

/** Whether a path decides who may change what, or what runs. */
export function isGatePath(path: string): boolean {
  return GATE.test(path);
}

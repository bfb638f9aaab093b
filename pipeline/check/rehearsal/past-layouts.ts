/**
 * The layout of a repository at the time of a merge: the policy of today may not know where catalogs were before.
 */
import { CORE_SCHEMA, dump, load } from 'js-yaml';
import { isObject } from '../../../catalog/go/shape.ts';
import type { MergedCommit } from '../../git/merged-commits.ts';
import type { Repository } from '../../git/repository.ts';
import { listFiles } from '../../git/tree.ts';
import type { Layout } from '../../policy/layout.ts';
import type { WrittenPattern } from '../../policy/policy-file.ts';
import type { KnownFacts } from '../../policy/setup/catalog-files.ts';
import { catalogNamer, catalogsIn } from '../../policy/setup/catalog-names.ts';
import { findLayout, type ReadEvidence, readEvidence } from '../../policy/setup/find-layout.ts';
import type { Link } from '../../policy/setup/links.ts';
import { layoutContradictions } from '../../policy/setup/prove.ts';
import type { CheckReport } from '../report.ts';

/** Rules whose errors another layout would explain. */
const SUSPECT =
  /^(?:layout\/|fbc\/|path\/(?:limits|mode)$|(?:channel|bundle)\/(?:duplicate|unknown|unlisted|name|reference)|channel\/(?:head|empty)|entry\/|package\/|graph\/(?:package|channel)-removed$|deprecation\/)/;

/** Whether a report may be wrong because the layout was another one. */
export function isSuspect({ findings }: CheckReport): boolean {
  return findings.some(({ rule, severity }) => severity === 'error' && SUSPECT.test(rule));
}

/** The layout under which to check a merge: that of the policy, another one, or none that fits. */
export type PastLayout =
  | { readonly kind: 'same'; readonly leftOut: LeftOutFiles }
  | { readonly kind: 'other'; readonly leftOut: LeftOutFiles; readonly patterns: readonly WrittenPattern[] }
  | { readonly kind: 'unclear'; readonly why: string };

/** Files that have blobs and are in no catalog, each with the reason. */
export type LeftOutFiles = ReadonlyMap<string, string>;

type LayoutAt = (merge: Pick<MergedCommit, 'id' | 'before'>) => Promise<PastLayout>;

/** Looks up layouts of merges; each commit is read once. */
export function pastLayouts({ objects }: Repository, layout: Layout): LayoutAt {
  const known: KnownFacts = new Map();
  const today = writtenOf(layout);
  const read = async (commit: string): Promise<ReadEvidence> =>
    readEvidence(objects, await listFiles(objects, await objects.treeOf(commit)), { known });
  return async ({ id, before }) => {
    const sides = [await read(before), await read(id)];
    // No layout says of a folder of catalogs that it is a link to another one.
    const link = linkToCatalog(sides);
    if (link)
      return { kind: 'unclear', why: `the layout changes: ${link.path} becomes a link to ${link.target}` };
    // A side without catalogs contradicts a layout only if that would take its templates for catalogs.
    const fitsBoth = (patterns: readonly WrittenPattern[]): boolean =>
      sides.every((side) =>
        side.catalogs.length === 0
          ? side.templates.every((path) => catalogNamer(patterns)(path) === undefined)
          : layoutContradictions(patterns, side).length === 0,
      );
    const reasons = sides.flatMap((side) => side.reasons);
    const leftOut = new Map(reasons.map(({ path, reason }) => [path, reason]));
    if (fitsBoth(today)) return { kind: 'same', leftOut };
    // The layout after the merge is tried first, then that before it, then both together.
    const layouts: (readonly WrittenPattern[])[] = [];
    for (const side of sides.toReversed()) layouts.push((await findLayout(side)).found.patterns);
    // Where the merge renames the files of its catalogs, each side has a pattern of its own.
    const names = sides.toReversed().map(({ catalogs }, i) =>
      catalogsIn(
        layouts[i] ?? [],
        catalogs.map(({ path }) => path),
      ).join(),
    );
    if (names[0] === names[1]) layouts.push(layouts.flat());
    for (const patterns of layouts)
      if (patterns.length > 0 && fitsBoth(patterns)) return { kind: 'other', leftOut, patterns };
    const [first] = sides.toReversed().flatMap((side) => layoutContradictions(today, side));
    return { kind: 'unclear', why: `the layout at the time is not clear: ${first}` };
  };
}

/** A link to a catalog in the place of another one. */
function linkToCatalog([before, after]: readonly ReadEvidence[]): Link | undefined {
  const isAt = (path: string, side?: ReadEvidence): boolean =>
    side?.catalogs.some((file) => `${file.path}/`.startsWith(`${path}/`)) === true;
  return after?.links.find(({ path, target }) => isAt(path, before) && isAt(target, after));
}

/** The patterns of catalogs as a policy writes them. */
function writtenOf({ patterns }: Layout): WrittenPattern[] {
  return patterns
    .filter(({ kind }) => kind === 'catalog')
    .map(({ pattern, name }) => (name === undefined ? pattern : { path: pattern, name }));
}

/** A policy with the catalogs of another layout, and everything else as it was. */
export function withLayout(policy: Uint8Array, catalog: readonly WrittenPattern[]): Uint8Array {
  const value: unknown = load(Buffer.from(policy).toString('utf8'), { schema: CORE_SCHEMA });
  const written = isObject(value) ? value : {};
  const layout = isObject(written['layout']) ? written['layout'] : {};
  return Buffer.from(
    dump({ ...written, layout: { ...layout, catalog } }, { schema: CORE_SCHEMA, lineWidth: -1 }),
  );
}

/** Edges that lead to a lower version, as rules about the order of versions see them. */
import { type EdgeField, edgeField, installedOf, skipRangeOf } from '../graph/edge.ts';
import { compareVersionReleases, versionReleaseOf } from '../graph/release.ts';
import type { Bundle, Channel, Entry, Package } from '../model.ts';
import { compareVersions, type Version, type VersionRange } from '../version.ts';

export interface LoweringEdge {
  readonly channel: Channel;
  readonly entry: Entry;
  readonly field: EdgeField;
  readonly to: Bundle;
  readonly from: Bundle;
  /** Whether the numbers are the same, and only a suffix makes the target lower. */
  readonly bySuffix: boolean;
}

/** Edges of a package to a bundle that sorts below the one it follows, or equal to it. */
export function loweringEdges(ofPackage: Package): LoweringEdge[] {
  return [...ofPackage.channels.values()].flatMap((channel) => {
    const here = channel.entries.flatMap(({ name }) => ofPackage.bundles.get(name) ?? []);
    const byName = new Map(here.map((bundle) => [bundle.name, bundle]));
    return channel.entries.flatMap((entry) => {
      const to = ofPackage.bundles.get(entry.name);
      if (!to?.version) return [];
      const named = [...new Set([entry.replaces, ...entry.skips])].flatMap((name) => byName.get(name) ?? []);
      // Most ranges end below their own version: then nothing newer needs to be looked at.
      const range = skipRangeOf(entry);
      const from = range && !endsBelow(range, to.version) ? here : named;
      return from.flatMap((bundle) => edgeBetween(bundle, to, { channel, entry }));
    });
  });
}

/** Whether a range holds neither a version nor anything above it. */
function endsBelow({ alternatives }: VersionRange, version: Version): boolean {
  return alternatives.every((comparators) =>
    comparators.some(({ operator, version: bound }) => {
      const order = compareVersions(bound, version);
      return operator === '<' ? order <= 0 : (operator === '<=' || operator === '=') && order < 0;
    }),
  );
}

function edgeBetween(
  from: Bundle,
  to: Bundle,
  { channel, entry }: { channel: Channel; entry: Entry },
): LoweringEdge[] {
  const field = from.name === to.name ? undefined : edgeField(entry, installedOf(from));
  if (!field || !from.version || !to.version || !isLower(to, from)) return [];
  return [{ channel, entry, field, to, from, bySuffix: sameNumbers(to.version, from.version) }];
}

function isLower(to: Bundle, from: Bundle): boolean {
  const [a, b] = [versionReleaseOf(to), versionReleaseOf(from)];
  return a !== undefined && b !== undefined && compareVersionReleases(a, b) <= 0;
}

function sameNumbers(a: Version, b: Version): boolean {
  return a.major === b.major && a.minor === b.minor && a.patch === b.patch;
}

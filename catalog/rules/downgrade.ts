/** Edges that lead to a lower version, as rules about the order of versions see them. */
import { type EdgeField, skipRangeOf } from '../fbc/edge.ts';
import type { Bundle, Channel, Entry, Package } from '../fbc/model.ts';
import { compareVersionReleases, type VersionRelease, versionReleaseOf } from '../olm/resolve/release.ts';
import { compareVersions, satisfies, type Version, type VersionRange } from '../version/version.ts';

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
      // As in `edgeField`, what is in both fields is replaced.
      const named = new Map<string, EdgeField>(entry.skips.map((name) => [name, 'skips']));
      named.set(entry.replaces, 'replaces');
      // Most ranges end below their own version: then nothing newer needs to be looked at.
      const range = skipRangeOf(entry);
      const isOpen = range !== undefined && !endsBelow(range, to.version);
      const from = isOpen ? here : [...named.keys()].flatMap((name) => byName.get(name) ?? []);
      const lowering = from.filter((bundle) => bundle.name !== to.name && isLower(to, bundle));
      return lowering.flatMap((bundle) => {
        const field = named.get(bundle.name) ?? (range && covers(range, bundle) ? 'skipRange' : undefined);
        return field ? [lowered({ channel, entry, field, to, from: bundle })] : [];
      });
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

function covers(range: VersionRange, { version }: Bundle): boolean {
  return version !== undefined && satisfies(version, range);
}

function lowered(edge: Omit<LoweringEdge, 'bySuffix'>): LoweringEdge {
  const [to, from] = [edge.to.version, edge.from.version];
  return { ...edge, bySuffix: to !== undefined && from !== undefined && sameNumbers(to, from) };
}

function isLower(to: Bundle, from: Bundle): boolean {
  const [a, b] = [orderOf(to), orderOf(from)];
  return a !== undefined && b !== undefined && compareVersionReleases(a, b) <= 0;
}

const orders = new WeakMap<Bundle, VersionRelease>();

/** What a bundle is ordered by; asked for each edge, it is read once. */
function orderOf(bundle: Bundle): VersionRelease | undefined {
  const known = orders.get(bundle);
  if (known) return known;
  const found = versionReleaseOf(bundle);
  if (found) orders.set(bundle, found);
  return found;
}

function sameNumbers(a: Version, b: Version): boolean {
  return a.major === b.major && a.minor === b.minor && a.patch === b.patch;
}

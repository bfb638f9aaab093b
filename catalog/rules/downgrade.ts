/** Edges that lead to a lower version, as rules about the order of versions see them. */
import { type EdgeField, skipRangeOf } from '../fbc/edge.ts';
import type { Bundle, Channel, Entry, Package } from '../fbc/model.ts';
import { groupedBy } from '../go/grouped.ts';
import { onceFor } from '../go/once.ts';
import { isUnstable } from '../names.ts';
import { compareInstalled } from '../olm/foresight/installation.ts';
import { compareVersionReleases, versionReleaseOf } from '../olm/resolve/release.ts';
import { satisfies } from '../version/satisfies.ts';
import { type Comparator, compareVersions, type Version, type VersionRange } from '../version/version.ts';

/** The newer versions that one field of an entry follows. */
export interface LoweringField {
  readonly channel: Channel;
  readonly entry: Entry;
  readonly field: EdgeField;
  readonly to: Bundle;
  /** How many bundles of the channel these are. */
  readonly count: number;
  /** The lowest of them, at most as many as were asked for. */
  readonly lowest: readonly Bundle[];
  readonly includes: (bundle: Bundle) => boolean;
}

/**
 * The fields of a channel's entries that follow bundles of the channel with a higher major, minor or patch version.
 * What a range covers is counted, never listed: thousands of open ranges cost no square of them.
 *
 * @param most how many of the newer bundles each field lists
 */
export function loweringFields(ofPackage: Package, channel: Channel, most: number): LoweringField[] {
  const ordered = orderedBundles(ofPackage, channel);
  const versions = ordered.map(({ version }) => version as Version);
  const positions = new Map(ordered.map(({ name }, position) => [name, position]));
  return channel.entries.flatMap((entry) => {
    const to = ofPackage.bundles.get(entry.name);
    if (!to?.version) return [];
    const from = firstAbove(versions, to.version);
    if (from === versions.length) return [];
    const isNewer = (name: string): boolean => (positions.get(name) ?? -1) >= from;
    // Entries may name each other a million times, and hardly any leads down.
    if (entry.skipRange === '' && !isNewer(entry.replaces) && !entry.skips.some(isNewer)) return [];
    const named = [...namedBy(entry)].flatMap(([name, by]) => {
      const position = positions.get(name) ?? -1;
      return position >= from ? [{ name, by, position }] : [];
    });
    const byName = new Map(named.map(({ name, by }) => [name, by]));
    const bundlesAt = (at: readonly number[]): Bundle[] => at.flatMap((position) => ordered[position] ?? []);
    const ofNames = (field: EdgeField): LoweringField => {
      const own = named.filter(({ by }) => by === field).map(({ position }) => position);
      const lowest = bundlesAt(own.sort((a, b) => a - b).slice(0, most));
      const includes = ({ name }: Bundle): boolean => byName.get(name) === field;
      return { channel, entry, field, to, count: own.length, lowest, includes };
    };
    const ofRange = (): LoweringField => {
      // An edge counts once: what a field names is not counted again for the range.
      const skipped = named.map(({ position }) => position);
      const covered = coveredAbove(skipRangeOf(entry), { versions, from, skipped, most });
      const includes = ({ name }: Bundle): boolean =>
        isNewer(name) && !byName.has(name) && covered.includes(positions.get(name) ?? -1);
      const lowest = bundlesAt(covered.lowest);
      return { channel, entry, field: 'skipRange', to, count: covered.count, lowest, includes };
    };
    return [ofNames('replaces'), ofNames('skips'), ofRange()].filter(({ count }) => count > 0);
  });
}

/** The bundles of a channel that have a version, the lowest first. */
function orderedBundles(ofPackage: Package, channel: Channel): Bundle[] {
  const here = new Set(channel.entries.flatMap(({ name }) => ofPackage.bundles.get(name) ?? []));
  return [...here].filter(({ version }) => version).sort(compareInstalled);
}

/** Names that an entry follows. As in `edgeField`, what is in both fields is replaced. */
function namedBy({ replaces, skips }: Entry): Map<string, EdgeField> {
  const named = new Map<string, EdgeField>(skips.map((name) => [name, 'skips']));
  named.set(replaces, 'replaces');
  return named;
}

/** Position of the first version with a higher major, minor or patch. */
function firstAbove(versions: readonly Version[], version: Version): number {
  let [low, high] = [0, versions.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const at = versions[middle] as Version;
    if (compareVersions(at, version) > 0 && !sameNumbers(at, version)) high = middle;
    else low = middle + 1;
  }
  return low;
}

interface Covered {
  readonly count: number;
  /** Positions of the lowest of them. */
  readonly lowest: readonly number[];
  readonly includes: (position: number) => boolean;
}

/**
 * Counts the versions from a position on that a range contains, except some that are skipped.
 *
 * @param most how many of the lowest are given
 */
function coveredAbove(
  range: VersionRange | undefined,
  {
    versions,
    from,
    skipped,
    most,
  }: {
    readonly versions: readonly Version[];
    readonly from: number;
    readonly skipped: readonly number[];
    readonly most: number;
  },
): Covered {
  const parts = (range ? intervalsOf(range, versions) : [])
    .map(({ start, end }): Interval => ({ start: Math.max(start, from), end }))
    .filter(({ start, end }) => start < end);
  const includes = (position: number): boolean =>
    parts.some(({ start, end }) => start <= position && position < end);
  const all = parts.reduce((sum, { start, end }) => sum + end - start, 0);
  const excluded = new Set(skipped.filter(includes));
  const lowest: number[] = [];
  for (const { start, end } of parts) {
    for (let at = start; at < end && lowest.length < most; at++) if (!excluded.has(at)) lowest.push(at);
  }
  return { count: all - excluded.size, lowest, includes };
}

/** An edge to a bundle that is lower than the one it follows, or equal to it, by nothing but a suffix. */
interface SuffixEdge {
  readonly channel: Channel;
  readonly entry: Entry;
  readonly field: EdgeField;
  readonly to: Bundle;
  readonly from: Bundle;
}

/** Edges of a package between bundles of the same numbers, to one that sorts below the other or equal to it. */
export function suffixEdges(ofPackage: Package): SuffixEdge[] {
  return [...ofPackage.channels.values()].flatMap((channel) => {
    const here = channel.entries.flatMap(({ name }) => ofPackage.bundles.get(name) ?? []);
    const byNumbers = groupedBy(here, numbersOf);
    return channel.entries.flatMap((entry) => {
      const to = ofPackage.bundles.get(entry.name);
      if (!to?.version) return [];
      const rivals = (byNumbers.get(numbersOf(to)) ?? []).filter(
        (bundle) => bundle.name !== to.name && isNotHigher(to, bundle),
      );
      if (rivals.length === 0) return [];
      const [named, range] = [namedBy(entry), skipRangeOf(entry)];
      return rivals.flatMap((from): SuffixEdge[] => {
        const field = named.get(from.name) ?? (range && covers(range, from) ? 'skipRange' : undefined);
        return field ? [{ channel, entry, field, to, from }] : [];
      });
    });
  });
}

/** The three numbers of a version. What has none is alone under its name: nothing can be compared with it. */
function numbersOf({ name, version }: Bundle): string {
  return version ? `${version.major}.${version.minor}.${version.patch}` : name;
}

function covers(range: VersionRange, { version }: Bundle): boolean {
  return version !== undefined && satisfies(version, range);
}

function isNotHigher(to: Bundle, from: Bundle): boolean {
  const [a, b] = [orderOf(to), orderOf(from)];
  return a !== undefined && b !== undefined && compareVersionReleases(a, b) <= 0;
}

/** The version and release by which a bundle is ordered, parsed once for all edges; undefined if it has no version. */
const orderOf = onceFor((bundle: Bundle) => versionReleaseOf(bundle));

function sameNumbers(a: Version, b: Version): boolean {
  return a.major === b.major && a.minor === b.minor && a.patch === b.patch;
}

/**
 * How far an upgrade lowers a version: 2 by its numbers, or from a release to a pre-release of it; 1 by another suffix,
 * which many operators use for rebuilds; 0 not at all.
 */
export function lowering(from: Version | undefined, to: Version | undefined): 0 | 1 | 2 {
  if (!from || !to || compareVersions(to, from) >= 0) return 0;
  return !sameNumbers(from, to) || isUnstable(to.prerelease.join('.')) ? 2 : 1;
}

// The part of a list of sorted versions that a range contains, as intervals of positions.

/** Positions from `start` on, before `end`. */
interface Interval {
  readonly start: number;
  readonly end: number;
}

/** The positions of sorted versions that a range covers: intervals in order, without overlap. */
export function intervalsOf(range: VersionRange, versions: readonly Version[]): Interval[] {
  const parts = range.alternatives
    .flatMap((comparators) => coveredBy(comparators, versions))
    .filter(({ start, end }) => start < end)
    .sort((a, b) => a.start - b.start);
  const joined: Interval[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (last && part.start <= last.end) {
      joined[joined.length - 1] = { start: last.start, end: Math.max(last.end, part.end) };
    } else joined.push(part);
  }
  return joined;
}

/** The interval that all comparators of an alternative allow, split where a version is excluded. */
function coveredBy(comparators: readonly Comparator[], versions: readonly Version[]): Interval[] {
  let [start, end] = [0, versions.length];
  const holes: Interval[] = [];
  for (const { operator, version } of comparators) {
    const at = { start: firstFrom(versions, version, 0), end: firstFrom(versions, version, 1) };
    if (operator === '!=') holes.push(at);
    if (operator === '=' || operator === '>=') start = Math.max(start, at.start);
    if (operator === '>') start = Math.max(start, at.end);
    if (operator === '=' || operator === '<=') end = Math.min(end, at.end);
    if (operator === '<') end = Math.min(end, at.start);
  }
  const parts: Interval[] = [];
  for (const hole of holes.sort((a, b) => a.start - b.start)) {
    parts.push({ start, end: Math.min(end, hole.start) });
    start = Math.max(start, hole.end);
  }
  return [...parts, { start, end }];
}

/** Position of the first version that is at least (0), or higher than (1), another. */
function firstFrom(versions: readonly Version[], version: Version, least: 0 | 1): number {
  let [low, high] = [0, versions.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareVersions(versions[middle] as Version, version) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The versions that clusters may have installed from a channel, in upgrade order. */

import { type Installed, installedOf, skipRangeOf } from '../../fbc/edge.ts';
import type { Bundle, Channel, Entry, Package } from '../../fbc/model.ts';
import { compareText } from '../../go/text.ts';
import { nameEnd } from '../../names.ts';
import { compareVersions, formatVersion, tryParseVersion, type Version } from '../../version/version.ts';
import { compareVersionReleases, withRelease } from '../resolve/release.ts';
import type { Place } from './suggested-channel.ts';

/** Why a channel cannot be put in order, in words. */
export class OrderError extends Error {}

export interface Ordered {
  /** Up to the head, which is the last. */
  readonly places: readonly Place[];
  /** Newer than the head. */
  readonly above: readonly Place[];
}

interface Sources {
  readonly ofPackage: Package;
  /** Names of the entries, of all bundles where the channel is new. */
  readonly names: readonly string[];
  /** Absent for a new channel. */
  readonly channel: Channel | undefined;
  readonly published: readonly Installed[];
  readonly head: string;
  readonly isCandidate: (bundle: Bundle) => boolean;
}

/**
 * Orders what may be installed by version.
 *
 * @throws OrderError where two entries have no order
 */
export function orderedPlaces({ ofPackage, names, channel, published, head, isCandidate }: Sources): Ordered {
  const bundles = [...new Set(names)].map((name) => bundleOf(ofPackage, name));
  const known = new Set(names);
  const entries = channel?.entries ?? [];
  // Of what is not in the channel, only the name is certain.
  const absent = namedBy(entries, published)
    .filter(({ name }) => !known.has(name))
    .map(({ name, version }): Place => {
      const own = ofPackage.bundles.get(name)?.version ?? version;
      return {
        name,
        version: own ?? versionInName(name),
        isCandidate: false,
        byName: true,
        byVersion: false,
      };
    });
  // Ranges also reach versions that nobody names: the bound, under a made-up name, stands for them.
  const bounds = boundsIn(entries)
    .map((version): Place => {
      const name = `${ofPackage.name}.v${formatVersion(version)}`;
      return { name, version, isCandidate: false, byName: false, byVersion: true };
    })
    .filter(({ name }) => !known.has(name) && !absent.some((one) => one.name === name));
  const present = bundles.map(
    (bundle): Place => ({
      ...installedOf(bundle),
      isCandidate: bundle.name === head || isCandidate(bundle),
      byName: false,
      byVersion: false,
    }),
  );
  const sorted = [...present, ...absent.filter(({ version }) => version), ...bounds].sort(compare);
  for (const place of absent) if (!place.version) insertPlace(sorted, place, entries);
  const at = sorted.findIndex(({ name }) => name === head);
  return { places: sorted.slice(0, at + 1), above: sorted.slice(at + 1) };
}

/**
 * The bundle of a name.
 *
 * @throws OrderError for one that is not there or has no version
 */
function bundleOf(ofPackage: Package, name: string): Bundle {
  const bundle = ofPackage.bundles.get(name);
  if (!bundle) throw new OrderError(`the bundle ${name} is not in the catalog`);
  if (!bundle.version) throw new OrderError(`the bundle ${name} has no version`);
  return bundle;
}

/**
 * Sorts places by version and release; an entry goes behind installations of its version.
 *
 * @throws OrderError for two entries of one version
 */
function compare(a: Place, b: Place): number {
  // Places without a version are inserted after sorting.
  if (!a.version || !b.version) return 0;
  const order = compareVersionReleases(withRelease(a.version), withRelease(b.version));
  if (order !== 0) return order;
  const isEntry = ({ byName, byVersion }: Place): boolean => !byName && !byVersion;
  if (isEntry(a) && isEntry(b) && a.name !== b.name) {
    throw new OrderError(
      `the bundles ${[a.name, b.name].sort(compareText).join(' and ')} have the same version`,
    );
  }
  return Number(isEntry(a)) - Number(isEntry(b)) || compareText(a.name, b.name);
}

/** What entries name, whether or not it is there, and what was published, the last first. */
function namedBy(entries: readonly Entry[], published: readonly Installed[]): Installed[] {
  const named = new Map<string, Installed>();
  // Entries may name each other a million times.
  const add = (name: string): void => {
    if (!named.has(name)) named.set(name, { name, version: undefined });
  };
  for (const { replaces, skips } of entries.toReversed()) {
    for (const name of skips.toReversed()) add(name);
    if (replaces !== '') add(replaces);
  }
  for (const one of published.toReversed()) named.set(one.name, one);
  return [...named.values()];
}

/** The version at the end of a bundle's name, as nearly all are called; that of something else may stand before it. */
function versionInName(name: string): Version | undefined {
  const end = nameEnd(name);
  for (const { 0: before, index } of end.matchAll(/[.-]v?(?=[0-9]+\.[0-9]+\.[0-9])/g)) {
    const version = tryParseVersion(end.slice(index + before.length));
    if (version) return version;
  }
  return undefined;
}

/**
 * Lower bounds of today's ranges: whatever is installed from there on follows some entry today. A `>` begins with no version
 * that could stand for it.
 */
function boundsIn(entries: readonly Entry[]): Version[] {
  const versions = entries.flatMap((entry) =>
    (skipRangeOf(entry)?.alternatives ?? []).flatMap((comparators) =>
      comparators.filter(({ operator }) => operator === '>=').map(({ version }) => version),
    ),
  );
  return [...new Map(versions.map((version) => [formatVersion(version), version])).values()].sort(
    compareVersions,
  );
}

/** Puts a name without a version right below the lowest entry that follows it. */
function insertPlace(sorted: Place[], place: Place, entries: readonly Entry[]): void {
  const following = new Set(
    entries
      .filter(({ replaces, skips }) => replaces === place.name || skips.includes(place.name))
      .map(({ name }) => name),
  );
  const at = sorted.findIndex(({ name }) => following.has(name));
  // What no entry of the list follows is the lowest.
  sorted.splice(Math.max(at, 0), 0, place);
}

/** Constraints for a suggested upgrade graph. */

import type { Minor } from '../../fbc/openshift.ts';
import { compareVersions, type Version } from '../../version/version.ts';

/**
 * Which versions an upgrade must not skip over. `today`: a direct upgrade is one that the catalog has today.
 * `minor` and `major`: the newest patch of each minor, or the newest version of each major, is a required stop.
 */
export type Stops = 'today' | 'minor' | 'major' | 'none';

/** How versions are divided into channels: as today, or by their numbers. */
export type ChannelScheme = 'today' | 'stable' | 'candidate' | 'minor' | 'major';

export interface GraphPolicy {
  readonly channels: readonly ChannelScheme[];
  readonly stops: Stops;
  /** Versions that no upgrade may skip over. */
  readonly required: readonly Version[];
  /** The newest patch of each stays installable. */
  readonly supported: readonly Minor[];
  /** Names of bundles that must not be installed any more. */
  readonly avoid: ReadonlySet<string>;
  /** `all`: every entry of today stays, even where no upgrade needs it. `offered`: and OLM v0 offers each, where it may. */
  readonly keep: 'needed' | 'all' | 'offered';
}

/** Whether the channels are those of today; else all of them are new. */
export function keepsChannels({ channels }: Pick<GraphPolicy, 'channels'>): boolean {
  return channels.includes('today');
}

export const AS_TODAY: GraphPolicy = {
  channels: ['today'],
  stops: 'today',
  required: [],
  supported: [],
  avoid: new Set(),
  keep: 'needed',
};

/** Required stops among versions, ascending. */
export function stopsAmong(versions: readonly Version[], { stops, required }: GraphPolicy): Version[] {
  const newest = new Map<string, Version>();
  for (const version of versions) {
    if (stops !== 'minor' && stops !== 'major') break;
    const group = stops === 'minor' ? `${version.major}.${version.minor}` : `${version.major}`;
    const known = newest.get(group);
    if (!known || compareVersions(version, known) > 0) newest.set(group, version);
  }
  const wanted = required.filter((stop) => versions.some((one) => compareVersions(one, stop) === 0));
  return [...newest.values(), ...wanted]
    .sort(compareVersions)
    .filter((version, i, all) => i === 0 || compareVersions(all[i - 1] as Version, version) !== 0);
}

/** Whether an upgrade from one version to another skips over no stop. */
export function skipsNoStop(stops: readonly Version[]): (from: Version, to: Version) => boolean {
  // No stop lies between: as many are below the target as are up to the start.
  return (from, to) => countBelow(stops, to, 0) <= countBelow(stops, from, 1);
}

/** How many ascending stops are below a version; with `orEqual` 1, those equal to it as well. */
function countBelow(stops: readonly Version[], version: Version, orEqual: 0 | 1): number {
  let low = 0;
  let high = stops.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareVersions(stops[middle] as Version, version) < orEqual) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Which of many entries follow what is installed: prepared once, asked for every installation.
 */

import { type Installed, skipRangeOf } from '../../fbc/edge.ts';
import type { Entry } from '../../fbc/model.ts';
import { type Naming, namingOf } from '../../fbc/naming.ts';
import { firstHolder } from '../../version/first-holder.ts';
import { satisfies } from '../../version/satisfies.ts';

/** Position of the first entry that follows an installation, or -1. */
export type FirstFollower = (installed: Installed) => number;

/** Lists of entries as channels have them. */
type Lists = readonly (readonly Entry[])[];

/**
 * Prepares entries in order of preference, most preferred first.
 *
 * @param lists the channels' lists that these entries are from
 */
export function firstFollower(entries: readonly Entry[], lists: Lists = [entries]): FirstFollower {
  const ranked = rankedLists(entries, lists);
  const byVersion = firstHolder(entries.map(skipRangeOf));
  // One name is asked for many times, and three hundred channels may have it.
  const byName = new Map<string, number>();
  const namedFirst = (name: string): number => {
    const known = name === '' ? -1 : byName.get(name);
    if (known !== undefined) return known;
    let first = -1;
    forNamed(ranked, name, (rank) => {
      if (first < 0 || rank < first) first = rank;
    });
    byName.set(name, first);
    return first;
  };
  return ({ name, version }) => {
    const named = namedFirst(name);
    const covering = version ? byVersion(version) : -1;
    return named < 0 || covering < 0 ? Math.max(named, covering) : Math.min(named, covering);
  };
}

/**
 * Positions of all entries that follow an installation, in their order; an absent entry follows none.
 *
 * @param lists the channels' lists that these entries are from
 */
export function followersOf(
  entries: readonly (Entry | undefined)[],
  lists: Lists = [entries.filter((entry) => entry !== undefined)],
): (installed: Installed) => readonly number[] {
  const ranked = rankedLists(entries, lists);
  const ranged = entries.flatMap((entry, position) => {
    const range = entry && skipRangeOf(entry);
    return range ? [{ position, range }] : [];
  });
  return ({ name, version }) => {
    const found = new Set<number>();
    forNamed(ranked, name, (rank) => found.add(rank));
    if (version) for (const { position, range } of ranged) if (satisfies(version, range)) found.add(position);
    return [...Int32Array.from(found).sort()];
  };
}

/** A list, with the rank of each of its entries, or -1. */
interface RankedList extends Naming {
  readonly ranks: Int32Array;
}

function rankedLists(entries: readonly (Entry | undefined)[], lists: Lists): readonly RankedList[] {
  const ranks = new Map(entries.map((entry, rank) => [entry, rank]));
  return lists.map((list) => ({
    ...namingOf(list),
    ranks: Int32Array.from(list, (entry) => ranks.get(entry) ?? -1),
  }));
}

function forNamed(lists: readonly RankedList[], name: string, see: (rank: number) => void): void {
  for (const { ranks, replacing, skipping } of lists) {
    for (const positions of [replacing(name), skipping(name)]) {
      for (const position of positions) {
        const rank = ranks[position] ?? -1;
        if (rank >= 0) see(rank);
      }
    }
  }
}

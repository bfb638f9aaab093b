/**
 * Which of many entries follow what is installed: prepared once, asked for every installation.
 */
import { type Installed, skipRangeOf } from '../../fbc/edge.ts';
import type { Entry } from '../../fbc/model.ts';
import { type Naming, namingOf } from '../../fbc/naming.ts';
import { firstHolder, satisfies } from '../../version/satisfies.ts';
import type { VersionRange } from '../../version/version.ts';

/** Position of the first entry that follows an installation, or -1. */
export type FirstFollower = (installed: Installed) => number;

/** Lists of entries as channels have them. */
type Lists = readonly (readonly Entry[])[];

/**
 * Finds the first of these entries that follows an installation. They come in order of preference, most preferred
 * first.
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
    // The first of the two; -1 stands for none.
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
  const ranged = rangedIn(entries);
  return ({ name, version }) => {
    // A typed array sorts by number, not by text.
    const found = new Set<number>();
    forNamed(ranked, name, (rank) => found.add(rank));
    if (version) for (const { position, range } of ranged) if (satisfies(version, range)) found.add(position);
    return [...Int32Array.from(found).sort()];
  };
}

/**
 * Position of the first entry of another name that follows an installation, or -1.
 *
 * @param lists the channels' lists that these entries are from
 */
export function firstOtherFollower(entries: readonly (Entry | undefined)[], lists: Lists): FirstFollower {
  const ranked = rankedLists(entries, lists);
  const ranged = rangedIn(entries);
  return ({ name, version }) => {
    let first = entries.length;
    const see = (rank: number): void => {
      if (rank < first && entries[rank]?.name !== name) first = rank;
    };
    forNamed(ranked, name, see);
    if (version) {
      for (const { position, range } of ranged) {
        if (position >= first) break;
        if (satisfies(version, range)) see(position);
      }
    }
    return first < entries.length ? first : -1;
  };
}

/** The entries that have a range, with their positions. */
function rangedIn(entries: readonly (Entry | undefined)[]): { position: number; range: VersionRange }[] {
  return entries.flatMap((entry, position) => {
    const range = entry && skipRangeOf(entry);
    return range ? [{ position, range }] : [];
  });
}

/** A list, with the rank of each of its entries, or -1. */
interface RankedList extends Naming {
  readonly ranks: Int32Array;
}

/** The lists that name a bundle. */
type ListsNaming = (name: string) => readonly RankedList[];

/** From so many on, lists are looked up by what they name: one may have a thousand that name one bundle each. */
const MANY = 8;

/** The lists that may name a bundle: of few lists all, of many only those that do, so that a look-up does not see each list. */
function rankedLists(entries: readonly (Entry | undefined)[], lists: Lists): ListsNaming {
  const ranks = new Map(entries.map((entry, rank) => [entry, rank]));
  const ranked = lists.map((list) => ({
    ...namingOf(list),
    ranks: Int32Array.from(list, (entry) => ranks.get(entry) ?? -1),
  }));
  if (lists.length < MANY) return () => ranked;
  const byName = new Map<string, RankedList[]>();
  for (const list of ranked) {
    for (const name of list.names()) {
      const known = byName.get(name);
      if (!known) byName.set(name, [list]);
      // A list may name a bundle twice, one after the other in this loop.
      else if (known.at(-1) !== list) known.push(list);
    }
  }
  return (name) => byName.get(name) ?? [];
}

/** Calls `see` with the rank of each entry that replaces or skips a bundle. */
function forNamed(lists: ListsNaming, name: string, see: (rank: number) => void): void {
  for (const { ranks, replacing, skipping } of lists(name)) {
    for (const positions of [replacing(name), skipping(name)]) {
      for (const position of positions) {
        const rank = ranks[position] ?? -1;
        if (rank >= 0) see(rank);
      }
    }
  }
}

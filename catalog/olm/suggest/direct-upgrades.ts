/** The direct upgrades that today's entries have. */
import type { Installed } from '../../fbc/edge.ts';
import type { Entry } from '../../fbc/model.ts';
import { followersOf } from '../resolve/followers.ts';
import type { Place } from './suggested-channel.ts';

/** Names of the entries that follow something installed. */
export type Followers = (installed: Installed) => ReadonlySet<string>;

/** Whether an installation may be upgraded directly to another place. */
export type May = (from: Place, to: Place) => boolean;

export function followersAmong(entries: readonly Entry[]): Followers {
  const positions = followersOf(entries, [entries]);
  const known = new Map<string, ReadonlySet<string>>();
  return (installed) => {
    const key = JSON.stringify([installed.name, installed.version]);
    const found =
      known.get(key) ?? new Set(positions(installed).map((position) => entries[position]?.name ?? ''));
    known.set(key, found);
    return found;
  };
}

/**
 * Allows the direct upgrades that today's entries have. What has none is stranded today: it may go where what it leads
 * to goes, else where the version below it may go, else to the next version.
 *
 * @param places the lowest first
 */
export function upgradesOfToday(places: readonly Place[], followed: Followers): May {
  const position = new Map(places.map(({ name }, i) => [name, i]));
  const above = places.map((place, i) => {
    const found: number[] = [];
    for (const name of followed(place)) {
      const to = position.get(name) ?? -1;
      if (to > i) found.push(to);
    }
    return found;
  });
  const isCandidate = (at: number): boolean => places[at]?.isCandidate === true;
  const allowed: ReadonlySet<number>[] = [];
  const reach: ReadonlySet<number>[] = [];
  const nextCandidate: (number | undefined)[] = [];
  for (let i = places.length - 1; i >= 0; i--) {
    nextCandidate[i] = isCandidate(i + 1) ? i + 1 : nextCandidate[i + 1];
    const direct = (above[i] ?? []).filter(isCandidate);
    reach[i] = direct.length > 0 ? new Set(direct) : unionOf(above[i] ?? [], reach);
  }
  let below: ReadonlySet<number> = new Set();
  for (const i of places.keys()) {
    const own = reach[i] as ReadonlySet<number>;
    const inherited = own.size > 0 ? own : new Set([...below].filter((to) => to > i));
    const next = nextCandidate[i];
    allowed[i] = inherited.size > 0 ? inherited : new Set(next === undefined ? [] : [next]);
    below = allowed[i] as ReadonlySet<number>;
  }
  return (from, to) => {
    const [a, b] = [position.get(from.name), position.get(to.name)];
    return a !== undefined && b !== undefined && (allowed[a]?.has(b) ?? false);
  };
}

/** What some positions reach. Entries may name each other a million times. */
function unionOf(positions: readonly number[], reach: readonly ReadonlySet<number>[]): Set<number> {
  const all = new Set<number>();
  for (const position of positions) for (const to of reach[position] ?? []) all.add(to);
  return all;
}

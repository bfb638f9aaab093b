/**
 * Which of many entries follow what is installed: prepared once, asked for every installation.
 */

import { type Installed, skipRangeOf } from '../../fbc/edge.ts';
import type { Entry } from '../../fbc/model.ts';
import { satisfies, type VersionRange } from '../../version/version.ts';
import { firstHolder } from './first-holder.ts';

/** Position of the first entry that follows an installation, or -1. */
export type FirstFollower = (installed: Installed) => number;

/** Prepares entries in order of preference, most preferred first. */
export function firstFollower(entries: readonly Entry[]): FirstFollower {
  const byName = new Map<string, number>();
  for (const [position, { replaces, skips }] of entries.entries()) {
    for (const name of [replaces, ...skips]) {
      if (name !== '' && !byName.has(name)) byName.set(name, position);
    }
  }
  const byVersion = firstHolder(entries.map(skipRangeOf));
  return ({ name, version }) => {
    const named = byName.get(name) ?? -1;
    const covering = version ? byVersion(version) : -1;
    return named < 0 || covering < 0 ? Math.max(named, covering) : Math.min(named, covering);
  };
}

/** Positions of all entries that follow an installation, in their order; an absent entry follows none. */
export function followersOf(
  entries: readonly (Entry | undefined)[],
): (installed: Installed) => readonly number[] {
  const byName = new Map<string, number[]>();
  const ranged: { position: number; range: VersionRange }[] = [];
  for (const [position, entry] of entries.entries()) {
    if (!entry) continue;
    for (const name of new Set([entry.replaces, ...entry.skips])) {
      const known = byName.get(name);
      if (known) known.push(position);
      else byName.set(name, [position]);
    }
    const range = skipRangeOf(entry);
    if (range) ranged.push({ position, range });
  }
  return ({ name, version }) => {
    const named = byName.get(name) ?? [];
    if (!version || ranged.length === 0) return named;
    const covering = ranged.filter(({ range }) => satisfies(version, range)).map(({ position }) => position);
    return [...new Set([...named, ...covering])].sort((a, b) => a - b);
  };
}

/**
 * The first of many entries, in an order of preference, that follows what is installed:
 * prepared once, asked for every installation.
 */
import type { Entry } from '../model.ts';
import { type Installed, skipRangeOf } from './edge.ts';
import { firstHolder } from './first-holder.ts';

/** Position of the first entry that follows an installation, or -1. */
export type FirstFollower = (installed: Installed) => number;

/** Prepares entries that stand in order of preference, the first most preferred. */
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

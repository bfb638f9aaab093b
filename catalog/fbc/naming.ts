/**
 * Which entries of a list name a bundle: found once for each list, since every resolver and most rules ask for it.
 * A list of a thousand entries may skip a million names.
 */
import type { Entry } from './model.ts';

/** Positions in a list of entries, ascending. */
type Positions = readonly number[];

export interface Naming {
  /** The entries that replace a bundle of that name. */
  readonly replacing: (name: string) => Positions;
  /** The entries that skip it. */
  readonly skipping: (name: string) => Positions;
  /** All names that are replaced or skipped, some of them twice. */
  readonly names: () => Iterable<string>;
}

const NOWHERE: Positions = [];

type ByName = Map<string, Positions>;

/** Both by name; the empty name stands for what replaces nothing, too. */
interface Named {
  readonly replaced: ByName;
  readonly skipped: ByName;
}

const namings = new WeakMap<readonly Entry[], Named>();
const bases = new WeakMap<readonly Entry[], readonly Entry[]>();

/** The entries of a channel by the names that they replace and skip, found once for a list. */
export function namingOf(entries: readonly Entry[]): Naming {
  const { replaced, skipped } = namedIn(entries);
  return {
    replacing: (name) => replaced.get(name) ?? NOWHERE,
    skipping: (name) => skipped.get(name) ?? NOWHERE,
    names: () => [...replaced.keys(), ...skipped.keys()],
  };
}

/**
 * Tells that a list differs from another in few entries, which are other objects: no more than these is looked at
 * when somebody asks for its naming.
 */
export function basedOn(entries: readonly Entry[], base: readonly Entry[]): void {
  if (entries !== base && entries.length >= base.length) bases.set(entries, base);
}

/** Where a list names each name, out of what is known of the list that it is based on. */
function namedIn(entries: readonly Entry[]): Named {
  const found = namings.get(entries);
  if (found) return found;
  const base = bases.get(entries);
  const named = base ? changedNaming(namedIn(base), base, entries) : allNamed(entries);
  namings.set(entries, named);
  return named;
}

/** Where a list names each name, found by looking at every entry. */
function allNamed(entries: readonly Entry[]): Named {
  const replaced = new Map<string, number[]>();
  const skipped = new Map<string, number[]>();
  for (const [position, { replaces, skips }] of entries.entries()) {
    push(replaced, replaces, position);
    for (const name of skips) push(skipped, name, position);
  }
  return { replaced, skipped };
}

/** Adds a position to those of a name, once. */
function push(byName: Map<string, number[]>, name: string, position: number): void {
  const positions = byName.get(name);
  if (!positions) byName.set(name, [position]);
  // An entry may skip a name twice.
  else if (positions[positions.length - 1] !== position) positions.push(position);
}

/** The naming of entries that differ little from others, made from the naming of these. */
function changedNaming(
  { replaced, skipped }: Named,
  base: readonly Entry[],
  entries: readonly Entry[],
): Named {
  const named = { replaced: new Map(replaced), skipped: new Map(skipped) };
  for (const [position, entry] of entries.entries()) {
    const old = base[position];
    if (old === entry) continue;
    moveNames(named.replaced, position, { from: old ? [old.replaces] : [], to: [entry.replaces] });
    moveNames(named.skipped, position, { from: old?.skips ?? [], to: entry.skips });
  }
  return named;
}

/** Updates an index of positions by name, for an entry whose names change. */
function moveNames(
  byName: ByName,
  position: number,
  { from, to }: { readonly from: readonly string[]; readonly to: readonly string[] },
): void {
  const [before, after] = [new Set(from), new Set(to)];
  for (const name of before) {
    if (after.has(name)) continue;
    const others = (byName.get(name) ?? NOWHERE).filter((one) => one !== position);
    byName.set(name, others);
  }
  for (const name of after) {
    if (before.has(name)) continue;
    const positions = [...(byName.get(name) ?? NOWHERE), position].sort((a, b) => a - b);
    byName.set(name, positions);
  }
}

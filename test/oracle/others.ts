/** Harm that is not an installation's own: what a neighbor in its namespace holds back, and what users pinned. */
import { prerelease } from 'semver';
import { otherOf, type State, versionsOf } from './repository-state.ts';
import { allows, candidatesUnderV0, type Installation } from './resolvers.ts';

/**
 * Installations that OLM v0 upgraded before beside one of the other package, or that were at a head, and that it no longer
 * upgrades.
 *
 * @param elsewhere the state before with all that versions require in another catalog of the clusters: who was held back
 *   with it is held back by nothing new
 */
export function heldPairs(
  all: readonly Installation[],
  { before, elsewhere, after }: Readonly<Record<'before' | 'elsewhere' | 'after', State>>,
): Installation[] {
  const underV0 = all.filter(({ olm }) => olm === 'v0');
  const byPlace = new Map<string, Installation>();
  for (const one of underV0)
    byPlace.set([one.catalog, one.package, one.channel, one.version].join(' '), { ...one, stored: [] });
  const each = [...byPlace.values()];
  return each.filter((one) =>
    each.some(
      (other) =>
        other.catalog === one.catalog &&
        other.package === otherOf(one.package) &&
        isListed(other, after) &&
        isTogether(one, other, before) &&
        !isHeld(one, other, before) &&
        !isHeld(one, other, elsewhere) &&
        isHeld(one, other, after),
    ),
  );
}

/** Whether a version is still in its catalog: what others require is not known. */
function isListed({ catalog, package: name, version }: Installation, state: State): boolean {
  const one = state[catalog]?.[name];
  return one !== undefined && versionsOf(one).includes(version);
}

/** Whether a namespace can have both. */
function isTogether(one: Installation, other: Installation, state: State): boolean {
  const { [one.package]: own, [other.package]: its } = state[one.catalog] ?? {};
  return allows(own, one.version, other.version) && allows(its, other.version, one.version);
}

/** Whether an upgrade is possible only without another installation: neither as it is nor after upgrades of its own. */
function isHeld(one: Installation, other: Installation, state: State): boolean {
  const catalog = state[one.catalog] ?? {};
  // The resolver takes the first that goes together.
  const nexts = candidatesUnderV0(catalog, one);
  if (nexts.length === 0) return false;
  const { [one.package]: own, [other.package]: its } = catalog;
  const together = (mine: string, theirs: string): boolean =>
    allows(own, mine, theirs) && allows(its, theirs, mine);
  const reached = new Set([other.version]);
  // What is added while a set is gone through is gone through as well.
  for (const version of reached) {
    const steps = [version, ...candidatesUnderV0(catalog, { ...other, version })];
    if (nexts.some((next) => steps.some((step) => together(next, step)))) return false;
    for (const step of steps) if (together(one.version, step)) reached.add(step);
  }
  return true;
}

/** Versions that were meant to be installed and are no longer in a channel that stays. */
export function lostPins(before: State, after: State): Installation[] {
  return Object.entries(before).flatMap(([catalog, packages]) =>
    Object.entries(packages).flatMap(([name, { channels }]) =>
      Object.entries(channels).flatMap(([channel, entries]) => {
        const now = after[catalog]?.[name]?.channels[channel];
        const skipped = entries.flatMap(({ skips = [] }) => skips);
        const isGone = ({ version }: { readonly version: string }): boolean =>
          !skipped.includes(version) &&
          prerelease(version) === null &&
          !now?.some((one) => one.version === version);
        return now === undefined
          ? []
          : entries.filter(isGone).map(({ version }) => ({
              ...{ catalog, package: name, channel, version, stored: [] },
              olm: 'v0' as const,
            }));
      }),
    ),
  );
}

/** Every installation that there can be after the states of a base branch, with what its cluster may have stored. */

import { type Catalog, isHeldBack, minorOf, type State } from './repository-state.ts';
import { type Installation, isMet, stepOf, type View, viewOf } from './resolvers.ts';

/** @param states all that the base branch was, the newest last */
export function installationsIn(states: readonly State[]): Installation[] {
  let found: Installation[] = [];
  for (const state of states)
    found = reachedIn(viewOf(state, states), [...found, ...freshIn(viewOf(state, states))]);
  return found;
}

export function keyOf({ catalog, package: name, channel, version, olm, stored }: Installation): string {
  return [catalog, name, channel, version, olm, ...stored].join(' ');
}

/** Installations, and all that they become while a state lasts: some clusters upgrade, others do not yet. */
function reachedIn(view: View, start: readonly Installation[]): Installation[] {
  const found = new Map<string, Installation>();
  const waiting = [...start];
  for (let one = waiting.pop(); one; one = waiting.pop()) {
    if (found.has(keyOf(one))) continue;
    found.set(keyOf(one), one);
    const step = stepOf(view, one);
    if (step.kind === 'upgrade') waiting.push(step.to);
    else waiting.push(...movedFrom(view, one));
  }
  return [...found.values()];
}

/** Where an installation goes from the end of its upgrades, when its cluster's platform is upgraded. */
function movedFrom(view: View, one: Installation): Installation[] {
  const own = view.state[one.catalog]?.[one.package];
  if (!own || stepOf(view, one).kind !== 'stays') return [];
  return platformsAfter(one.catalog, view.state)
    .filter((next) => view.state[next]?.[one.package] && !isHeldBack(own, one.version, next))
    .map((next) => ({ ...one, catalog: next }));
}

/** The next catalog that there is, if any, and for an even version of the platform the next even one. */
export function platformsAfter(catalog: string, state: State): string[] {
  const names = Object.keys(state).filter((name) => Object.keys(state[name] ?? {}).length > 0);
  const [next, second] = names.filter((name) => minorOf(name) > minorOf(catalog));
  const skips = minorOf(catalog) % 2 === 0 && second && minorOf(second) === minorOf(catalog) + 2;
  return [...(next ? [next] : []), ...(skips ? [second] : [])];
}

/** What can be installed anew in a state: with either OLM, with the channel selected or none. */
export function freshIn(view: View): Installation[] {
  return Object.entries(view.state).flatMap(([catalog, packages]) =>
    Object.entries(packages).flatMap(([name, { channels }]) =>
      Object.entries(channels).flatMap(([channel, entries]) =>
        entries.flatMap(({ version }) => {
          const crd = view.crdOf({ catalog, package: name, version });
          const one = { catalog, package: name, channel, version, stored: crd ? [crd.stored] : [] };
          return waysToInstall(packages, one);
        }),
      ),
    ),
  );
}

function waysToInstall(catalog: Catalog, one: Omit<Installation, 'olm'>): Installation[] {
  return (['v0', 'v1'] as const)
    .map((olm) => ({ ...one, olm }))
    .filter((way) => isInstallable(catalog, way))
    .flatMap((way) => [way, { ...way, channel: '' }]);
}

/** OLM v0 installs what a bundle requires as well; OLM v1 installs nothing that requires anything. */
function isInstallable(catalog: Catalog, { package: name, version, olm }: Installation): boolean {
  return catalog[name]?.requires[version] === undefined || (olm === 'v0' && isMet(catalog, name, version));
}

/** Subscriptions of OLM v0 that name no channel. */
import { headsOf } from '../../fbc/channel.ts';
import type { Installed } from '../../fbc/edge.ts';
import type { Package } from '../../fbc/model.ts';
import { hasRequirements } from '../resolve/next-v0.ts';
import { type Fails, type Upgrade, upgradeOf } from '../resolve/outcome.ts';
import { type Lane, lanesOf } from '../resolve/snapshot.ts';
import type { World } from './world.ts';

/** Where a subscription that names no channel ends. */
export interface EndWithoutChannel {
  readonly at: Installed;
  /** Why it fails there, if it does. */
  readonly fails: Fails | undefined;
  /** How many upgrades it takes. */
  readonly hops: number;
  /** Whether the end is the head of any channel. */
  readonly arrives: boolean;
}

/**
 * Follows the upgrades of a subscription to a package that names no channel, once around a circle at most. OLM v0 looks
 * for the next bundle in the default channel first, then in the others by name.
 *
 * @see https://github.com/operator-framework/operator-lifecycle-manager/blob/master/pkg/controller/registry/resolver/resolver.go
 */
export function endWithoutChannel(world: World, name: string, installed: Installed): EndWithoutChannel {
  const ofWorld = walks.get(world) ?? new Map<string, Walk>();
  walks.set(world, ofWorld);
  const walk = ofWorld.get(name) ?? new Walk(world, name);
  ofWorld.set(name, walk);
  return walk.follow(installed);
}

const walks = new WeakMap<World, Map<string, Walk>>();

/** The upgrades of one package, whose common parts are walked once. */
class Walk {
  readonly #world: World;
  readonly #name: string;
  readonly #package: Package | undefined;
  readonly #lanes: (installed: Installed) => readonly Lane[];
  readonly #heads: ReadonlySet<string>;
  /** Ends of the bundles that are in the catalog. */
  readonly #ends = new Map<string, EndWithoutChannel>();

  constructor(world: World, name: string) {
    this.#world = world;
    this.#name = name;
    this.#package = world.catalog.packages.get(name);
    this.#lanes = lanesThatMatter(this.#package ? lanesOf(this.#package) : []);
    const channels = [...(this.#package?.channels.values() ?? [])];
    this.#heads = new Set(channels.flatMap(headsOf).map((head) => head.name));
  }

  follow(installed: Installed): EndWithoutChannel {
    const path: Installed[] = [];
    const seen = new Map<string, number>();
    for (let at = installed; ; ) {
      const known = this.#isOwn(at) ? this.#ends.get(at.name) : undefined;
      if (known) return this.#unwind(path, known);
      seen.set(at.name, path.length);
      const { fails, next } = this.#step(at);
      // One channel without an order keeps all of them from being resolved.
      if (fails || !next) {
        const arrives = !fails && this.#heads.has(at.name);
        return this.#unwind(path, this.#keep(at, { at, fails, hops: 0, arrives }));
      }
      path.push(at);
      const start = seen.get(next.to.name);
      if (start !== undefined) return this.#unwind(path.slice(0, start), this.#circle(path.slice(start)));
      at = next.to;
    }
  }

  #step(installed: Installed): { readonly fails: Fails | undefined; readonly next: Upgrade | undefined } {
    const { foresight } = this.#world;
    const outcomes = this.#lanes(installed).map(
      ({ channel }) => foresight.v0({ package: this.#name, channel }, installed).next,
    );
    return {
      fails: outcomes.find((outcome) => outcome.kind === 'fails'),
      next: outcomes.map(upgradeOf).find((upgrade) => upgrade !== undefined),
    };
  }

  /** What is installed may differ from the catalog's bundle of that name: only the latter is kept. */
  #isOwn({ name, version }: Installed): boolean {
    const own = this.#package?.bundles.get(name);
    return own !== undefined && own.version === version;
  }

  #keep(installed: Installed, end: EndWithoutChannel): EndWithoutChannel {
    if (this.#isOwn(installed)) this.#ends.set(installed.name, end);
    return end;
  }

  /** Each bundle of a circle ends at the one before it. Returns the end of the first. */
  #circle(members: readonly Installed[]): EndWithoutChannel {
    const [first] = members;
    const ends = members.map((_, i) => {
      const at = members.at(i - 1) as Installed;
      return { at, fails: undefined, hops: members.length - 1, arrives: false };
    });
    // From another version than the catalog's, the others of the circle may go elsewhere.
    if (first && this.#isOwn(first))
      for (const [i, end] of ends.entries()) this.#keep(members[i] ?? first, end);
    return ends[0] as EndWithoutChannel;
  }

  #unwind(path: readonly Installed[], end: EndWithoutChannel): EndWithoutChannel {
    let current = end;
    for (const from of [...path].reverse()) {
      current = this.#keep(from, { ...current, hops: current.hops + 1 });
    }
    return current;
  }
}

/** The lanes of which a bundle may be upgraded or that may fail, in their order: with any other one it stays. */
function lanesThatMatter(lanes: readonly Lane[]): (installed: Installed) => readonly Lane[] {
  const always = new Set(lanes.filter(isAlwaysAsked));
  const naming = new Map<string, Lane[]>();
  for (const lane of lanes) {
    if (always.has(lane)) continue;
    for (const { replaces, skips } of lane.entries) {
      for (const name of [replaces, ...skips]) {
        const known = naming.get(name);
        if (!known) naming.set(name, [lane]);
        else if (known.at(-1) !== lane) known.push(lane);
      }
    }
  }
  const ranks = new Map(lanes.map((lane, rank) => [lane, rank]));
  const rankOf = (lane: Lane): number => ranks.get(lane) ?? 0;
  return ({ name }) => [...always, ...(naming.get(name) ?? [])].sort((a, b) => rankOf(a) - rankOf(b));
}

/** Whether a lane may fail, or may upgrade a bundle that no entry names. */
function isAlwaysAsked(lane: Lane): boolean {
  const { nodes, candidates, entries } = lane;
  return (
    nodes.length === 0 ||
    candidates.kind !== 'ordered' ||
    hasRequirements(lane) ||
    entries.some(({ skipRange }) => skipRange !== '')
  );
}

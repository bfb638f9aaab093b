/** Subscriptions of OLM v0 that name no channel. */
import { headsOf } from '../../fbc/channel.ts';
import type { Installed } from '../../fbc/edge.ts';
import type { Fails } from '../resolve/outcome.ts';
import { lanesOf } from '../resolve/snapshot.ts';
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

const known = new WeakMap<World, Map<string, Map<string, EndWithoutChannel>>>();

/**
 * Follows the upgrades of a subscription to a package that names no channel, once around a circle at most. OLM v0 looks
 * for the next bundle in the default channel first, then in the others by name.
 *
 * @see https://github.com/operator-framework/operator-lifecycle-manager/blob/master/pkg/controller/registry/resolver/resolver.go
 */
export function endWithoutChannel(world: World, name: string, installed: Installed): EndWithoutChannel {
  const ends = endsOf(world, name);
  const path = new Set<string>();
  for (let at = installed; ; ) {
    const rest = ends.get(at.name);
    if (rest) return kept(ends, path, { ...rest, hops: rest.hops + 1 }) ?? rest;
    path.add(at.name);
    const { fails, next, isHead } = stepOf(world, name, at);
    const hasCircle = next !== undefined && path.has(next.name);
    if (fails || !next || hasCircle) {
      const end = { at, fails, hops: 0, arrives: !fails && !next && isHead };
      // Around a circle, each bundle ends at another one.
      return hasCircle ? { ...end, hops: path.size - 1 } : (kept(ends, path, end) ?? end);
    }
    at = next;
  }
}

function endsOf(world: World, name: string): Map<string, EndWithoutChannel> {
  const ofWorld = known.get(world) ?? new Map<string, Map<string, EndWithoutChannel>>();
  known.set(world, ofWorld);
  const ends = ofWorld.get(name) ?? new Map<string, EndWithoutChannel>();
  ofWorld.set(name, ends);
  return ends;
}

/** Keeps the end of all bundles on a path, which is asked for of many. @returns that of the first one */
function kept(
  ends: Map<string, EndWithoutChannel>,
  path: ReadonlySet<string>,
  last: EndWithoutChannel,
): EndWithoutChannel | undefined {
  let end: EndWithoutChannel | undefined;
  for (const [i, one] of [...path].reverse().entries()) {
    end = { ...last, hops: last.hops + i };
    ends.set(one, end);
  }
  return end;
}

interface Step {
  readonly fails: Fails | undefined;
  readonly next: Installed | undefined;
  /** Whether the bundle is the head of any channel. */
  readonly isHead: boolean;
}

/** The next bundle. One channel without an order keeps all of them from being resolved. */
function stepOf({ catalog, foresight }: World, name: string, at: Installed): Step {
  const ofPackage = catalog.packages.get(name);
  const outcomes = (ofPackage ? lanesOf(ofPackage) : []).map(
    ({ channel }) => foresight.v0({ package: name, channel }, at).next,
  );
  const fails = outcomes.find((outcome) => outcome.kind === 'fails');
  const next = outcomes.find((outcome) => outcome.kind === 'upgrade')?.to;
  const heads = fails || next ? [] : [...(ofPackage?.channels.values() ?? [])].flatMap(headsOf);
  return { fails, next, isHead: heads.some((head) => head.name === at.name) };
}

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

/**
 * Follows the upgrades of a subscription to a package that names no channel, once around a circle at most. OLM v0 looks
 * for the next bundle in the default channel first, then in the others by name.
 *
 * @see https://github.com/operator-framework/operator-lifecycle-manager/blob/master/pkg/controller/registry/resolver/resolver.go
 */
export function endWithoutChannel(
  { catalog, foresight }: World,
  name: string,
  installed: Installed,
): EndWithoutChannel {
  const ofPackage = catalog.packages.get(name);
  const lanes = ofPackage ? lanesOf(ofPackage) : [];
  const seen = new Set<string>();
  for (let at = installed; ; ) {
    seen.add(at.name);
    const outcomes = lanes.map(({ channel }) => foresight.v0({ package: name, channel }, at).next);
    const fails = outcomes.find((outcome) => outcome.kind === 'fails');
    const next = outcomes.find((outcome) => outcome.kind === 'upgrade');
    // One channel without an order keeps all of them from being resolved.
    if (fails || !next || seen.has(next.to.name)) {
      const heads = [...(ofPackage?.channels.values() ?? [])].flatMap(headsOf);
      const isHead = heads.some((head) => head.name === at.name);
      return { at, fails, hops: seen.size - 1, arrives: !fails && !next && isHead };
    }
    at = next.to;
  }
}

/**
 * Subscriptions that name no channel: OLM v0 looks for the next bundle in the default channel first, then in the
 * others by name.
 *
 * @see https://github.com/operator-framework/operator-lifecycle-manager/blob/master/pkg/controller/registry/resolver/resolver.go
 */
import type { Installed } from '../../fbc/edge.ts';
import type { Fails } from '../resolve/outcome.ts';
import { lanesOf } from '../resolve/snapshot.ts';
import type { World } from './world.ts';

/** Where such a subscription ends, and why it fails there, if it does. */
export interface End {
  readonly at: Installed;
  readonly fails: Fails | undefined;
}

/** Follows the upgrades of a subscription to a package that names no channel, once around a circle at most. */
export function endWithoutChannel({ catalog, foresight }: World, name: string, installed: Installed): End {
  const ofPackage = catalog.packages.get(name);
  const lanes = ofPackage ? lanesOf(ofPackage) : [];
  const seen = new Set<string>();
  for (let at = installed; ; ) {
    seen.add(at.name);
    const outcomes = lanes.map(({ channel }) => foresight.v0({ package: name, channel }, at).next);
    const fails = outcomes.find((outcome) => outcome.kind === 'fails');
    const next = outcomes.find((outcome) => outcome.kind === 'upgrade');
    // One channel without an order keeps all of them from being resolved.
    if (fails || !next || seen.has(next.to.name)) return { at, fails };
    at = next.to;
  }
}

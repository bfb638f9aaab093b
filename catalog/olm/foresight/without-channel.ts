/** Subscriptions of OLM v0 that name no channel. */
import { type Installed, shortName } from '../../fbc/edge.ts';
import type { Package } from '../../fbc/model.ts';
import { namingOf } from '../../fbc/naming.ts';
import { hasRequirements } from '../resolve/next-v0.ts';
import { type Outcome, staysBecause } from '../resolve/outcome.ts';
import { type Lane, lanesOf } from '../resolve/snapshot.ts';

/**
 * What follows an installation whose subscription names no channel. OLM v0 looks for the next bundle in the default
 * channel first, then in the others by name. A channel without an order keeps all of them from being resolved.
 *
 * @param inChannel what follows an installation that is subscribed to a channel
 * @see https://github.com/operator-framework/operator-lifecycle-manager/blob/master/pkg/controller/registry/resolver/resolver.go
 */
export function nextWithoutChannel(
  name: string,
  ofPackage: Package | undefined,
  inChannel: (channel: string, installed: Installed) => Outcome,
): (installed: Installed) => Outcome {
  const lanes = ofPackage ? lanesOf(ofPackage) : [];
  const missing: Outcome = {
    kind: 'fails',
    reason: { code: 'missing', text: `no operators found in package ${name}` },
  };
  if (lanes.length === 0) return () => missing;
  const lanesFor = lanesThatMatter(lanes);
  return (installed) => {
    const outcomes = lanesFor(installed).map(({ channel }) => inChannel(channel, installed));
    const known =
      outcomes.find(({ kind }) => kind === 'fails') ?? outcomes.find(({ kind }) => kind === 'upgrade');
    const text = `${shortName(installed)} has no successor in any channel`;
    return known ?? staysBecause(() => ({ code: 'no-edge', text }));
  };
}

/** Finds the channels that can upgrade a bundle or fail for it. In all others it stays, so they are not asked. */
function lanesThatMatter(lanes: readonly Lane[]): (installed: Installed) => readonly Lane[] {
  const always = new Set(lanes.filter(isAlwaysAsked));
  const naming = new Map<string, Lane[]>();
  for (const lane of lanes) {
    if (always.has(lane)) continue;
    for (const name of namingOf(lane.entries).names()) {
      const known = naming.get(name);
      if (!known) naming.set(name, [lane]);
      // A lane may name a bundle twice, one after the other in this loop.
      else if (known.at(-1) !== lane) known.push(lane);
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

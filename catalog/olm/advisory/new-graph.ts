/**
 * New upgrade graphs for channels in which no change of single entries does what an advisory asks: those of
 * suggest-graph that keep every entry. They are not proved yet.
 */
import { type Channel, type Entry, type Package, packageWith } from '../../fbc/model.ts';
import type { World } from '../foresight/world.ts';
import { AS_TODAY, type GraphPolicy } from '../suggest/policy.ts';
import type { SuggestedChannel } from '../suggest/suggested-channel.ts';
import { untriedChannels } from '../suggest/suggestion.ts';

/** Graphs with the fewest new direct upgrades come first. */
const POLICIES: readonly Pick<GraphPolicy, 'stops' | 'keep'>[] = [
  { stops: 'today', keep: 'offered' },
  { stops: 'today', keep: 'all' },
  { stops: 'none', keep: 'offered' },
];

/**
 * The package with the edges that suggest-graph suggests for some of its channels, once for each policy. A channel for which it
 * has no suggestion stays as it is.
 *
 * @param names names of the channels
 * @param avoid names of bundles that no upgrade may lead to
 */
export function newGraphs(
  world: World,
  ofPackage: Package,
  { names, avoid }: { readonly names: ReadonlySet<string>; readonly avoid: ReadonlySet<string> },
): Package[] {
  const wanted = new Map([...ofPackage.channels].filter(([name]) => names.has(name)));
  const part = packageWith(ofPackage, { channels: wanted });
  return POLICIES.map((policy) => {
    const plans = untriedChannels(world, part, { ...AS_TODAY, ...policy, avoid });
    const changed = plans.flatMap((plan) => {
      const channel = wanted.get(plan.name);
      return channel && plan.why === undefined ? [[plan.name, withEdges(channel, plan)] as const] : [];
    });
    return packageWith(ofPackage, { channels: new Map([...ofPackage.channels, ...changed]) });
  });
}

/** A channel with the edges of a suggested one; entries that it does not have stay as they are. */
function withEdges(channel: Channel, { entries }: SuggestedChannel): Channel {
  const suggested = new Map(entries.map((entry) => [entry.name, entry]));
  return {
    ...channel,
    entries: channel.entries.map(
      (entry): Entry => ({ ...(suggested.get(entry.name) ?? entry), index: entry.index }),
    ),
  };
}

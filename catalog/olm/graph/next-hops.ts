/**
 * The next-hop graph: for each bundle the one edge that clusters will take, which is
 * what a reviewer needs to see in place of every edge that is written.
 */

import { headOf, isSkippedIn } from '../../fbc/channel.ts';
import { type Installed, installedOf } from '../../fbc/edge.ts';
import type { Package } from '../../fbc/model.ts';
import type { Foresight } from '../foresight/foresight.ts';
import type { Olm } from '../foresight/world.ts';
import { reasonOf, type Upgrade, upgradeOf } from '../resolve/outcome.ts';

/** One channel of a package as clusters see it. */
export interface ChannelHops {
  readonly channel: string;
  readonly stops: readonly Stop[];
}

/** A bundle of a channel and where it leads. */
export interface Stop {
  readonly bundle: string;
  readonly installed: Installed;
  readonly isHead: boolean;
  /** Whether another entry skips it, so that OLM v0 never offers it. */
  readonly isSkipped: boolean;
  readonly isDeprecated: boolean;
  /** Whether its upgrade path ends at a head. */
  readonly arrives: boolean;
  /** The upgrade that clusters perform automatically, if any. */
  readonly next: Upgrade | undefined;
  /** Why there is no upgrade. */
  readonly why: string | undefined;
}

/** The hops of every channel of a package. Under OLM v1 an extension is taken to select the channel alone. */
export function nextHops(foresight: Foresight, ofPackage: Package, olm: Olm): ChannelHops[] {
  return [...ofPackage.channels.values()].map((channel) => {
    const head = headOf(channel)?.name;
    const stops = channel.entries.flatMap(({ name }): Stop[] => {
      const bundle = ofPackage.bundles.get(name);
      if (!bundle) return [];
      const installed = installedOf(bundle);
      const { next, arrives } =
        olm === 'v0'
          ? foresight.v0({ package: ofPackage.name, channel: channel.name }, installed)
          : foresight.v1({ package: ofPackage.name, channels: [channel.name] }, installed);
      const isDeprecated = ofPackage.deprecatedBundles.has(name);
      const isHead = name === head;
      const [isSkipped, why] = [isSkippedIn(channel, name), reasonOf(next)?.text];
      return [
        { bundle: name, installed, isHead, isSkipped, isDeprecated, arrives, next: upgradeOf(next), why },
      ];
    });
    return { channel: channel.name, stops };
  });
}

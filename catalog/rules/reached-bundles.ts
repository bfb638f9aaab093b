/** The bundles that clusters install automatically: heads of channels, and targets of upgrades. */

import { headsOf, supportedChannels } from '../fbc/channel.ts';
import { installedOf } from '../fbc/edge.ts';
import type { Bundle, Package } from '../fbc/model.ts';
import { appendToGroup } from '../go/grouped.ts';
import { type Olm, upgradePathOf, type World } from '../olm/foresight/world.ts';
import { upgradeOf } from '../olm/resolve/outcome.ts';

/** A bundle that clusters install automatically. */
export interface Reached {
  readonly bundle: Bundle;
  /** The generations of OLM that install it, v0 first. */
  readonly olm: ReadonlySet<Olm>;
}

/** The bundles of a package that clusters install automatically, each once. */
export function reachedBundles(world: World, ofPackage: Package): readonly Reached[] {
  const ofWorld = reachedByWorld.get(world) ?? new Map<Package, readonly Reached[]>();
  reachedByWorld.set(world, ofWorld);
  const found = ofWorld.get(ofPackage) ?? findReached(world, ofPackage);
  ofWorld.set(ofPackage, found);
  return found;
}

const reachedByWorld = new WeakMap<World, Map<Package, readonly Reached[]>>();

/** The bundles of a package that clusters get by an installation or an upgrade, with the OLMs that go there. */
function findReached(world: World, ofPackage: Package): Reached[] {
  const reached = new Map<string, Reached>();
  const add = (name: string, olm: Iterable<Olm>): void => {
    const bundle = ofPackage.bundles.get(name);
    const known = reached.get(name)?.olm;
    if (!bundle || (known && [...olm].every((one) => known.has(one)))) return;
    reached.set(name, { bundle, olm: new Set([...(known ?? []), ...olm].sort()) });
  };
  for (const { name } of headBundles(ofPackage)) add(name, world.olm);
  for (const channel of ofPackage.channels.values()) {
    for (const { name } of channel.entries) {
      const from = ofPackage.bundles.get(name);
      if (!from) continue;
      for (const olm of world.olm) {
        const target = targetOf(world, { channel: channel.name, from, olm });
        if (target !== undefined) add(target, [olm]);
      }
    }
  }
  return [...reached.values()];
}

interface Step {
  readonly channel: string;
  readonly from: Bundle;
  readonly olm: Olm;
}

/** Name of the bundle that another one becomes next; undefined where it stays. */
function targetOf({ foresight }: World, { channel, from, olm }: Step): string | undefined {
  const { next } = upgradePathOf(foresight, { package: from.package, channel, olm }, installedOf(from));
  return upgradeOf(next)?.to.name;
}

// The bundles that new installations get: the heads of all channels.

/** The bundles that are heads of channels of a package, each once. */
export function headBundles({ channels, bundles }: Package): Bundle[] {
  const names = new Set([...channels.values()].flatMap(headsOf).map(({ name }) => name));
  return [...names].flatMap((name) => bundles.get(name) ?? []);
}

/** A head that is not deprecated, and the channels of which it is one. */
interface SupportedHead {
  readonly bundle: Bundle;
  readonly channels: readonly string[];
}

/** The heads of a package, each once, without those that are deprecated or whose channel or package is. */
export function supportedHeads(ofPackage: Package): SupportedHead[] {
  if (ofPackage.deprecation !== undefined) return [];
  const channelsOf = new Map<string, string[]>();
  for (const channel of supportedChannels(ofPackage))
    for (const name of new Set(headsOf(channel).map((head) => head.name)))
      appendToGroup(channelsOf, name, channel.name);
  return headBundles(ofPackage).flatMap((bundle) => {
    const channels = channelsOf.get(bundle.name);
    return !channels || ofPackage.deprecatedBundles.has(bundle.name) ? [] : [{ bundle, channels }];
  });
}

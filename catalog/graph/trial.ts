/**
 * A trial: what would become of installations if a channel were written otherwise.
 */
import type { Catalog, Channel, Entry, Package } from '../model.ts';
import { chainBelow, headOf } from './channel.ts';
import type { Installed } from './edge.ts';
import { type Fate, type Foresight, foresightOf } from './foresight.ts';
import { installationsOf } from './installation.ts';
import type { Olm, World } from './world.ts';

/** Installations that have no road. */
export interface Stuck {
  readonly package: string;
  readonly channel: string;
  readonly olm: Olm;
  /** Whether extensions under OLM v1 select that channel alone; else they select none. */
  readonly onlyChannel?: boolean;
  readonly installed: readonly Installed[];
}

export interface Trial {
  /** Whether with these entries the stuck ones get where they should, and nobody else is lost. */
  readonly helps: (entries: readonly Entry[]) => boolean;
}

/**
 * Prepares trials of one channel.
 *
 * @param past where the bundles of restored entries come from
 */
export function trialOf(world: World, stuck: Stuck, past: World | undefined): Trial | undefined {
  const ofPackage = world.catalog.packages.get(stuck.package);
  const channel = ofPackage?.channels.get(stuck.channel);
  if (!ofPackage || !channel) return undefined;
  const arriving = installationsOf(world, stuck.package)
    .filter((one) => one.channel === stuck.channel)
    .filter(({ installed }) => fateOf(world.foresight, stuck, installed).arrives);
  const wasSound = isSound(channel);
  return {
    helps: (entries) => {
      const changed = { ...channel, entries: entries.map((entry, index) => ({ ...entry, index })) };
      if (wasSound && !isSound(changed)) return false;
      const foresight = foresightWith(world, withChannel(ofPackage, changed, past));
      return (
        stuck.installed.every((installed) => fateOf(foresight, stuck, installed).arrives) &&
        arriving.every(({ installed }) => fateOf(foresight, stuck, installed).arrives)
      );
    },
  };
}

function fateOf(foresight: Foresight, stuck: Stuck, installed: Installed): Fate {
  const { olm, package: name, channel, onlyChannel = false } = stuck;
  return olm === 'v0'
    ? foresight.v0({ package: name, channel }, installed)
    : foresight.v1({ package: name, channels: onlyChannel ? [channel] : [] }, installed);
}

/** Whether opm takes a channel: one head, and a road to it from every entry. */
function isSound(channel: Channel): boolean {
  const head = headOf(channel);
  const chain = head && chainBelow(channel, head);
  return chain !== undefined && !chain.cycle && chain.stranded.length === 0;
}

function withChannel(ofPackage: Package, channel: Channel, past: World | undefined): Package {
  const { name, blob, defaultChannel, deprecation, deprecatedChannels, deprecatedBundles } = ofPackage;
  const old = past?.catalog.packages.get(name)?.bundles;
  const bundles = new Map(ofPackage.bundles);
  for (const entry of channel.entries) {
    const restored = bundles.has(entry.name) ? undefined : old?.get(entry.name);
    if (restored) bundles.set(entry.name, restored);
  }
  const channels = new Map([...ofPackage.channels, [channel.name, channel] as const]);
  return {
    name,
    blob,
    defaultChannel,
    channels,
    bundles,
    deprecation,
    deprecatedChannels,
    deprecatedBundles,
  };
}

function foresightWith(world: World, ofPackage: Package): Foresight {
  const { scope, source } = world.foresight;
  const packages = new Map([...source.catalog.packages, [ofPackage.name, ofPackage] as const]);
  const catalog: Catalog = { ...source.catalog, packages };
  const changed = { ...source, catalog };
  const catalogs = scope.catalogs.map((one) => (one === source ? changed : one));
  return foresightOf({ ...scope, catalogs }, changed);
}

/**
 * A trial: what would become of installations if channels were written otherwise.
 */

import { hasChain } from '../../fbc/channel.ts';
import type { Installed } from '../../fbc/edge.ts';
import { type Catalog, type Channel, type Entry, type Package, packageWith } from '../../fbc/model.ts';
import { basedOn } from '../../fbc/naming.ts';
import { type Foresight, foresightOf } from './foresight.ts';
import { installationsOf, withoutChannels } from './installation.ts';
import { type Following, upgradePathOf, type World } from './world.ts';

/** Installations that have no upgrade path. */
export interface Stuck extends Following {
  readonly installed: readonly Installed[];
}

/** Entries of channels that are to be written otherwise, by the channel's name. */
export type Edited = ReadonlyMap<string, readonly Entry[]>;

export interface Trial {
  /** Whether with these entries all the stuck ones get where they should, and nobody else is lost. */
  readonly helps: (edited: Edited, stuck: readonly Stuck[]) => boolean;
}

/**
 * Prepares trials of one package.
 *
 * @param past where the bundles of restored entries come from
 */
export function trialOf(world: World, name: string, past: World | undefined): Trial | undefined {
  const ofPackage = world.catalog.packages.get(name);
  if (!ofPackage) return undefined;
  const arriving = arrivingIn(world, ofPackage);
  return {
    helps: (edited, stuck) => {
      const changed = [...edited].flatMap(([channel, entries]) => {
        const old = ofPackage.channels.get(channel);
        return old ? [{ old, channel: withEntries(old, entries) }] : [];
      });
      if (changed.some(({ old, channel }) => hasChain(old) && !hasChain(channel))) return false;
      const channels = changed.map(({ channel }) => channel);
      const foresight = foresightWith(world, name, withChannels(ofPackage, channels, past));
      // Under OLM v0 nobody sees another channel.
      const concerned = arriving.filter(
        ({ olm, onlyChannel, channel }) => (olm === 'v1' && !onlyChannel) || edited.has(channel),
      );
      return [...stuck, ...concerned].every((one) =>
        one.installed.every((installed) => upgradePathOf(foresight, one, installed).arrives),
      );
    },
  };
}

/** A channel with other entries, most of which are as they were. */
export function withEntries(channel: Channel, entries: readonly Entry[]): Channel {
  const numbered = entries.map((entry, index) => (entry.index === index ? entry : { ...entry, index }));
  basedOn(numbered, channel.entries);
  return { ...channel, entries: numbered };
}

/** Installations that get to a head, in the form of those that do not. */
function arrivingIn(world: World, { name, channels }: Package): Stuck[] {
  const installations = installationsOf(world, name);
  const of = (place: Omit<Stuck, 'package' | 'installed'>, all: readonly Installed[]): Stuck => {
    const whole = { ...place, package: name };
    return {
      ...whole,
      installed: all.filter((one) => upgradePathOf(world.foresight, whole, one).arrives),
    };
  };
  const inEach = [...channels.keys()].flatMap((channel) => {
    const here = installations.filter((one) => one.channel === channel).map(({ installed }) => installed);
    return [...world.olm].map((olm) => of({ channel, olm, onlyChannel: olm === 'v1' }, here));
  });
  const open = world.olm.has('v1') ? [of({ channel: '', olm: 'v1' }, withoutChannels(installations))] : [];
  return [...inEach, ...open];
}

function withChannels(ofPackage: Package, changed: readonly Channel[], past: World | undefined): Package {
  const old = past?.catalog.packages.get(ofPackage.name)?.bundles;
  const bundles = new Map(ofPackage.bundles);
  for (const entry of changed.flatMap(({ entries }) => entries)) {
    const restored = bundles.has(entry.name) ? undefined : old?.get(entry.name);
    if (restored) bundles.set(entry.name, restored);
  }
  const channels = new Map([
    ...ofPackage.channels,
    ...changed.map((channel) => [channel.name, channel] as const),
  ]);
  return packageWith(ofPackage, { channels, bundles });
}

/**
 * Foresight for a world in which one package is otherwise.
 *
 * @param ofPackage the package then; undefined for a catalog without it
 */
export function foresightWith(world: World, name: string, ofPackage: Package | undefined): Foresight {
  const { scope, source } = world.foresight;
  const packages = new Map(source.catalog.packages);
  if (ofPackage) packages.set(name, ofPackage);
  else packages.delete(name);
  const catalog: Catalog = { ...source.catalog, packages };
  const changed = { ...source, catalog };
  const catalogs = scope.catalogs.map((one) => (one === source ? changed : one));
  return foresightOf({ ...scope, catalogs }, changed);
}

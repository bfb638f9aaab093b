/**
 * What may be installed from a catalog: what it has, and what it ever had.
 */

import { type Installed, installedOf } from '../../fbc/edge.ts';
import type { Bundle, Package } from '../../fbc/model.ts';
import { isHeldBack } from '../../fbc/openshift.ts';
import { groupedBy } from '../../go/grouped.ts';
import { compareText } from '../../go/text.ts';
import { compareVersions } from '../../version/version.ts';
import { isRefusedByV1 } from '../resolve/support.ts';
import {
  ALL_PUBLISHED,
  type Following,
  type Olm,
  type PublishedBundle,
  upgradePathOf,
  type World,
} from './world.ts';

/** A bundle installed from a channel. */
export interface Installation {
  readonly channel: string;
  readonly installed: Installed;
  /** Set when the catalog no longer has it there. */
  readonly published: PublishedBundle | undefined;
}

const installationsByWorld = new WeakMap<World, Map<string, readonly Installation[]>>();

/** Every installation of a package that a world knows: entries of channels, then what was published in them. */
export function installationsOf(world: World, name: string): readonly Installation[] {
  const byPackage = installationsByWorld.get(world) ?? new Map<string, readonly Installation[]>();
  installationsByWorld.set(world, byPackage);
  const found = byPackage.get(name) ?? findInstallations(world, name);
  byPackage.set(name, found);
  return found;
}

/** What clusters may have of a package: its entries today, and those that it once had. */
function findInstallations(world: World, name: string): readonly Installation[] {
  const ofPackage = world.catalog.packages.get(name);
  const published = world.published.get(name) ?? [];
  const present = ofPackage ? presentOf(ofPackage) : [];
  if (published.length === 0) return present;
  const namesByChannel = new Map<string, Set<string>>();
  for (const { channel, installed } of present) {
    const inChannel = namesByChannel.get(channel);
    if (inChannel) inChannel.add(installed.name);
    else namesByChannel.set(channel, new Set([installed.name]));
  }
  const gone = published.flatMap((bundle): Installation | [] => {
    const { channel } = bundle;
    const installed = absentBundle(ofPackage, bundle);
    return namesByChannel.get(channel)?.has(installed.name) ? [] : { channel, installed, published: bundle };
  });
  return [...present, ...gone];
}

/** The installations of a package that clusters may have: those that were published. */
export function publishedInstallations(world: World, name: string): readonly Installation[] {
  const all = installationsOf(world, name);
  if (world.isPublished === ALL_PUBLISHED) return all;
  return all.filter(({ channel, installed }) =>
    world.isPublished({ package: name, channel, bundle: installed.name }),
  );
}

/**
 * What the clusters of a catalog may have under an OLM: what was published there and can be installed, and what clusters
 * bring that have come from the platform's previous versions, which is what they have at the end of their upgrades there.
 */
export function clusterInstallations(world: World, name: string, olm: Olm): readonly Installation[] {
  const bundles = world.catalog.packages.get(name)?.bundles;
  const own = publishedInstallations(world, name).filter(
    (one) => olm === 'v0' || mayBeExtension(bundles?.get(one.installed.name) ?? one.published?.bundle),
  );
  const brought = broughtTo(world, name, olm);
  if (brought.length === 0) return own;
  const known = new Set(own.map(installationKey));
  return [...own, ...brought.filter((one) => !known.has(installationKey(one)))];
}

/** Whether an extension may have a bundle, on a cluster with all feature gates of OLM v1; one of which nothing is known may be. */
function mayBeExtension(bundle: Bundle | undefined): boolean {
  return bundle === undefined || !isRefusedByV1(bundle, 'all');
}

/** A key of a version in a channel. */
export function installationKey({
  channel,
  installed,
}: {
  readonly channel: string;
  readonly installed: { readonly name: string };
}): string {
  return JSON.stringify([channel, installed.name]);
}

/**
 * What clusters bring to a catalog: what they have at the end of their upgrade paths where they come from, or had there as
 * the head of a channel since the catalog has the package.
 */
export function broughtTo(world: World, name: string, olm: Olm): readonly Installation[] {
  const ofWorld = arrivals.get(world) ?? new Map<string, readonly Installation[]>();
  arrivals.set(world, ofWorld);
  const key = `${olm} ${name}`;
  const found = ofWorld.get(key) ?? findBrought(world, name, olm);
  ofWorld.set(key, found);
  return found;
}

const arrivals = new WeakMap<World, Map<string, readonly Installation[]>>();

/**
 * What clusters bring with them when they come from an earlier version of the platform: where upgrades in its catalog
 * end, and at bundles that were heads there while this catalog had the package already: clusters may have moved then.
 */
function findBrought({ preceding, platform, since }: World, name: string, olm: Olm): Installation[] {
  const first = since(name);
  return preceding.flatMap((world) => {
    const bundles = world.catalog.packages.get(name)?.bundles;
    const wereHeads = new Set(
      (world.published.get(name) ?? [])
        .filter(({ headUntil }) => first !== undefined && headUntil !== undefined && headUntil > first)
        .map(({ channel, ...installed }) => installationKey({ channel, installed })),
    );
    const isEnd = ({ channel, installed, published }: Installation): boolean => {
      const bundle = bundles?.get(installed.name) ?? published?.bundle;
      // It keeps its cluster from the platform of this catalog.
      if (bundle && isHeldBack(bundle, platform)) return false;
      if (olm === 'v1' && !mayBeExtension(bundle)) return false;
      if (wereHeads.has(installationKey({ channel, installed }))) return true;
      const { next } = upgradePathOf(world.foresight, { package: name, channel, olm }, installed);
      return next.kind !== 'upgrade';
    };
    return publishedInstallations(world, name).filter(isEnd);
  });
}

/** An installation for each entry that has a bundle. Those of one bundle share what is installed. */
function presentOf(ofPackage: Package): Installation[] {
  const installed = new Map<Bundle, Installed>();
  return [...ofPackage.channels.values()].flatMap((channel) =>
    channel.entries.flatMap((entry): Installation | [] => {
      const bundle = ofPackage.bundles.get(entry.name);
      if (!bundle) return [];
      const one = installed.get(bundle) ?? installedOf(bundle);
      installed.set(bundle, one);
      return { channel: channel.name, installed: one, published: undefined };
    }),
  );
}

/** What is installed of a bundle that a channel no longer has. Other channels may still have it: then that bundle counts. */
function absentBundle(ofPackage: Package | undefined, { name, version }: PublishedBundle): Installed {
  const bundle = ofPackage?.bundles.get(name);
  return bundle ? installedOf(bundle) : { name, version };
}

/** Installations that are followed alike. */
export interface InstallationGroup extends Following {
  readonly installed: readonly Installed[];
}

/** Every installation that clusters may have of a package: by channel, and under OLM v1 also without one. */
export function installationGroups(world: World, { name, channels }: Package): InstallationGroup[] {
  const installations = installationsOf(world, name);
  const byChannel = groupedBy(installations, ({ channel }) => channel);
  const names = new Set([...channels.keys(), ...byChannel.keys()]);
  const inEach = [...names].flatMap((channel) => {
    const installed = (byChannel.get(channel) ?? []).map((one) => one.installed);
    return [...world.olm].map((olm) => ({
      olm,
      package: name,
      channel,
      onlyChannel: olm === 'v1',
      installed,
    }));
  });
  const withoutChannel = {
    olm: 'v1',
    package: name,
    channel: '',
    installed: withoutChannels(installations),
  } as const;
  return world.olm.has('v1') ? [...inEach, withoutChannel] : inEach;
}

/** One of each bundle, whatever the channel. */
export function withoutChannels(installations: readonly Installation[]): Installed[] {
  const byName = new Map(installations.map(({ installed }) => [installed.name, installed]));
  return [...byName.values()];
}

/** Sorts by version, then by name; what has no version comes first. */
export function compareInstalled(a: Installed, b: Installed): number {
  if (a.version && b.version) return compareVersions(a.version, b.version) || compareText(a.name, b.name);
  return Number(a.version !== undefined) - Number(b.version !== undefined) || compareText(a.name, b.name);
}

/**
 * What may be installed from a catalog: what it has, and what it ever had.
 */

import { type Installed, installedOf } from '../../fbc/edge.ts';
import type { Package } from '../../fbc/model.ts';
import { compareText } from '../../go/text.ts';
import { compareVersions } from '../../version/version.ts';
import type { PublishedBundle, World } from './world.ts';

/** A bundle installed from a channel. */
export interface Installation {
  readonly channel: string;
  readonly installed: Installed;
  /** Set when the catalog no longer has it there. */
  readonly published: PublishedBundle | undefined;
}

/** Every installation of a package that a world knows: entries of channels, then what was published in them. */
export function installationsOf(world: World, name: string): Installation[] {
  const ofPackage = world.catalog.packages.get(name);
  const present = ofPackage ? presentOf(ofPackage) : [];
  const known = new Set(present.map(keyOf));
  const published = (world.published.get(name) ?? [])
    .map((bundle) => ({
      channel: bundle.channel,
      installed: absentBundle(ofPackage, bundle),
      published: bundle,
    }))
    .filter((one) => !known.has(keyOf(one)));
  return [...present, ...published];
}

/** Those of them that clusters may have. */
export function publishedInstallations(world: World, name: string): Installation[] {
  return installationsOf(world, name).filter(({ channel, installed }) =>
    world.isPublished({ package: name, channel, bundle: installed.name }),
  );
}

function presentOf(ofPackage: Package): Installation[] {
  return [...ofPackage.channels.values()].flatMap((channel) =>
    channel.entries.flatMap((entry) => {
      const bundle = ofPackage.bundles.get(entry.name);
      return bundle ? [{ channel: channel.name, installed: installedOf(bundle), published: undefined }] : [];
    }),
  );
}

/** What was published in a channel may still be in others. */
function absentBundle(ofPackage: Package | undefined, { name, version }: PublishedBundle): Installed {
  const bundle = ofPackage?.bundles.get(name);
  return bundle ? installedOf(bundle) : { name, version };
}

function keyOf({ channel, installed }: Installation): string {
  return JSON.stringify([channel, installed.name]);
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

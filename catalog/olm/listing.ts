/**
 * The questions that people ask a catalog, answered as rows: which packages, which
 * channels, which bundles, and what a cluster needs to know of each.
 */

import { metadataOf } from '../bundle/migrate.ts';
import { headOf } from '../fbc/channel.ts';
import type { Installed } from '../fbc/edge.ts';
import type { Bundle, Catalog, Channel, Entry, Package } from '../fbc/model.ts';
import { isObject } from '../go/shape.ts';
import { compareText } from '../go/text.ts';
import { formatVersion } from '../version/version.ts';
import { compareInstalled } from './foresight/installation.ts';
import { gvkText, offerOf } from './resolve/requirement.ts';
import { v1Obstacles } from './resolve/support.ts';

interface PackageRow {
  readonly package: string;
  readonly displayName: string;
  readonly defaultChannel: string;
  /** Version (or name) of the default channel's head; empty where it has none. */
  readonly head: string;
  readonly channels: number;
  readonly bundles: number;
  /** The message, where the package is deprecated. */
  readonly deprecated?: string;
}

interface ChannelRow {
  readonly package: string;
  readonly channel: string;
  readonly isDefault: boolean;
  /** Name of the head; empty where the channel has none, or several. */
  readonly head: string;
  /** Version of the head. */
  readonly version: string;
  readonly entries: number;
  readonly deprecated?: string;
}

interface BundleRow {
  readonly package: string;
  /** Empty for a bundle that is in no channel. */
  readonly channel: string;
  readonly bundle: string;
  readonly version: string;
  readonly replaces: string;
  readonly skips: readonly string[];
  readonly skipRange: string;
  readonly isHead: boolean;
  readonly image: string;
  /** Kinds of objects that it provides, as `Kind (group/version)`. */
  readonly provides: readonly string[];
  /** Why OLM v1 does not install it, or only with features that are off by default. */
  readonly v1Obstacles: readonly string[];
  readonly deprecated?: string;
}

/** A row for each package, sorted by name, with the head of its default channel. */
export function listPackages(catalog: Catalog): PackageRow[] {
  return sortedPackages(catalog).map((ofPackage) => {
    const { name, defaultChannel, channels, bundles, deprecation } = ofPackage;
    const channel = channels.get(defaultChannel);
    const head = channel && headOf(channel);
    const bundle = head && bundles.get(head.name);
    return {
      package: name,
      displayName: bundle ? displayName(bundle) : '',
      defaultChannel,
      head: (bundle && versionText(bundle)) || (head?.name ?? ''),
      channels: channels.size,
      bundles: bundles.size,
      ...(deprecation === undefined ? {} : { deprecated: deprecation }),
    };
  });
}

/** Channels by package, the default channel first, the others by name. */
export function listChannels(catalog: Catalog): ChannelRow[] {
  return sortedPackages(catalog).flatMap((ofPackage) =>
    sortedChannels(ofPackage).map((channel) => {
      const head = headOf(channel)?.name ?? '';
      const bundle = ofPackage.bundles.get(head);
      const deprecated = ofPackage.deprecatedChannels.get(channel.name);
      return {
        package: ofPackage.name,
        channel: channel.name,
        isDefault: channel.name === ofPackage.defaultChannel,
        head,
        version: bundle ? versionText(bundle) : '',
        entries: channel.entries.length,
        ...(deprecated === undefined ? {} : { deprecated }),
      };
    }),
  );
}

/** Bundles by package and channel, the newest first; those of no channel come last. */
export function listBundles(catalog: Catalog): BundleRow[] {
  return sortedPackages(catalog).flatMap((ofPackage) => {
    const inChannels = sortedChannels(ofPackage).flatMap((channel) => {
      const head = headOf(channel)?.name;
      return channel.entries
        .map((entry) => ({ entry, bundle: ofPackage.bundles.get(entry.name) }))
        .sort((a, b) => compareInstalled(installedAs(b), installedAs(a)))
        .map(({ entry, bundle }) => ({
          ...bundleRow(ofPackage, entry, bundle),
          channel: channel.name,
          isHead: entry.name === head,
        }));
    });
    const listed = new Set(inChannels.map(({ bundle }) => bundle));
    const others = [...ofPackage.bundles.values()].filter(({ name }) => !listed.has(name));
    const alone = others.map((bundle) => bundleRow(ofPackage, withoutEdges(bundle), bundle));
    return [...inChannels, ...alone];
  });
}

function installedAs({ entry, bundle }: { entry: Entry; bundle: Bundle | undefined }): Installed {
  return { name: entry.name, version: bundle?.version };
}

function withoutEdges({ name }: Bundle): Entry {
  return { name, replaces: '', skips: [], skipRange: '', index: -1 };
}

/** A row of no channel; the caller adds the channel. */
function bundleRow(ofPackage: Package, entry: Entry, bundle: Bundle | undefined): BundleRow {
  const deprecated = ofPackage.deprecatedBundles.get(entry.name);
  const gvks = bundle ? offerOf(bundle.properties, { package: '', version: undefined }).gvks : [];
  return {
    package: ofPackage.name,
    channel: '',
    bundle: entry.name,
    version: bundle ? versionText(bundle) : '',
    replaces: entry.replaces,
    skips: entry.skips,
    skipRange: entry.skipRange,
    isHead: false,
    image: bundle?.image ?? '',
    provides: [...new Set(gvks)].map(gvkText).sort(compareText),
    v1Obstacles: bundle ? v1Obstacles(bundle) : [],
    ...(deprecated === undefined ? {} : { deprecated }),
  };
}

function sortedPackages({ packages }: Catalog): Package[] {
  return [...packages.values()].sort((a, b) => compareText(a.name, b.name));
}

function sortedChannels({ channels, defaultChannel }: Package): Channel[] {
  return [...channels.values()].sort(
    (a, b) =>
      Number(b.name === defaultChannel) - Number(a.name === defaultChannel) || compareText(a.name, b.name),
  );
}

function versionText({ version }: Bundle): string {
  return version ? formatVersion(version) : '';
}

/** The display name, if the bundle's properties contain it: its metadata, or the objects that it would be made from. */
function displayName(bundle: Bundle): string {
  const value = metadataOf(bundle);
  const name = isObject(value) ? value['displayName'] : undefined;
  return typeof name === 'string' ? name : '';
}

/**
 * What opm's registry server answers about a catalog (`api.Registry`), as data. Where opm's
 * answer depends on the order of a Go map, ours is the first by name.
 *
 * @see https://github.com/operator-framework/operator-registry/blob/master/pkg/cache/pkgs.go
 */

import { metaFile } from '../../fbc/cache/files.ts';
import { headOf } from '../../fbc/channel.ts';
import type { Blob, Catalog, Channel, Entry, Package } from '../../fbc/model.ts';
import { compareText } from '../../go/text.ts';
import { type ApiBundle, type ApiKind, apiBundle, providesApi } from './bundle.ts';

interface ApiDeprecation {
  readonly message: string;
}

interface ApiPackage {
  readonly name: string;
  /** By name. */
  readonly channels: readonly {
    readonly name: string;
    /** Name of the channel's head. */
    readonly csvName: string;
    readonly deprecation?: ApiDeprecation;
  }[];
  readonly defaultChannelName: string;
  readonly deprecation?: ApiDeprecation;
}

/** An entry, once for each bundle that it replaces or skips. */
interface ApiChannelEntry {
  readonly packageName: string;
  readonly channelName: string;
  readonly bundleName: string;
  readonly replaces: string;
}

/** That there is no answer; the message is the one that opm gives. */
export class NoAnswer extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'NoAnswer';
  }
}

/** The queries of `api.Registry`. Those that name something throw NoAnswer when it is not there. */
export interface Answers {
  listPackages(): readonly { readonly name: string }[];
  getPackage(name: string): ApiPackage;
  getBundle(name: string, channel: string, bundle: string): ApiBundle;
  getBundleForChannel(name: string, channel: string): ApiBundle;
  /** The entry of a channel that replaces or skips a bundle; one that replaces it if there is one. */
  getBundleThatReplaces(bundle: string, name: string, channel: string): ApiBundle;
  getChannelEntriesThatReplace(bundle: string): readonly ApiChannelEntry[];
  getChannelEntriesThatProvide(kind: ApiKind): readonly ApiChannelEntry[];
  /** Of the heads of channels only. */
  getLatestChannelEntriesThatProvide(kind: ApiKind): readonly ApiChannelEntry[];
  /** The head of the default channel of the first package, by name, that provides a kind there. */
  getDefaultBundleThatProvides(kind: ApiKind): ApiBundle;
  /** Every bundle of every channel, made as it is asked for. Manifests are left out where there is an image. */
  listBundles(): Iterable<ApiBundle>;
  /** @throws BadQuestion */
  listPackageCustomSchemas(schema: string, name: string): readonly Struct[];
}

/**
 * The answers of the registry API for a catalog.
 *
 * @param catalog one for which `isServed` holds: opm refuses to start with any other
 */
export function answersOf(catalog: Catalog): Answers {
  const packages = new Map([...catalog.packages].sort(([a], [b]) => compareText(a, b)));
  const channel = (name: string, channelName: string): Place =>
    channelIn(packageIn(packages, name, JSON.stringify(name)), channelName);
  const latest = (kind: ApiKind): readonly ApiChannelEntry[] =>
    orNoAnswer(latestThatProvide(packages, kind), kind);
  return {
    listPackages: () => [...packages.keys()].map((name) => ({ name })),
    getPackage: (name) => describePackage(packageIn(packages, name, JSON.stringify(name))),
    getBundle: (name, channelName, bundle) => bundleNamed(channel(name, channelName), bundle),
    getBundleForChannel: (name, channelName) => {
      const place = channel(name, channelName);
      return bundleNamed(place, headOf(place.channel)?.name ?? '');
    },
    getBundleThatReplaces: (bundle, name, channelName) =>
      // opm writes this one name without quotes.
      bundleThatReplaces(channelIn(packageIn(packages, name, name), channelName), bundle),
    getChannelEntriesThatReplace: (bundle) => entriesThatReplace(packages, bundle),
    getChannelEntriesThatProvide: (kind) => orNoAnswer(allThatProvide(packages, kind), kind),
    getLatestChannelEntriesThatProvide: latest,
    getDefaultBundleThatProvides: (kind) => {
      const entry = latest(kind).find(
        ({ packageName, channelName }) => packages.get(packageName)?.defaultChannel === channelName,
      );
      if (!entry) throw new NoAnswer(`no entry found that provides ${kindText(kind)}`);
      return bundleNamed(channel(entry.packageName, entry.channelName), entry.bundleName);
    },
    *listBundles() {
      for (const place of placesOf(packages)) yield apiBundle(place, { manifests: 'without image' });
    },
    listPackageCustomSchemas: (schema, name) =>
      customSchemas(catalog.blobs.others, schema, name).map(structOf),
  };
}

/** A channel within its package. */
interface Place {
  readonly pkg: Package;
  readonly channel: Channel;
}

/**
 * The package of a name.
 *
 * @param shown the name as opm writes it here, for the error
 * @throws NoAnswer
 */
function packageIn(packages: ReadonlyMap<string, Package>, name: string, shown: string): Package {
  const pkg = packages.get(name);
  if (!pkg) throw new NoAnswer(`package ${shown} not found`);
  return pkg;
}

/** The channel of a name in a package. @throws NoAnswer */
function channelIn(pkg: Package, name: string): Place {
  const channel = pkg.channels.get(name);
  if (channel) return { pkg, channel };
  throw new NoAnswer(`package ${JSON.stringify(pkg.name)}, channel ${JSON.stringify(name)} not found`);
}

/** A bundle as it is answered when one is asked for: its edges are left out, as in opm. */
function bundleNamed({ pkg, channel }: Place, name: string): ApiBundle {
  const entry = channel.entries.find((one) => one.name === name);
  if (!entry) {
    const [pkgText, channelText, bundleText] = [pkg.name, channel.name, name].map((text) =>
      JSON.stringify(text),
    );
    throw new NoAnswer(`package ${pkgText}, channel ${channelText}, bundle ${bundleText} not found`);
  }
  const {
    replaces: _replaces,
    skips: _skips,
    ...bundle
  } = apiBundle({ pkg, channel, entry }, { manifests: 'all' });
  return bundle;
}

/** A package as the API's `GetPackage` answers. */
function describePackage(pkg: Package): ApiPackage {
  const channels = [...pkg.channels.values()].sort((a, b) => compareText(a.name, b.name));
  return {
    name: pkg.name,
    channels: channels.map((channel) => ({
      name: channel.name,
      csvName: headOf(channel)?.name ?? '',
      ...deprecation(pkg.deprecatedChannels.get(channel.name)),
    })),
    defaultChannelName: pkg.defaultChannel,
    ...deprecation(pkg.deprecation),
  };
}

function deprecation(message: string | undefined): { deprecation?: ApiDeprecation } {
  return message === undefined ? {} : { deprecation: { message } };
}

/** An entry within its channel and package. */
interface EntryPlace extends Place {
  readonly entry: Entry;
}

/** Every entry of every channel, package by package. */
function* placesOf(packages: ReadonlyMap<string, Package>): Generator<EntryPlace> {
  for (const pkg of packages.values()) {
    for (const channel of pkg.channels.values()) {
      for (const entry of channel.entries) yield { pkg, channel, entry };
    }
  }
}

/** The first entry that replaces the bundle; if there is none, the first that skips it. */
function bundleThatReplaces(place: Place, bundle: string): ApiBundle {
  const { entries } = place.channel;
  const [first] = [
    ...entries.filter(({ replaces }) => replaces === bundle),
    ...entries.filter(({ skips }) => skips.includes(bundle)),
  ];
  if (first) return bundleNamed(place, first.name);
  const [pkgText, channelText] = [place.pkg.name, place.channel.name].map((text) => JSON.stringify(text));
  throw new NoAnswer(`no entry found for package ${pkgText}, channel ${channelText}`);
}

/** opm lists an entry that replaces the bundle once, and one that only skips it as often as its `skips` name it. */
function entriesThatReplace(packages: ReadonlyMap<string, Package>, bundle: string): ApiChannelEntry[] {
  const entries = [...placesOf(packages)].flatMap(({ pkg, channel, entry }) => {
    const skips = entry.skips.filter((skip) => skip === bundle && skip !== entry.replaces);
    const times = (entry.replaces === bundle ? 1 : 0) + skips.length;
    return new Array<ApiChannelEntry>(times).fill(channelEntry({ pkg, channel, entry }, entry.replaces));
  });
  if (entries.length === 0) throw new NoAnswer(`no channel entries found that replace ${bundle}`);
  return entries;
}

/** The entries that provide a kind: each once for what it replaces, and once for each further bundle that it skips. */
function allThatProvide(packages: ReadonlyMap<string, Package>, kind: ApiKind): ApiChannelEntry[] {
  return [...placesOf(packages)]
    .filter(({ pkg, entry }) => providesApi(pkg.bundles.get(entry.name), kind))
    .flatMap((place) => [
      channelEntry(place, place.entry.replaces),
      ...furtherSkips(place).map((skip) => channelEntry(place, skip)),
    ]);
}

/**
 * The heads that provide a kind, listed like all entries; but of what they skip, opm lists only bundles of the channel.
 */
function latestThatProvide(packages: ReadonlyMap<string, Package>, kind: ApiKind): ApiChannelEntry[] {
  return [...headPlaces(packages)]
    .filter(({ pkg, entry }) => providesApi(pkg.bundles.get(entry.name), kind))
    .flatMap((place) => {
      const names = new Set(place.channel.entries.map(({ name }) => name));
      const inChannel = furtherSkips(place).filter((skip) => names.has(skip));
      return [place.entry.replaces, ...inChannel].map((replaces) => channelEntry(place, replaces));
    });
}

/** The heads of all channels. */
function* headPlaces(packages: ReadonlyMap<string, Package>): Generator<EntryPlace> {
  for (const pkg of packages.values()) {
    for (const channel of pkg.channels.values()) {
      const entry = headOf(channel);
      if (entry) yield { pkg, channel, entry };
    }
  }
}

/** What an entry skips and does not replace. */
function furtherSkips({ entry }: EntryPlace): readonly string[] {
  return entry.skips.filter((skip) => skip !== entry.replaces);
}

function channelEntry({ pkg, channel, entry }: EntryPlace, replaces: string): ApiChannelEntry {
  return { packageName: pkg.name, channelName: channel.name, bundleName: entry.name, replaces };
}

/**
 * The entries.
 *
 * @throws NoAnswer when there are none
 */
function orNoAnswer(entries: readonly ApiChannelEntry[], kind: ApiKind): readonly ApiChannelEntry[] {
  if (entries.length > 0) return entries;
  throw new NoAnswer(`no channel entries found that provide ${kindText(kind)}`);
}

function kindText({ group, version, kind }: ApiKind): string {
  const [g, v, k] = [group, version, kind].map((text) => JSON.stringify(text));
  return `group:${g} version:${v} kind:${k}`;
}

// Blobs of schemas that are not OLM's, as opm's experimental registry API answers them.
//
// @see https://github.com/operator-framework/operator-registry/blob/master/pkg/cache/meta_key.go

/** That a question is not one that opm answers; the message is the one that opm gives. */
export class BadQuestion extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'BadQuestion';
  }
}

const NAME = /^[a-zA-Z0-9][a-zA-Z0-9._-]*$/;

/**
 * Blobs of a schema and a package, in the order of opm's cache. A blob that is there twice is answered once.
 *
 * @param pkg the empty string for blobs that belong to no package
 * @throws BadQuestion for an empty schema, and for names that opm's cache cannot have
 */
function customSchemas(others: Iterable<Blob>, schema: string, pkg: string): Blob['value'][] {
  if (schema === '') throw new BadQuestion('schema is required');
  for (const [name, value] of Object.entries({ schema, packageName: pkg })) {
    if (value === '' || NAME.test(value)) continue;
    throw new BadQuestion(
      `invalid custom schema query: invalid ${name} ${JSON.stringify(value)}: must match ${NAME.source}`,
    );
  }
  const found = [...others].filter((blob) => blob.schema === schema && blob.package === pkg);
  const files = new Map(found.map((blob) => [metaFile(blob).path, blob.value]));
  return [...files].sort(([a], [b]) => compareText(a, b)).map(([, value]) => value);
}

/** A value of `google.protobuf.Value`. */
type StructValue =
  | { readonly null_value: 'NULL_VALUE' }
  | { readonly number_value: number }
  | { readonly string_value: string }
  | { readonly bool_value: boolean }
  | { readonly struct_value: Struct }
  | { readonly list_value: { readonly values: readonly StructValue[] } };

/** An object as `google.protobuf.Struct` has it on its way: a map is a list of entries. */
interface Struct {
  readonly fields: readonly { readonly key: string; readonly value: StructValue }[];
}

/** An object of JSON in protobuf's terms. */
function structOf(value: Readonly<Record<string, unknown>>): Struct {
  return { fields: Object.entries(value).map(([key, each]) => ({ key, value: structValue(each) })) };
}

/** A value of JSON in protobuf's terms. Texts there are UTF-8, which has no halves of surrogate pairs. */
function structValue(value: unknown): StructValue {
  if (typeof value === 'string') return { string_value: value.toWellFormed() };
  if (typeof value === 'number') return { number_value: value };
  if (typeof value === 'boolean') return { bool_value: value };
  if (Array.isArray(value)) return { list_value: { values: value.map(structValue) } };
  if (typeof value === 'object' && value !== null)
    return { struct_value: structOf(value as Readonly<Record<string, unknown>>) };
  return { null_value: 'NULL_VALUE' };
}

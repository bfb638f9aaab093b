/**
 * The difference of two states of a catalog: what people changed, package by package,
 * and what clusters will do otherwise because of it.
 */

import { headOf } from '../fbc/channel.ts';
import type { EdgeField } from '../fbc/edge.ts';
import type { Blobs, Bundle, Channel, Entry, Package } from '../fbc/model.ts';
import { sameBundle, sameValue } from '../fbc/same-bundle.ts';
import { compareText } from '../go/text.ts';
import { formatVersion } from '../version/version.ts';
import { type UpgradeImpact, upgradeImpacts } from './foresight/upgrade-impact.ts';
import type { Change } from './foresight/world.ts';
import { type HopGraph, hopChange } from './graph/hop-graph.ts';
import { type HeadReview, headReviews } from './head-reviews.ts';

export interface CatalogDiff {
  /** Packages that differ, by name. */
  readonly packages: readonly PackageDiff[];
}

export interface PackageDiff {
  readonly package: string;
  readonly kind: Kind;
  /** The default channel, where it differs. */
  readonly defaultChannel?: Pair;
  /** Channels that differ, by name. */
  readonly channels: readonly ChannelDiff[];
  readonly bundles: readonly BundleDiff[];
  /** Deprecations that came, went or have another message. */
  readonly deprecations: readonly DeprecationDiff[];
  /** The upgrades that change. */
  readonly fates: readonly UpgradeImpact[];
  /** What the upgrades to new heads require of whoever approves them; absent where there are none. */
  readonly reviews?: readonly HeadReview[];
  /** The next-hop graph of the channels in which it changes. */
  readonly graph: HopGraph;
}

type Kind = 'added' | 'removed' | 'changed';

/** Values before and after; empty if there is none. */
export interface Pair {
  readonly before: string;
  readonly after: string;
}

export interface ChannelDiff {
  readonly channel: string;
  readonly kind: Kind;
  /** The head, where it differs. */
  readonly head?: Pair;
  /** Names of entries. */
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly edges: readonly EdgeDiff[];
}

/** An edge as it is written. */
export interface EdgeDiff {
  readonly kind: 'added' | 'removed';
  /** Name of the entry that has it. */
  readonly to: string;
  readonly field: EdgeField;
  /** Name of the bundle that it leads from, or the range. */
  readonly from: string;
}

export interface BundleDiff {
  readonly bundle: string;
  readonly kind: Kind;
  /** Fields of a changed bundle that differ: `image`, `version`, `properties`, `relatedImages`. */
  readonly fields: readonly string[];
}

export interface DeprecationDiff {
  readonly kind: Kind;
  /** `package`, or `channel` or `bundle` with its name. */
  readonly of: string;
  readonly message: string;
}

/** Compares the packages of a change. */
export function diffOf(change: Change): CatalogDiff {
  const packages = change.packages.flatMap((name) => {
    const diff = packageDiff(change, name);
    return isNothing(diff) ? [] : [diff];
  });
  return { packages };
}

function isNothing({ kind, defaultChannel, channels, bundles, deprecations, fates }: PackageDiff): boolean {
  const lists = [channels, bundles, deprecations, fates];
  return kind === 'changed' && !defaultChannel && lists.every(({ length }) => length === 0);
}

/** Everything that a change does to one package. */
function packageDiff(change: Change, name: string): PackageDiff {
  const reviews = headReviews(change, name);
  const before = change.before.catalog.packages.get(name);
  const after = change.after.catalog.packages.get(name);
  const [was, is] = [before?.defaultChannel ?? '', after?.defaultChannel ?? ''];
  return {
    package: name,
    kind: kindOf(before, after),
    ...(was === is ? {} : { defaultChannel: { before: was, after: is } }),
    channels: pairs(before?.channels, after?.channels).flatMap(([one, other, channel]) =>
      channelDiff(channel, one, other),
    ),
    bundles: pairs(before?.bundles, after?.bundles).flatMap(([one, other, bundle]) =>
      bundleDiff(bundle, one, other),
    ),
    deprecations: deprecationDiffs(before, after),
    fates: upgradeImpacts(change, name),
    ...(reviews.length === 0 ? {} : { reviews }),
    graph: hopChange(change, name),
  };
}

function kindOf(before: unknown, after: unknown): Kind {
  if (before === undefined) return 'added';
  return after === undefined ? 'removed' : 'changed';
}

/** Values of two maps by key, in the order of keys. */
function pairs<T>(
  before: ReadonlyMap<string, T> = new Map(),
  after: ReadonlyMap<string, T> = new Map(),
): [T | undefined, T | undefined, string][] {
  const keys = [...new Set([...before.keys(), ...after.keys()])].sort(compareText);
  return keys.map((key) => [before.get(key), after.get(key), key]);
}

/** What a change does to one channel; an empty list if nothing. */
function channelDiff(
  channel: string,
  before: Channel | undefined,
  after: Channel | undefined,
): ChannelDiff[] {
  const [was, is] = [namesIn(before), namesIn(after)];
  const [oldHead, newHead] = [before, after].map((one) => (one && headOf(one)?.name) ?? '');
  const added = [...is].filter((name) => !was.has(name));
  const removed = [...was].filter((name) => !is.has(name));
  const edges = edgeDiffs(before, after);
  const sameHead = oldHead === newHead;
  if (before && after && sameHead && added.length + removed.length + edges.length === 0) return [];
  const head = sameHead ? {} : { head: { before: oldHead ?? '', after: newHead ?? '' } };
  return [{ channel, kind: kindOf(before, after), ...head, added, removed, edges }];
}

function namesIn(channel: Channel | undefined): Set<string> {
  return new Set(channel?.entries.map(({ name }) => name));
}

/** The edges that a channel loses and gains. */
function edgeDiffs(before: Channel | undefined, after: Channel | undefined): EdgeDiff[] {
  const [was, is] = [edgesOf(before, after), edgesOf(after, before)];
  return [
    ...[...was].filter(([key]) => !is.has(key)).map(([, edge]) => ({ kind: 'removed' as const, ...edge })),
    ...[...is].filter(([key]) => !was.has(key)).map(([, edge]) => ({ kind: 'added' as const, ...edge })),
  ];
}

type Edge = Omit<EdgeDiff, 'kind'>;

/**
 * The edges of a channel as they are written; a range is one edge. Left out are those of entries that the other
 * channel has as they are.
 */
function edgesOf(channel: Channel | undefined, other: Channel | undefined): Map<string, Edge> {
  const others = new Map(other?.entries.map((entry) => [entry.name, entry]));
  const differing = (channel?.entries ?? []).filter((entry) => !isSameEntry(entry, others.get(entry.name)));
  const edges = differing.flatMap(({ name: to, replaces, skips, skipRange }): Edge[] => [
    ...(replaces === '' ? [] : [{ to, field: 'replaces' as const, from: replaces }]),
    ...skips.map((from) => ({ to, field: 'skips' as const, from })),
    ...(skipRange === '' ? [] : [{ to, field: 'skipRange' as const, from: skipRange }]),
  ]);
  return new Map(edges.map((edge) => [JSON.stringify([edge.to, edge.field, edge.from]), edge]));
}

function isSameEntry({ replaces, skips, skipRange }: Entry, other: Entry | undefined): boolean {
  return (
    other !== undefined &&
    replaces === other.replaces &&
    skipRange === other.skipRange &&
    skips.length === other.skips.length &&
    skips.every((name, i) => name === other.skips[i])
  );
}

/** What a change does to one bundle. The same content in another format or order counts as unchanged. */
function bundleDiff(bundle: string, before: Bundle | undefined, after: Bundle | undefined): BundleDiff[] {
  const kind = kindOf(before, after);
  if (!before || !after) return [{ bundle, kind, fields: [] }];
  const fields = sameBundle(before, after) ? [] : fieldsThatDiffer(before, after);
  return fields.length > 0 ? [{ bundle, kind, fields }] : [];
}

/** The names of the fields in which two bundles of one name differ. */
function fieldsThatDiffer(before: Bundle, after: Bundle): string[] {
  const version = ({ version: own }: Bundle): string => (own ? formatVersion(own) : '');
  return [
    ...(before.image === after.image ? [] : ['image']),
    ...(version(before) === version(after) ? [] : ['version']),
    ...(sameValue(before.properties, after.properties) ? [] : ['properties']),
    ...(sameValue(before.relatedImages, after.relatedImages) ? [] : ['relatedImages']),
  ];
}

function deprecationDiffs(before: Package | undefined, after: Package | undefined): DeprecationDiff[] {
  return pairs(deprecationsOf(before), deprecationsOf(after)).flatMap(([was, is, of]) =>
    // Of a deprecation that is gone, the message that it had.
    was === is ? [] : [{ kind: kindOf(was, is), of, message: is ?? was ?? '' }],
  );
}

/** The messages of a package's deprecations, by what each is about. */
function deprecationsOf(ofPackage: Package | undefined): Map<string, string> {
  if (!ofPackage) return new Map();
  const { deprecation, deprecatedChannels, deprecatedBundles } = ofPackage;
  return new Map([
    ...(deprecation === undefined ? [] : ([['package', deprecation]] as const)),
    ...[...deprecatedChannels].map(([name, message]) => [`channel ${name}`, message] as const),
    ...[...deprecatedBundles].map(([name, message]) => [`bundle ${name}`, message] as const),
  ]);
}

/**
 * The packages that a change touches: those of every blob, before and after, in a file
 * that differs. A file may hold blobs of other packages than its folder's.
 *
 * @param differs whether the file at a path differs
 */
export function touchedPackages(
  change: { readonly before: readonly Blobs[]; readonly after: readonly Blobs[] },
  differs: (file: string) => boolean,
): Set<string> {
  const touched = new Set<string>();
  for (const { packages, channels, bundles, deprecations, others } of [...change.before, ...change.after]) {
    for (const blob of packages) if (differs(blob.document.file)) touched.add(blob.name);
    for (const blob of [...channels, ...bundles, ...deprecations, ...others])
      if (differs(blob.document.file)) touched.add(blob.package);
  }
  // A blob of another schema need not belong to a package.
  touched.delete('');
  return touched;
}

/**
 * What a change of a package's content means for those who installed it: whether it
 * only adds, moves edges, loses something, or changes what was published.
 */

import { metadataOf } from '../bundle/migrate.ts';
import type { Blob, Blobs, Bundle, Channel, Entry, Property } from '../fbc/model.ts';
import { canonicalJson, sameValue } from '../fbc/same-bundle.ts';
import { appendToGroup, groupedBy } from '../go/grouped.ts';
import { onceFor } from '../go/once.ts';
import { isObject } from '../go/shape.ts';
import {
  type ImageChange,
  imageKey,
  newPins,
  type TagDigests,
  withAssumedPins,
} from '../references/same-image.ts';

type ContentClass = 'add-entry' | 'edit-graph' | 'prune' | 'mutate-published';

interface ContentChange {
  readonly classes: ReadonlySet<ContentClass>;
  /** Names of bundles that a channel offers and did not before. */
  readonly added: readonly string[];
  /** The removed objects: `entry a of channel b`, `channel c`, … */
  readonly lost: readonly string[];
  /** Names of bundles whose content is another. */
  readonly mutated: readonly string[];
  /** Names of bundles whose tags became digests, if these are not known to be the digests of the tags. */
  readonly unconfirmed: readonly string[];
}

const NO_DIGESTS: TagDigests = new Map();

/**
 * Compares one package's blobs in one catalog, before and after. A change that adds and
 * loses nothing, if only of a comment, is `edit-graph`.
 *
 * @param digests what the tags of before are known to stand for
 */
export function contentChange(before: Blobs, after: Blobs, digests: TagDigests = NO_DIGESTS): ContentChange {
  const classes = new Set<ContentClass>();
  const added = addedEntries(before, after);
  const lost = [...lostChannels(before, after), ...lostOthers(before, after)];
  const changed = changedBundles(before, after, digests);
  const named = (kind: ImageChange): string[] =>
    changed.filter((one) => one.change === kind).map(({ bundle }) => bundle.name);
  const [mutated, unconfirmed] = [named('other'), named('unconfirmed')];
  if (added.length > 0) classes.add('add-entry');
  if (lost.length > 0) classes.add('prune');
  // An unconfirmed digest may be of any content.
  if (changed.length > 0) classes.add('mutate-published');
  if (classes.size === 0 || edgesMoved(before, after) || metadataMoved(before, after))
    classes.add('edit-graph');
  return { classes, added, lost, mutated, unconfirmed };
}

/**
 * What a package is that a catalog did not have: `promote` if each of its bundles is what other catalogs have already, but for
 * the format of the metadata; with `edit-graph` where no catalog has its edges and its metadata.
 */
export function promotionClasses(
  unit: Blobs,
  elsewhere: readonly Blobs[],
): readonly ('add-entry' | 'promote' | 'edit-graph')[] {
  const known = new Map<string, Bundle[]>();
  for (const blobs of elsewhere) {
    for (const bundle of blobs.bundles) appendToGroup(known, bundle.name, bundle);
  }
  // Of a package without bundles, nothing is elsewhere.
  const isKnown =
    unit.bundles.length > 0 &&
    unit.bundles.every((bundle) => known.get(bundle.name)?.some((other) => sameBundle(other, bundle)));
  if (!isKnown) return ['add-entry'];
  const isAsElsewhere = elsewhere.some((other) => isPartOf(unit, other));
  return isAsElsewhere ? ['promote'] : ['promote', 'edit-graph'];
}

/** Whether a package only leaves out versions of another: channels, edges and metadata are the same otherwise. */
function isPartOf(unit: Blobs, other: Blobs): boolean {
  const channels = byName(other.channels);
  const areEdgesKept = unit.channels.every((channel) => {
    const full = channels.get(channel.name);
    const names = new Set(channel.entries.map(({ name }) => name));
    const entries = new Map(full?.entries.map((entry) => [entry.name, entry]));
    const isKept = (entry: Entry): boolean => isWithoutMissing(entry, entries.get(entry.name), names);
    return (
      full !== undefined && sameWithout(full.value, channel.value, 'entries') && channel.entries.every(isKept)
    );
  });
  return areEdgesKept && !metadataMoved(other, unit);
}

/** Whether an entry has the edges of another one; those from entries that are not there may be missing. */
function isWithoutMissing(now: Entry, full: Entry | undefined, names: ReadonlySet<string>): boolean {
  if (!full || now.skipRange !== full.skipRange) return false;
  const [kept, all] = [new Set(now.skips), new Set(full.skips)];
  const isReplacing = now.replaces === full.replaces || (now.replaces === '' && !names.has(full.replaces));
  return (
    isReplacing &&
    now.skips.every((skip) => all.has(skip)) &&
    full.skips.every((skip) => kept.has(skip) || !names.has(skip))
  );
}

function byName<T extends Blob>(blobs: readonly T[]): ReadonlyMap<string, T> {
  // Set the first of duplicate names last: it counts, as in `catalogOf`.
  return new Map(blobs.toReversed().map((blob) => [blob.name, blob]));
}

/**
 * What is really new: entries of known channels, and bundles that no channel named. Another way to a known bundle does
 * not count.
 */
function addedEntries(before: Blobs, after: Blobs): string[] {
  const channels = byName(before.channels);
  const offered = new Set([
    ...before.bundles.map(({ name }) => name),
    ...before.channels.flatMap(({ entries }) => entries.map(({ name }) => name)),
  ]);
  const added = new Set<string>();
  for (const channel of after.channels) {
    const old = channels.get(channel.name);
    // A new channel may list bundles that other channels offered already.
    const known = old ? new Set(old.entries.map(({ name }) => name)) : offered;
    for (const { name } of channel.entries) if (!known.has(name)) added.add(name);
  }
  for (const { name } of after.bundles) if (!offered.has(name)) added.add(name);
  return [...added];
}

/** Channels that are gone, and entries that are gone from channels that stay, in words. */
function lostChannels(before: Blobs, after: Blobs): string[] {
  const channels = byName(after.channels);
  return before.channels.flatMap((channel) => {
    const now = channels.get(channel.name);
    if (!now) return [`channel ${channel.name}`];
    const names = new Set(now.entries.map(({ name }) => name));
    return channel.entries
      .filter(({ name }) => !names.has(name))
      .map(({ name }) => `entry ${name} of channel ${channel.name}`);
  });
}

/** Lost bundles, package blobs, deprecations and blobs of other schemas, in words. */
function lostOthers(before: Blobs, after: Blobs): string[] {
  const bundles = byName(after.bundles);
  const lost = before.bundles.filter(({ name }) => !bundles.has(name)).map(({ name }) => `bundle ${name}`);
  if (before.packages.length > 0 && after.packages.length === 0) lost.push('the olm.package blob');
  const deprecations = new Set(deprecationKeys(after));
  for (const key of deprecationKeys(before)) if (!deprecations.has(key)) lost.push(key);
  // Several blobs of another schema may have one name, or none: each of them counts.
  const others = groupedBy(after.others, otherKey);
  for (const [key, was] of groupedBy(before.others, otherKey))
    if ((others.get(key) ?? []).length < was.length) lost.push(key);
  return lost;
}

function deprecationKeys({ deprecations }: Blobs): string[] {
  return deprecations.flatMap(({ entries }) =>
    entries.map(({ schema, name }) => `deprecation of ${schema}${name === '' ? '' : ` ${name}`}`),
  );
}

function otherKey({ schema, name }: Blob): string {
  return `${schema} ${name}`;
}

/** Bundles on both sides, with what they were, that are not the same. */
export function changedBundles(
  before: Blobs,
  after: Blobs,
  digests: TagDigests = NO_DIGESTS,
): { readonly was: Bundle; readonly bundle: Bundle; readonly change: ImageChange }[] {
  const old = byName(before.bundles);
  return after.bundles.flatMap((bundle) => {
    const was = old.get(bundle.name);
    if (!was || sameBundle(was, bundle, digests)) return [];
    // Where only tags became digests, it may still be the same image: nobody has confirmed it yet.
    const pins = newPins(was, bundle);
    const isPinned = pins.length > 0 && sameBundle(was, bundle, withAssumedPins(digests, pins));
    return [{ was, bundle, change: isPinned ? 'unconfirmed' : 'other' }];
  });
}

/** Whether a channel is new, or one that stays has other edges or metadata. */
function edgesMoved(before: Blobs, after: Blobs): boolean {
  const channels = byName(before.channels);
  return after.channels.some((channel) => {
    const old = channels.get(channel.name);
    return !old || channelMoved(old, channel);
  });
}

/** Whether an entry that stays has other upgrade edges, or the channel itself differs in anything but its entries. */
function channelMoved(old: Channel, now: Channel): boolean {
  const entries = new Map(old.entries.map((entry) => [entry.name, entry]));
  const moved = now.entries.some((entry) => {
    const was = entries.get(entry.name);
    return was !== undefined && !sameEdges(was, entry);
  });
  return moved || !sameWithout(old.value, now.value, 'entries');
}

function sameEdges(a: Entry, b: Entry): boolean {
  return a.replaces === b.replaces && a.skipRange === b.skipRange && sameSet(a.skips, b.skips);
}

/** Default channel, icon, description, deprecations, blobs of other schemas. */
function metadataMoved(before: Blobs, after: Blobs): boolean {
  const values = ({ packages, deprecations, others }: Blobs): unknown[] =>
    [...packages, ...deprecations, ...others].map(({ value }) => value);
  return !sameValue(values(before), values(after));
}

/** Whether two bundles are read from the same text, of which all versions of a file share what was decoded. */
function isOneDocument(a: Bundle, b: Bundle): boolean {
  return (
    a.image === b.image &&
    a.value === b.value &&
    a.properties === b.properties &&
    a.relatedImages === b.relatedImages
  );
}

const OBJECT = 'olm.bundle.object';
const METADATA = 'olm.csv.metadata';

/**
 * Whether two bundles are the same to a cluster. A catalog holds a bundle's manifests in one of two formats; where the
 * two sides use different ones, the metadata is compared with what opm makes of the objects. Where one side has none, the
 * other's are new.
 *
 * @param digests what the tags of the first are known to stand for
 */
export function sameBundle(a: Bundle, b: Bundle, digests: TagDigests = NO_DIGESTS): boolean {
  if (a.package !== b.package) return false;
  if (isOneDocument(a, b)) return true;
  // A tag and a digest count as one image only where the other side names that digest.
  const images = (bundle: Bundle): Set<string> =>
    new Set([bundle.image, ...bundle.relatedImages.map(({ image }) => image)]);
  const [ours, theirs] = [images(a), images(b)];
  const keysOf = (bundle: Bundle, others: ReadonlySet<string>): unknown[] =>
    bundle.relatedImages.map((related) => ({ ...related, image: imageKey(related.image, digests, others) }));
  const [oneFormat, other] = [formatOf(a), formatOf(b)];
  const otherFormat = oneFormat !== undefined && other !== undefined && oneFormat !== other;
  const properties = (bundle: Bundle): readonly Property[] =>
    otherFormat ? inOneFormat(bundle) : bundle.properties;
  return (
    // `digests` are those of the first: the second's tags may have moved since.
    imageKey(a.image, digests, theirs) === imageKey(b.image, NO_DIGESTS, ours) &&
    sameItems(properties(a), properties(b)) &&
    (sameItems(a.relatedImages, b.relatedImages) || sameItems(keysOf(a, theirs), keysOf(b, ours))) &&
    sameWithout(a.value, b.value, 'image', 'properties', 'relatedImages')
  );
}

/** The properties of a bundle with its metadata in place of its objects; as they are if opm cannot make it from these. */
const inOneFormat = onceFor((bundle: Bundle): readonly Property[] => {
  const metadata = metadataOf(bundle);
  if (!isObject(metadata)) return bundle.properties;
  const rest = bundle.properties.filter(({ type }) => type !== OBJECT && type !== METADATA);
  // Versions of opm differ in whether they write what is empty.
  const filled = Object.entries(metadata).filter(([, value]) => !isEmpty(value));
  return [...rest, { type: METADATA, value: Object.fromEntries(filled) }];
});

function isEmpty(value: unknown): boolean {
  if (value === null || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

function formatOf({ properties }: Bundle): string | undefined {
  return properties.find(({ type }) => type === OBJECT || type === METADATA)?.type;
}

/** Whether two lists hold the same items, in whatever order. */
function sameItems(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false;
  if (sameValue(a, b)) return true;
  const texts = (list: readonly unknown[]): string[] => list.map(canonicalJson).sort();
  return sameValue(texts(a), texts(b));
}

/** Whether two lists have the same items, in any order and however often. */
function sameSet(a: readonly string[], b: readonly string[]): boolean {
  if (a.length === b.length && a.every((item, i) => item === b[i])) return true;
  const set = new Set(a);
  return set.size === new Set(b).size && b.every((item) => set.has(item));
}

/** Whether two objects are the same but for some keys. */
function sameWithout(
  a: Readonly<Record<string, unknown>>,
  b: Readonly<Record<string, unknown>>,
  ...keys: readonly string[]
): boolean {
  const rest = (value: Readonly<Record<string, unknown>>): Map<string, unknown> =>
    new Map(Object.entries(value).filter(([key]) => !keys.includes(key)));
  const [x, y] = [rest(a), rest(b)];
  return x.size === y.size && [...x].every(([key, value]) => y.has(key) && sameValue(value, y.get(key)));
}

/** The blobs that are not, value for value, among those before. */
export function newBlobs(before: Blobs, after: Blobs): Blob[] {
  const kinds = ['packages', 'channels', 'bundles', 'deprecations', 'others'] as const;
  return kinds.flatMap((kind) => {
    const old = new Map<string, Blob[]>();
    for (const blob of before[kind]) appendToGroup(old, blob.name, blob);
    return after[kind].filter(
      (blob) =>
        !old
          .get(blob.name)
          ?.some((other) => other.schema === blob.schema && sameValue(other.value, blob.value)),
    );
  });
}

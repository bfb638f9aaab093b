/**
 * What was ever published: clusters may still run a bundle that its catalog no longer
 * has. It stands in the old versions of the files that a pull request touches. One
 * version differs from the next by a document or two: only these are parsed.
 */
import { createHash } from 'node:crypto';
import { headsOf } from '../../../catalog/fbc/channel.ts';
import { type EachBlob, load } from '../../../catalog/fbc/load.ts';
import type { Blobs, Bundle, Channel } from '../../../catalog/fbc/model.ts';
import { onceFor } from '../../../catalog/go/once.ts';
import type { PublishedBundle } from '../../../catalog/olm/foresight/world.ts';
import { OUTLINE } from '../../../catalog/olm/outline.ts';
import { isWithin } from '../../change/catalogs.ts';
import { PipelineError } from '../../error.ts';
import { mentionsAny } from '../../file-pieces.ts';
import type { ObjectReader } from '../../git/objects.ts';
import type { Repository } from '../../git/repository.ts';
import { LruCache } from '../../lru-cache.ts';
import type { Limits } from '../../policy/policy.ts';
import { documentsIn, type ReadFile, readDocuments } from './documents.ts';
import {
  type AddedFile,
  type CatalogPath,
  type OldVersion,
  type OldVersions,
  oldVersions,
} from './old-versions.ts';

/** By catalog and package. */
export type Published = ReadonlyMap<string, ReadonlyMap<string, readonly PastBundle[]>>;

/** A bundle that was once an entry of a channel, with where the rest of it stands. */
export interface PastBundle extends PublishedBundle {
  /** Git id of the latest file version that has the bundle; absent where it says no more than the outline. */
  readonly file?: string;
}

/** The first day on which a catalog had a package, `YYYY-MM-DD`; without a name, that of what never changed since. */
export type Since = ReadonlyMap<string, ReadonlyMap<string, string>>;

export interface PublishedHistory {
  readonly published: Published;
  /** Where that is known. */
  readonly since?: Since;
  /** Why some of it may be missing. */
  readonly incomplete: string | undefined;
}

/** Most old versions of files that are read, and most of their bytes. */
const MOST_FILES = 100;
const MOST_BYTES = 32 * 1024 * 1024;

/** Old versions that are asked for together. */
const TOGETHER = 12;

/**
 * What catalogs had before a commit, and with it.
 *
 * @param commit id of the commit whose first parents are followed
 */
export async function publishedBefore(
  repository: Repository,
  commit: string,
  reading: PastReading,
): Promise<PublishedHistory> {
  const past = await oldVersions(repository, commit, reading.places);
  const shallow = repository.shallow ? { incomplete: 'the clone is shallow' } : {};
  return publishedIn(repository.objects, { ...past, ...shallow }, reading);
}

/** What old versions of files say, by their ids, and single documents by their digests. */
export type KeptVersions = LruCache<FilePast>;

/** Entries of channels and versions of bundles that are kept. */
const MOST_KEPT = 2_000_000;

/** Room for what old versions of files say. */
export function keptVersions(): KeptVersions {
  return new LruCache(MOST_KEPT);
}

interface VersionReading {
  readonly limits: Limits;
  /** What was read before, with the same limits. */
  readonly kept: KeptVersions;
}

interface PastReading extends Pick<VersionReading, 'limits'> {
  readonly places: readonly CatalogPath[];
  readonly kept?: KeptVersions | undefined;
}

/** What catalogs ever had, from old versions of their files, the latest first. */
export async function publishedIn(
  objects: ObjectReader,
  { versions, added = [], incomplete }: OldVersions,
  { places, limits, kept = keptVersions() }: PastReading,
): Promise<PublishedHistory> {
  const ids = new Map(versions.map(({ id, path }) => [id, path]));
  const read = await readVersions(objects, ids, { limits, kept });
  const catalogOf = ({ catalog, path }: AddedFile): string | undefined =>
    catalog ?? places.find((place) => isWithin(path, place.path))?.catalog;
  const found: PastByCatalog = new Map();
  const packages = new Map<string, Set<string>>();
  for (const version of versions) {
    const catalog = catalogOf(version);
    const past = read.get(version.id);
    if (past) {
      const names = packages.get(version.path) ?? new Set();
      packages.set(version.path, names);
      for (const name of packagesIn(past)) names.add(name);
    }
    if (catalog !== undefined && past) notePast(past, version, mapIn(found, catalog));
  }
  // A package is there since the first of its files. Without an old version that was read, a file's packages are unknown:
  // it counts under the empty name.
  const since = new Map<string, Map<string, string>>();
  for (const file of added) {
    const days = mapIn(since, catalogOf(file) ?? '');
    for (const name of packages.get(file.path) ?? [''])
      if (file.date < (days.get(name) ?? LAST_DAY)) days.set(name, file.date);
  }
  const cut =
    read.size < ids.size
      ? `only the latest ${read.size} of ${ids.size} old file versions were read`
      : undefined;
  return { published: publishedOf(found), since, incomplete: incomplete ?? cut };
}

/** What old versions of files say, by id, as far as the limits allow. */
async function readVersions(
  objects: ObjectReader,
  ids: ReadonlyMap<string, string>,
  { limits, kept }: VersionReading,
): Promise<Map<string, FilePast>> {
  const asked = [...ids].slice(0, MOST_FILES);
  const known = new Map(asked.map(([id]) => [id, kept.get(keyOf(id, limits))]));
  await objects.prefetch(asked.flatMap(([id]) => (known.get(id) ? [] : id)));
  const read = new Map<string, FilePast>();
  // By path: the version that came after, with which most documents are the same.
  const later = new Map<string, ReadFile<FilePast>>();
  let bytes = 0;
  for (let i = 0; i < asked.length && bytes < MOST_BYTES; i += TOGETHER) {
    const batch = asked.slice(i, i + TOGETHER);
    const contents = await Promise.all(
      batch.map(([id]) => (known.get(id) ? undefined : contentOf(objects, id, limits))),
    );
    // One after the other: what one of them has brought need not be parsed for the next.
    for (const [at, [id, path]] of batch.entries()) {
      const content = contents[at];
      let past = known.get(id);
      if (!past && content) {
        const documents = await readDocuments(content, later.get(path), (document) =>
          documentPast(document, { limits, kept }),
        );
        later.set(path, documents);
        past = filePast(documents);
        kept.keep(keyOf(id, limits), past, weightOf(past));
      }
      if (!past) continue;
      bytes += past.bytes;
      read.set(id, past);
    }
  }
  return read;
}

/** Later than every day of a commit. */
const LAST_DAY = '9999-12-31';

const packagesIn = onceFor(({ channels, bundles }: FilePast): ReadonlySet<string> => {
  const blobs = [...channels, ...bundles.map(({ bundle }) => bundle)];
  return new Set(blobs.map((blob) => blob.package));
});

/** The bytes of an old version; undefined where a partial clone does not have it, or it is too large. */
async function contentOf(objects: ObjectReader, id: string, limits: Limits): Promise<Buffer | undefined> {
  try {
    return (await objects.read(id, limits.fileBytes)).bytes;
  } catch (error) {
    if (error instanceof PipelineError && (error.code === 'not-found' || error.code === 'too-large'))
      return undefined;
    throw error;
  }
}

/** What was found of a package: entries by channel and bundle, and bundles, which may stand in other files. */
interface PackagePast {
  readonly entries: Map<string, PublishedBundle>;
  readonly bundles: Map<string, Pick<PastBundle, 'file'> & { readonly bundle: Bundle }>;
}

/** What was found so far, by catalog and package. */
type PastByCatalog = Map<string, Map<string, PackagePast>>;

/** The entries that were found, each with the version and image of its bundle, if the bundle was found as well. */
function publishedOf(found: PastByCatalog): Published {
  return new Map(
    [...found].map(([catalog, packages]) => [
      catalog,
      new Map([...packages].map(([name, past]) => [name, bundlesOf(past)] as const)),
    ]),
  );
}

/** The entries of a package's channels, with their bundles as far as any old version had them. */
function bundlesOf({ entries, bundles }: PackagePast): PastBundle[] {
  return [...entries.values()].map((entry): PastBundle => {
    const known = bundles.get(entry.name);
    return known
      ? { ...entry, ...known, version: known.bundle.version, image: known.bundle.image }
      : { ...entry };
  });
}

/** What was found of a package, to add to; begun empty. */
function packageIn(packages: Map<string, PackagePast>, name: string): PackagePast {
  const known = packages.get(name) ?? { entries: new Map(), bundles: new Map() };
  packages.set(name, known);
  return known;
}

/** The inner map of a key, to add to; begun empty. */
function mapIn<K, V>(of: Map<string, Map<K, V>>, key: string): Map<K, V> {
  const known = of.get(key) ?? new Map<K, V>();
  of.set(key, known);
  return known;
}

/** The channels and bundles of one version of a file, in outline. */
interface FilePast {
  readonly channels: readonly Channel[];
  readonly bundles: readonly OutlinedBundle[];
  readonly bytes: number;
}

interface OutlinedBundle {
  readonly bundle: Bundle;
  /** Whether its document holds manifests, which the outline lacks. */
  readonly hasManifests: boolean;
}

/** A key of what was read of a content: other limits may read less of it. */
function keyOf(id: string, limits: Limits): string {
  return `${id} ${limitsText(limits)}`;
}

const limitsText = onceFor((limits: Limits) => JSON.stringify(limits));

/** Reads one document, unless it is known: most documents are in many versions of their file. */
async function documentPast(document: Buffer, { limits, kept }: VersionReading): Promise<FilePast> {
  const key = keyOf(createHash('sha256').update(document).digest('base64'), limits);
  const known = kept.get(key);
  if (known) return known;
  const past = await parseDocument(document, limits);
  kept.keep(key, past, weightOf(past));
  return past;
}

/** What all documents of a file say together. */
function filePast({ content, documents }: ReadFile<FilePast>): FilePast {
  return {
    channels: documents.flatMap(({ value }) => value.channels),
    bundles: documents.flatMap(({ value }) => value.bundles),
    bytes: content.length,
  };
}

/** An outline of a bundle weighs as much as this many entries of channels. */
const BUNDLE_WEIGHT = 5;

/** What a past weighs in the cache, at least 1: files without channels and bundles take room as well. */
function weightOf({ channels, bundles }: FilePast): number {
  return channels.reduce((sum, { entries }) => sum + entries.length, 1 + BUNDLE_WEIGHT * bundles.length);
}

/** The property that holds a manifest of its bundle. */
const OBJECT = 'olm.bundle.object';

/** The channels and bundles of one document, in outline. */
async function parseDocument(document: Buffer, limits: Limits): Promise<FilePast> {
  const text = document.toString('utf8');
  // Of the text nothing stays: a bundle's is long, and its outline short.
  const { channels, bundles } = await blobsIn(text, limits, {
    channel: OUTLINE.channel,
    bundle: OUTLINE.bundle,
  });
  const hasManifests = mentionsAny(document, [OBJECT]);
  return { channels, bundles: bundles.map((bundle) => ({ bundle, hasManifests })), bytes: text.length };
}

async function blobsIn(text: string, limits: Limits, each: EachBlob): Promise<Blobs> {
  const bytes = new TextEncoder().encode(text);
  const file = { path: 'file', read: () => bytes };
  return (await load({ files: () => Promise.resolve([file]) }, limits, each)).blobs;
}

/**
 * Adds what an old version of a file had. Versions come from the newest to the oldest, so what is known already keeps its
 * later day.
 */
function notePast(
  { channels, bundles }: FilePast,
  { id, date: last }: Pick<OldVersion, 'id' | 'date'>,
  packages: Map<string, PackagePast>,
): void {
  for (const { bundle, hasManifests } of bundles) {
    const known = packageIn(packages, bundle.package).bundles;
    if (!known.has(bundle.name)) known.set(bundle.name, { bundle, ...(hasManifests ? { file: id } : {}) });
  }
  for (const all of channels) {
    const { package: packageName, name: channel } = all;
    const known = packageIn(packages, packageName).entries;
    const heads = new Set(headsOf(all));
    for (const entry of all.entries) {
      const key = `${channel}\n${entry.name}`;
      const one: PublishedBundle = known.get(key) ?? {
        channel,
        name: entry.name,
        version: undefined,
        last,
        entry,
      };
      // The newest version in which it is a head has its last day as one.
      const headUntil = one.headUntil ?? (heads.has(entry) ? last : undefined);
      if (!known.has(key) || headUntil !== one.headUntil)
        known.set(key, { ...one, ...(headUntil === undefined ? {} : { headUntil }) });
    }
  }
}

/** Reads old bundles as a whole, with their manifests, where their documents hold any: outlines lack these. */
export async function wholeBundles(
  objects: ObjectReader,
  wanted: readonly PastBundle[],
  limits: Limits,
): Promise<Bundle[]> {
  const byFile = new Map<string, Set<string>>();
  for (const { file, name } of wanted)
    if (file !== undefined) byFile.set(file, (byFile.get(file) ?? new Set()).add(name));
  const found: Bundle[] = [];
  for (const [id, names] of [...byFile].slice(0, MOST_FILES)) {
    const content = await contentOf(objects, id, limits);
    const documents = content ? documentsIn(content) : [];
    const isWanted = (text: Buffer): boolean => mentionsAny(text, [OBJECT]) && mentionsAny(text, names);
    for (const document of documents.filter(isWanted)) {
      const { bundles } = await blobsIn(document.toString('utf8'), limits, {});
      found.push(...bundles.filter(({ name }) => names.has(name)));
    }
  }
  return found;
}

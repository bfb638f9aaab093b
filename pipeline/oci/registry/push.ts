/**
 * Images whole: blobs first, then manifests by digest, the tag last. Until the last request the
 * tag names what it named before, and never an image of which something is missing.
 */

import { type Reference, withDigest } from '../../../catalog/reference.ts';
import { PipelineError } from '../../error.ts';
import type { BlobOutcome, BlobSource, Descriptor, Manifest, Registry, Repository } from '../../ports.ts';
import { uniqueByDigest } from '../digest.ts';
import { contentOf, imagesFor, LIST_TYPES, parseManifest, platformText } from './image.ts';
import { withoutFirstBytes } from './stream.ts';

/** An image with all that belongs to it. */
export interface ImageContent {
  /** What the tag is to name. */
  readonly root: Manifest;
  /** The manifests of a list, those of lists within it before these. */
  readonly manifests: readonly Manifest[];
  readonly blobs: readonly BlobSource[];
}

export interface PushOptions {
  /** Repositories of the same registry that are likely to hold the blobs. */
  readonly mountFrom?: readonly string[];
  /**
   * The reference in the same repository that is looked at instead of `to`: the tag that is to name the image later.
   * What it names is taken for whole; of what no tag names, a registry's cleanup may have left the list alone.
   */
  readonly beside?: Reference;
  /** Blobs at a time; 4 when left out. */
  readonly parallel?: number;
}

export interface PushReport {
  readonly digest: string;
  /** How many blobs were there, were mounted, were sent. */
  readonly blobs: Readonly<Record<BlobOutcome, number>>;
  /** Bytes of the blobs and manifests that were sent; what a broken upload sent twice is counted once. */
  readonly bytes: number;
  /** Whether the reference named this very image before. */
  readonly unchanged: boolean;
}

/** Lists in lists at most, and manifests of one image: a hostile one could name tens of thousands. */
const DEPTH = 4;
const MOST_MANIFESTS = 1000;

/**
 * Makes a reference name an image. Nothing is sent that is there; when all of it is, one request is made.
 *
 * @throws PipelineError, and then the reference names what it named before
 */
export async function pushImage(
  registry: Registry,
  to: Reference,
  options: PushOptions & { readonly image: ImageContent },
): Promise<PushReport> {
  const report = await sendImage(registry, to, options);
  if (!report.unchanged) await registry.putManifest(to, options.image.root);
  return report;
}

/**
 * Sends all of an image but what the reference is to name: after it one request is left to be made.
 *
 * @returns what is sent with that last request; `unchanged` when it is not needed
 */
export async function sendImage(
  registry: Registry,
  to: Reference,
  { image, ...options }: PushOptions & { readonly image: ImageContent },
): Promise<PushReport> {
  const { root } = image;
  const standing = await standingAt(registry, options.beside ?? to);
  if (standing?.digest === root.digest) {
    return { digest: root.digest, blobs: { present: 0, mounted: 0, uploaded: 0 }, bytes: 0, unchanged: true };
  }
  const assumed = standing ? await heldBy(registry, to, { standing, image }) : new Set<string>();
  const sent = await sendBlobs(registry, to, { image, assumed, ...options });
  try {
    return await sendManifests(registry, to, { image, sent, assumed });
  } catch (error) {
    // The standing image names blobs that the registry has lost: now it is asked for each one.
    if (assumed.size === 0 || !isMissingContent(error)) throw error;
    const nothing = new Set<string>();
    const again = await sendBlobs(registry, to, { image, assumed: nothing, ...options });
    return sendManifests(registry, to, { image, sent: again, assumed: nothing });
  }
}

/** Whether a registry may have refused a manifest because something that it names is missing: registries say 400 or 404. */
function isMissingContent(error: unknown): boolean {
  return error instanceof PipelineError && ['bad-answer', 'not-found'].includes(error.code);
}

/** What a reference names now; undefined also for what is not a manifest: it is about to be replaced. */
async function standingAt(registry: Registry, reference: Reference): Promise<Manifest | undefined> {
  try {
    return await registry.getManifest(reference);
  } catch (error) {
    const isUnusable =
      error instanceof PipelineError && ['bad-answer', 'corrupt', 'too-large'].includes(error.code);
    if (isUnusable && !error.retryable) return undefined;
    throw error;
  }
}

/** Manifests of a list that are read to learn what a repository holds. */
const MOST_READ = 16;

/**
 * Digests of an image's blobs that the standing image of the repository names, and which are therefore there. Manifests of
 * its list are read as long as they name more: most platforms have the same layers.
 */
async function heldBy(
  registry: Registry,
  to: Repository,
  { standing, image }: { readonly standing: Manifest; readonly image: ImageContent },
): Promise<ReadonlySet<string>> {
  const needed = new Set(image.blobs.map(({ digest }) => digest));
  const present = new Set<string>();
  /** Notes the needed ones of these blobs. @returns whether any was new */
  const note = (content: readonly Descriptor[]): boolean => {
    const before = present.size;
    for (const { digest } of content) if (needed.has(digest)) present.add(digest);
    return present.size > before;
  };
  try {
    const parsed = parseManifest(standing);
    if (parsed.kind === 'image') note(contentOf(parsed));
    for (const child of parsed.kind === 'list' ? parsed.manifests.slice(0, MOST_READ) : []) {
      const { registry: host, repository } = to;
      const reference = { kind: 'digest', registry: host, repository, digest: child.digest } as const;
      const manifest = await registry.getManifest(reference);
      if (!manifest || !note(contentOf(parseManifest(manifest)))) break;
    }
  } catch (error) {
    // Without this knowledge each blob is asked for.
    if (!(error instanceof PipelineError)) throw error;
  }
  return present;
}

interface SentBlobs {
  readonly outcomes: Readonly<Record<BlobOutcome, number>>;
  /** Digests of blobs that were not in the repository. */
  readonly fresh: ReadonlySet<string>;
  /** Bytes of the blobs that were uploaded. */
  readonly bytes: number;
}

/** Sends the blobs that the registry lacks. @param assumed digests that it is assumed to have, and is not asked for */
async function sendBlobs(
  registry: Registry,
  to: Repository,
  {
    image,
    assumed,
    mountFrom,
    parallel = 4,
  }: PushOptions & { readonly image: ImageContent; readonly assumed: ReadonlySet<string> },
): Promise<SentBlobs> {
  const outcomes = { present: 0, mounted: 0, uploaded: 0 };
  const fresh = new Set<string>();
  let bytes = 0;
  await inParallel(uniqueByDigest(image.blobs), parallel, async (blob) => {
    const outcome = assumed.has(blob.digest)
      ? 'present'
      : await registry.putBlob(to, blob, mountFrom ? { mountFrom } : {});
    outcomes[outcome]++;
    if (outcome !== 'present') fresh.add(blob.digest);
    if (outcome === 'uploaded') bytes += blob.size;
  });
  return { outcomes, fresh, bytes };
}

const MANIFESTS_AT_A_TIME = 4;

/** Sends the manifests that the registry lacks, but not the root; lists last, in their order. */
async function sendManifests(
  registry: Registry,
  to: Reference,
  {
    image,
    sent,
    assumed,
  }: { readonly image: ImageContent; readonly sent: SentBlobs; readonly assumed: ReadonlySet<string> },
): Promise<PushReport> {
  const { root, manifests } = image;
  let { bytes } = sent;
  const put = async (manifest: Manifest): Promise<void> => {
    const name = withDigest(to, manifest.digest);
    const content = contentOf(parseManifest(manifest));
    // A manifest with a new blob cannot be there. One with a blob that was only assumed to be there is written, so that the
    // registry checks that.
    const mustWrite = content.some(({ digest }) => sent.fresh.has(digest) || assumed.has(digest));
    if (!mustWrite && (await registry.resolve(name)) !== undefined) return;
    await registry.putManifest(name, manifest);
    bytes += manifest.bytes.length;
  };
  const all = uniqueByDigest(manifests);
  const isList = ({ mediaType }: Manifest): boolean => LIST_TYPES.has(mediaType);
  await inParallel(
    all.filter((manifest) => !isList(manifest)),
    MANIFESTS_AT_A_TIME,
    put,
  );
  for (const list of all.filter(isList)) await put(list);
  const report = { digest: root.digest, blobs: sent.outcomes, unchanged: false };
  return { ...report, bytes: bytes + root.bytes.length };
}

/** Does something with every item, so many at a time; the first failure ends it. */
async function inParallel<T>(
  items: readonly T[],
  most: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0;
  let failed = false;
  const worker = async (): Promise<void> => {
    for (let item = items[next++]; item !== undefined && !failed; item = items[next++]) {
      try {
        await work(item);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  // Those under way end first: none goes on behind the error.
  const ends = await Promise.allSettled(Array.from({ length: Math.min(most, items.length) }, worker));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

/**
 * Reads the manifests of an image; its blobs are opened when they are needed.
 *
 * @param platforms as `os/architecture`: lists lead to the images for these only; absent: to all
 * @throws PipelineError `not-found` when the reference names nothing, or a list names what is not there
 */
export async function readImage(
  registry: Registry,
  from: Reference,
  platforms?: readonly string[],
): Promise<ImageContent> {
  const partOf = async (reference: Reference): Promise<Part> =>
    chosenOf(await partAt(registry, reference), platforms);
  const root = await partOf(from);
  const all = await partsOf(root, (digest) => partOf(withDigest(from, digest)));
  const placed = new Set<Part>();
  // Children first, because registries refuse a list before the images that it names.
  const place = (part: Part): void => {
    const children = part.isList ? part.content.flatMap(({ digest }) => all.get(digest) ?? []) : [];
    for (const child of children) if (!placed.has(child)) place(child);
    placed.add(part);
  };
  place(root);
  const parts = [...placed];
  const manifests = parts.filter((part) => part !== root).map(({ manifest }) => manifest);
  const blobs = parts.flatMap(({ isList, content }) => (isList ? [] : content));
  const open = (blob: Descriptor): BlobSource => blobOf(registry, from, blob);
  return { root: root.manifest, manifests, blobs: uniqueByDigest(blobs).map(open) };
}

/** A manifest of an image, and what it names. */
interface Part {
  readonly manifest: Manifest;
  readonly isList: boolean;
  readonly content: readonly Descriptor[];
}

/**
 * A list with only the images for some platforms, and the entries that name no platform.
 *
 * @throws PipelineError `not-found` for a list that has images, but none for these platforms
 */
function chosenOf(part: Part, platforms: readonly string[] | undefined): Part {
  if (!part.isList || platforms === undefined) return part;
  const content = imagesFor(part.content, platforms);
  if (content.length > 0 || part.content.length === 0) return { ...part, content };
  const there = [...new Set(part.content.map(platformText))].join(', ');
  throw new PipelineError(
    'not-found',
    `the manifest list ${part.manifest.digest} has no image for ${platforms.join(', ')}, only for ${there}`,
  );
}

/**
 * All that a list leads to, by digest: each is asked for once, however often it is named.
 *
 * @throws PipelineError `bad-answer` beyond {@link DEPTH}, `too-large` beyond {@link MOST_MANIFESTS}
 */
async function partsOf(
  root: Part,
  partOf: (digest: string) => Promise<Part>,
): Promise<ReadonlyMap<string, Part>> {
  const all = new Map<string, Part>();
  let lists = [root].filter(({ isList }) => isList);
  for (let depth = 0; lists.length > 0; depth++) {
    const [first] = lists;
    if (depth === DEPTH) {
      throw new PipelineError(
        'bad-answer',
        `the manifest list ${first?.manifest.digest} is nested too deeply`,
      );
    }
    const named = uniqueByDigest(lists.flatMap(({ content }) => content)).filter(
      ({ digest }) => !all.has(digest),
    );
    const count = all.size + named.length;
    if (count > MOST_MANIFESTS) {
      const message = `the manifest list ${root.manifest.digest} has ${count} manifests or more, the limit is ${MOST_MANIFESTS}`;
      throw new PipelineError('too-large', message);
    }
    const level = await Promise.all(named.map(({ digest }) => partOf(digest)));
    for (const part of level) all.set(part.manifest.digest, part);
    lists = level.filter(({ isList }) => isList);
  }
  return all;
}

/** Reads one manifest of an image, and what it names. */
async function partAt(registry: Registry, reference: Reference): Promise<Part> {
  const manifest = await manifestAt(registry, reference);
  const parsed = parseManifest(manifest);
  return { manifest, isList: parsed.kind === 'list', content: contentOf(parsed) };
}

/** The manifest of a reference. @throws PipelineError `not-found` */
async function manifestAt(registry: Registry, reference: Reference): Promise<Manifest> {
  const manifest = await registry.getManifest(reference);
  if (manifest) return manifest;
  const name = reference.kind === 'digest' ? reference.digest : reference.tag;
  throw new PipelineError('not-found', `${reference.registry}/${reference.repository} has no image ${name}`);
}

/** A blob of a registry, to be put into another one. For an offset it is cut: the `Registry` port reads from the start. */
export function blobOf(registry: Registry, from: Repository, { digest, size }: Descriptor): BlobSource {
  return {
    digest,
    size,
    open: (offset) => withoutFirstBytes(registry.getBlob(from, { digest, size }), offset),
  };
}

/** Copies an image, with all its platforms, from one registry or place to another. */
export async function copyImage(
  from: { readonly registry: Registry; readonly reference: Reference },
  to: { readonly registry: Registry; readonly reference: Reference },
  options: PushOptions = {},
): Promise<PushReport> {
  const image = await readImage(from.registry, from.reference);
  const isSame = from.registry === to.registry && from.reference.registry === to.reference.registry;
  const mountFrom = options.mountFrom ?? (isSame ? [from.reference.repository] : []);
  return pushImage(to.registry, to.reference, { ...options, mountFrom, image });
}

/** The content of a layout's repositories, from its index and its manifests. */

import { compareText } from '../../../../catalog/go/text.ts';
import { PipelineError } from '../../../error.ts';
import type { Descriptor, Manifest } from '../../../ports.ts';
import { algorithmOf, digestOf } from '../../digest.ts';
import {
  descriptorOf,
  type ImageManifest,
  isManifestType,
  type ManifestList,
  manifestType,
  parseManifest,
  referrerDescriptor,
} from '../image.ts';
import { allOf } from '../stream.ts';
import type { BlobReader } from './blobs.ts';
import type { Entry, LayoutIndex } from './entries.ts';

/** Bytes of a manifest that is read at most: what the specification wants registries to accept. */
const LARGEST_MANIFEST = 4 * 1024 * 1024;

/** Manifests beyond so many bytes are held without annotations: they are read again for whoever asks. */
const LARGEST_HELD = 64 * 1024;

/** A manifest of a repository, separate or in a list. */
interface HeldManifest {
  readonly descriptor: Descriptor;
  /** Without annotations where it is large. */
  readonly parsed: ImageManifest | ManifestList;
}

/** The content of one repository in a layout. */
export interface Contents {
  readonly tags: ReadonlyMap<string, Descriptor>;
  /** By digest; those in lists too, as far as they are there. */
  readonly manifests: ReadonlyMap<string, HeldManifest>;
  /** Digests of configs and layers that the manifests name. */
  readonly blobs: ReadonlySet<string>;
}

export interface ManifestReader {
  (descriptor: Descriptor): Promise<HeldManifest | undefined>;
  /** The manifest is no longer there. */
  forget(digest: string): void;
}

/** Manifests by digest, read once: what a digest names never changes. */
export function manifestReader(blobs: BlobReader): ManifestReader {
  const manifests = new Map<string, HeldManifest>();
  const read = async (descriptor: Descriptor): Promise<HeldManifest | undefined> => {
    const earlier = manifests.get(descriptor.digest);
    if (earlier) return earlier;
    const manifest = await readManifest(blobs, descriptor);
    if (!manifest || !isManifestType(manifest.mediaType)) return undefined;
    const found = {
      descriptor: descriptorOf(manifest),
      parsed: withinMemory(parseManifest(manifest), manifest),
    };
    manifests.set(descriptor.digest, found);
    return found;
  };
  const forget = (digest: string): void => {
    manifests.delete(digest);
  };
  return Object.assign(read, { forget });
}

/**
 * A manifest as it is kept in memory: a large one without annotations, which can be somebody else's
 * megabytes.
 */
function withinMemory(
  parsed: ImageManifest | ManifestList,
  { bytes }: Manifest,
): ImageManifest | ManifestList {
  if (bytes.length <= LARGEST_HELD) return parsed;
  if (parsed.kind === 'list')
    return { ...withoutAnnotations(parsed), manifests: parsed.manifests.map(withoutAnnotations) };
  return {
    ...withoutAnnotations(parsed),
    config: withoutAnnotations(parsed.config),
    layers: parsed.layers.map(withoutAnnotations),
  };
}

function withoutAnnotations<T extends { readonly annotations?: unknown }>({
  annotations: _,
  ...rest
}: T): Omit<T, 'annotations'> {
  return rest;
}

/** The bytes of a manifest, checked; undefined when it is not there. */
async function readManifest(blobs: BlobReader, descriptor: Descriptor): Promise<Manifest | undefined> {
  const size = await blobs.size(descriptor.digest);
  if (size === undefined) return undefined;
  if (size > LARGEST_MANIFEST)
    throw new PipelineError('too-large', `the manifest ${descriptor.digest} has ${size} bytes`);
  const bytes = await allOf(blobs.read(descriptor.digest));
  if (digestOf(bytes, algorithmOf(descriptor.digest)) !== descriptor.digest) {
    throw new PipelineError('corrupt', `the manifest ${descriptor.digest} does not match its digest on disk`);
  }
  return { mediaType: manifestType(bytes, descriptor.mediaType), digest: descriptor.digest, bytes };
}

/** A layout that is read: a directory, or an archive of one. */
export interface LayoutView {
  readonly blobs: BlobReader;
  /** Names of the repositories; the layout's own has the empty name. */
  repositories(): Promise<readonly string[]>;
  contents(repository: string): Promise<Contents>;
  /** The bytes of a manifest that is in the blobs. */
  manifest(descriptor: Descriptor): Promise<Manifest | undefined>;
}

/** A view whose contents are worked out again when the index has changed, or when they are said to have. */
export function createView(
  blobs: BlobReader,
  manifests: ManifestReader,
  read: () => Promise<LayoutIndex>,
): LayoutView & { invalidate(): void } {
  let current: LayoutIndex | undefined;
  let byRepository = new Map<string, Promise<Contents>>();
  return {
    blobs,
    repositories: async () => {
      const { entries } = await read();
      return [...new Set(entries.map(repositoryOf))].sort();
    },
    contents: async (repository) => {
      const index = await read();
      if (index !== current) byRepository = new Map();
      current = index;
      const contents = byRepository.get(repository) ?? contentsOf(index.entries, repository, manifests);
      byRepository.set(repository, contents);
      // What failed is tried again by whoever asks next.
      contents.catch(() => byRepository.delete(repository));
      return contents;
    },
    manifest: (descriptor) => readManifest(blobs, descriptor),
    invalidate: () => {
      current = undefined;
    },
  };
}

/**
 * The manifests of a repository whose subject is a digest, as a list of referrers describes them, in the order of digests.
 *
 * @param after only those behind this digest
 */
export async function* referrersIn(
  view: LayoutView,
  repository: string,
  { digest, artifactType, after = '' }: ReferrersAsked,
): AsyncGenerator<Descriptor> {
  const { manifests } = await view.contents(repository);
  const found = [...manifests.values()].filter(
    ({ descriptor, parsed }) =>
      parsed.subject?.digest === digest && compareText(descriptor.digest, after) > 0,
  );
  for (const held of found.sort((a, b) => compareText(a.descriptor.digest, b.descriptor.digest))) {
    const described = referrerDescriptor(held.descriptor, held.parsed);
    if (artifactType !== undefined && described.artifactType !== artifactType) continue;
    // A large manifest is kept in memory without its annotations, which belong into the list.
    const isHeld = held.descriptor.size <= LARGEST_HELD;
    const manifest = isHeld ? undefined : await view.manifest(held.descriptor);
    yield manifest ? referrerDescriptor(held.descriptor, parseManifest(manifest)) : described;
  }
}

interface ReferrersAsked {
  readonly digest: string;
  readonly artifactType?: string | undefined;
  readonly after?: string | undefined;
}

/**
 * The repository of an entry. An image with a name of another program, such as `localhost:5000/app:v1`, is read as one without a
 * tag of the layout's own repository.
 */
function repositoryOf({ repository = '' }: Entry): string {
  return repository;
}

/** The tags, manifests and blobs of one repository in a layout. */
async function contentsOf(
  entries: readonly Entry[],
  repository: string,
  manifests: ManifestReader,
): Promise<Contents> {
  const tags = new Map<string, Descriptor>();
  const found = new Map<string, HeldManifest>();
  const blobs = new Set<string>();
  const walk: Descriptor[] = [];
  for (const entry of entries) {
    if (repositoryOf(entry) !== repository) continue;
    if (entry.tag !== undefined) tags.set(entry.tag, entry.descriptor);
    walk.push(entry.descriptor);
  }
  for (let next = walk.pop(); next !== undefined; next = walk.pop()) {
    if (found.has(next.digest)) continue;
    const held = await manifests(next);
    // A list may name images that were not copied.
    if (held === undefined) continue;
    found.set(next.digest, held);
    if (held.parsed.kind === 'list') walk.push(...held.parsed.manifests);
    else for (const content of [held.parsed.config, ...held.parsed.layers]) blobs.add(content.digest);
  }
  return { tags, manifests: found, blobs };
}

/** Digests of the manifests that names of other programs lead to. */
export async function heldByOthers(
  entries: readonly Entry[],
  manifests: ManifestReader,
): Promise<ReadonlySet<string>> {
  const others = entries.filter(({ repository }) => repository === undefined);
  return new Set((await contentsOf(others, '', manifests)).manifests.keys());
}

/** Digests of the manifests that the lists of a repository name, at any depth. */
export async function heldInLists(
  entries: readonly Entry[],
  repository: string,
  manifests: ManifestReader,
): Promise<ReadonlySet<string>> {
  const contents = await contentsOf(entries, repository, manifests);
  const held = new Set<string>();
  for (const { parsed } of contents.manifests.values()) {
    if (parsed.kind === 'list') for (const { digest } of parsed.manifests) held.add(digest);
  }
  return held;
}

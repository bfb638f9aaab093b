/**
 * What a build works with, and where the pieces of its layers come from: made in this build,
 * cut out of a layer of the build before, or made again.
 */
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Tree } from '../../../catalog/fbc/cache/layout.ts';
import type { Finding } from '../../../catalog/finding.ts';
import { fileError } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import type { Descriptor } from '../../ports.ts';
import { type BuildCache, contentKey } from './build-cache.ts';
import { CODEC_IDS, type Codec } from './compress.ts';
import { type Extent, finishedPiece, readExtents, scratchFile } from './layer-piece.ts';
import type { Contents } from './packages.ts';

/** Reads a layer of an image that was published before. */
export type ReadLayer = (layer: Pick<Descriptor, 'digest' | 'size'>) => AsyncIterable<Uint8Array>;

/** What all steps of one build share: what is known at its start, and what it fills in on the way. */
export interface BuildContext {
  readonly contents: Contents;
  readonly memory: BuildCache;
  /** The directory for pieces and fetched layers, named by their digests. */
  readonly scratch: string;
  readonly codec: Codec;
  /** Whether the image gets opm's cache, as in `BuildOptions`. */
  readonly cache: 'json' | 'none';
  /** Layers of the build that the memory is of; everything is made again without. */
  readonly earlier?: ReadLayer | undefined;
  /** By digest, whether a layer of that build stands in the scratch directory. */
  readonly fetched: Map<string, Promise<boolean>>;
  /** Packages that were known and had to be made all the same, by name. */
  readonly remade: Map<string, Promise<unknown>>;
  /** Why no image can be made; filled while packages are read. */
  readonly findings: Set<Finding>;
  /** Digests of the layers that were made. */
  readonly made: Set<string>;
}

/** Names the facts of a package: they follow from its content and the kind of the cache. */
export function packageKey(name: string, { contents, cache }: BuildContext): string {
  return contentKey('package', cache, name, contents.identity(name));
}

/** Names a piece of a package. */
export function pieceKey(tree: Tree, name: string, context: BuildContext): string {
  return contentKey('piece', tree, CODEC_IDS[context.codec], packageKey(name, context));
}

/**
 * Where the bytes of a piece stand, without making it.
 *
 * @returns undefined when it has to be made
 */
export async function pieceAtHand(key: string, context: BuildContext): Promise<Extent | undefined> {
  const { memory, scratch } = context;
  const facts = memory.pieces.get(key);
  if (!facts) return undefined;
  const { digest, size, layer } = facts;
  const made = finishedPiece(scratch, facts);
  if (made) return made;
  if (!layer || !(await fetchLayer(layer, context))) return undefined;
  const extent = { path: scratchFile(scratch, layer.digest), offset: layer.offset, size };
  // A memory is somebody's file: what it says of a layer may not be so.
  return (await digestOf(extent)) === digest ? extent : undefined;
}

/** The digest of bytes in a file of the scratch directory. @throws PipelineError `io` */
async function digestOf(extent: Extent): Promise<string> {
  const hash = createHash('sha256');
  for await (const bytes of readExtents([extent])) hash.update(bytes);
  return `sha256:${hash.digest('hex')}`;
}

/** Brings a layer of an earlier build to the scratch directory. @returns false if it cannot be had */
function fetchLayer(
  { digest, size }: Pick<Descriptor, 'digest' | 'size'>,
  { earlier, fetched, scratch }: BuildContext,
): Promise<boolean> {
  // The digest becomes a file name, and may come from a foreign memory: nothing else than a digest may become a path.
  if (!earlier || !/^sha256:[0-9a-f]{64}$/.test(digest)) return Promise.resolve(false);
  // Many pieces are of one layer, which is fetched once.
  const earlierFetch = fetched.get(digest);
  if (earlierFetch) return earlierFetch;
  const path = scratchFile(scratch, digest);
  const fetching = pipeline(Readable.from(earlier({ digest, size })), createWriteStream(path)).then(
    () => true,
    (error: unknown) => {
      // If the layer is gone or the registry down, the piece is made again from the catalog.
      if (error instanceof PipelineError) return false;
      throw fileError(error, path);
    },
  );
  fetched.set(digest, fetching);
  return fetching;
}

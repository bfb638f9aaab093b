/**
 * Layers: pieces one behind the other, as a tar archive with nothing in it but names and
 * content (times are 0, modes and owners fixed).
 */
import { createHash } from 'node:crypto';
import type { BlobSource } from '../../ports.ts';
import type { Codec } from './compress.ts';
import { decompressed } from './decompress.ts';
import { type Extent, readExtents } from './layer-piece.ts';

/** The description of a layer without its bytes. Sizes are in bytes. */
export interface LayerFacts {
  /** Digest of the archive before compression. */
  readonly diffId: string;
  readonly digest: string;
  readonly size: number;
  readonly codec: Codec;
}

/**
 * The digests and the size of the layer that pieces make. They are decompressed for `diffId`, the digest of the archive
 * before compression, which costs a fraction of making them.
 *
 * @throws PipelineError `io`, `corrupt` for pieces that are damaged
 */
export async function layerOf(pieces: readonly Extent[], codec: Codec): Promise<LayerFacts> {
  const digest = createHash('sha256');
  const diffId = createHash('sha256');
  let size = 0;
  const compressed = async function* (): AsyncGenerator<Uint8Array> {
    for await (const bytes of readExtents(pieces)) {
      digest.update(bytes);
      size += bytes.length;
      yield bytes;
    }
  };
  const archive = decompressed(compressed());
  for await (const bytes of archive) diffId.update(bytes);
  return {
    diffId: `sha256:${diffId.digest('hex')}`,
    digest: `sha256:${digest.digest('hex')}`,
    size,
    codec,
  };
}

/** A layer as a blob. @param pieces asked for them when the bytes are wanted: they follow from the catalog */
export function layerBlob(
  { digest, size }: LayerFacts,
  pieces: () => Promise<readonly Extent[]>,
): BlobSource {
  return {
    digest,
    size,
    async *open(from) {
      yield* readExtents(await pieces(), from);
    },
  };
}

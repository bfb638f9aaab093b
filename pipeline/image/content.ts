/** What an image is made of, as data: descriptors, manifests, blobs that can be read again. */
import { createHash } from 'node:crypto';

/** What a node must be to run an image, in the words of OCI's image index. */
export interface Platform {
  readonly os: string;
  readonly architecture: string;
  readonly variant?: string;
  readonly osVersion?: string;
}

/** One piece of content; `size` in bytes. */
export interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  readonly platform?: Platform;
  readonly artifactType?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly urls?: readonly string[];
}

/** A manifest or a manifest list as its exact bytes; `digest` is that of the bytes. */
export interface Manifest {
  readonly mediaType: string;
  readonly digest: string;
  readonly bytes: Uint8Array;
}

/** Content that can be read more than once, so that a broken upload can go on. `size` in bytes. */
export interface BlobSource {
  readonly digest: string;
  readonly size: number;
  /** The bytes from the offset `from` (0 is the first byte) to the end. */
  open(from: number): AsyncIterable<Uint8Array>;
}

/** The SHA-256 digest of bytes. */
export function digestOf(...bytes: readonly Uint8Array[]): string {
  const hash = createHash('sha256');
  for (const piece of bytes) hash.update(piece);
  return `sha256:${hash.digest('hex')}`;
}

/** A blob in memory. */
export function bytesBlob(bytes: Uint8Array): BlobSource {
  return {
    digest: digestOf(bytes),
    size: bytes.length,
    async *open(from) {
      yield bytes.subarray(from);
    },
  };
}

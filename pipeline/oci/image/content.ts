/** Makes the manifests and blobs of an image from bytes, with their digests. */
import { createHash } from 'node:crypto';
import type { BlobSource } from '../../ports.ts';

/** The SHA-256 digest of bytes. */
export function digestOf(...bytes: readonly Uint8Array[]): string {
  const hash = createHash('sha256');
  for (const piece of bytes) hash.update(piece);
  return `sha256:${hash.digest('hex')}`;
}

/** A blob from bytes in memory. */
export function bytesBlob(bytes: Uint8Array): BlobSource {
  return {
    digest: digestOf(bytes),
    size: bytes.length,
    async *open(from) {
      yield bytes.subarray(from);
    },
  };
}

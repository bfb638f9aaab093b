/** Blobs from bytes in memory. */
import type { BlobSource } from '../../ports.ts';
import { digestOf } from '../digest.ts';

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

/** Digests of content: `algorithm:hex`, as references name them. */
import crypto, { createHash, type Hash } from 'node:crypto';
import { checkDigest } from '../../catalog/reference.ts';
import { PipelineError } from '../error.ts';
import type { BlobSource } from '../ports.ts';

/** `crypto.hash` costs much less for a small input than a `Hash`; Node 20.11 does not have it. */
const hexOf: (algorithm: string, bytes: Uint8Array) => string = crypto.hash
  ? (algorithm, bytes) => crypto.hash(algorithm, bytes)
  : (algorithm, bytes) => createHash(algorithm).update(bytes).digest('hex');

/** The digest of bytes; SHA-256 unless another algorithm is named. */
export function digestOf(bytes: Uint8Array, algorithm = 'sha256'): string {
  return `${algorithm}:${hexOf(algorithm, bytes)}`;
}

/** Whether a text is a digest of an algorithm that is known here: sha256, sha384, sha512. */
export function isDigest(text: unknown): text is string {
  if (typeof text !== 'string') return false;
  try {
    checkDigest(text);
    return true;
  } catch {
    return false;
  }
}

/** The algorithm of a digest, as `node:crypto` names it. */
export function algorithmOf(digest: string): string {
  return digest.slice(0, digest.indexOf(':'));
}

/** Whether two digests cannot be of the same content; digests of two algorithms cannot be compared, so false. */
export function digestsContradict(a: string, b: string): boolean {
  return algorithmOf(a) === algorithmOf(b) && a !== b;
}

/**
 * Passes bytes on and checks them. The last of them are held back until all are known to be
 * right: nobody gets the whole of something wrong.
 *
 * @param what the content and where it comes from, for messages
 * @throws PipelineError `corrupt` when there are more or fewer bytes, or other ones
 */
export async function* checkedBytes(
  bytes: AsyncIterable<Uint8Array>,
  { digest, size }: { readonly digest: string; readonly size: number },
  what: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  const algorithm = algorithmOf(digest);
  let hasher: Hash | undefined;
  let count = 0;
  let lastChunk: Uint8Array | undefined;
  for await (const chunk of bytes) {
    // Held back in place of the last bytes, it would hand these out unchecked.
    if (chunk.length === 0) continue;
    count += chunk.length;
    if (count > size) throw wrongSize(what, size, `more than ${size}`);
    if (lastChunk !== undefined) {
      // Only with a second chunk: `digestOf` is quicker for one.
      hasher ??= createHash(algorithm);
      hasher.update(lastChunk);
      yield lastChunk;
    }
    lastChunk = chunk;
  }
  if (count !== size) throw wrongSize(what, size, String(count));
  const last = lastChunk ?? new Uint8Array();
  const found = hasher ? `${algorithm}:${hasher.update(last).digest('hex')}` : digestOf(last, algorithm);
  if (found !== digest) throw digestMismatch(what, digest, found);
  if (lastChunk !== undefined) yield lastChunk;
}

function wrongSize(what: string, size: number, found: string): PipelineError {
  return new PipelineError('corrupt', `${what} has ${found} bytes, expected ${size}`);
}

/** The error for content that has another digest than it should; `what` names it and where it comes from. */
export function digestMismatch(what: string, expected: string, found: string): PipelineError {
  return new PipelineError('corrupt', `digest mismatch of ${what}: expected ${expected}, got ${found}`);
}

/** Items without repeated digests, in the order in which each comes first: images and platforms share layers. */
export function uniqueByDigest<T extends { readonly digest: string }>(items: readonly T[]): T[] {
  return [...new Map(items.map((item) => [item.digest, item])).values()];
}

// Blobs from bytes in memory.

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

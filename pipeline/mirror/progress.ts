/** How far a copy is, in images and in bytes. */

import type { ImageContent } from '../oci/registry/push.ts';
import type { BlobOutcome, BlobSource } from '../ports.ts';

export interface ProgressState {
  readonly images: { readonly done: number; readonly total: number };
  /** Bytes of blobs that are at the destination, of those that have to be; 0 until all images were looked at. */
  readonly bytes: { readonly done: number; readonly total: number };
}

interface ProgressCounts {
  readonly companions: number;
  readonly blobs: Readonly<Record<BlobOutcome, number>>;
  readonly bytes: number;
}

export interface Progress {
  /** Told what is to be copied of each image that was looked at. */
  expect(images: readonly { readonly content: ImageContent | undefined }[]): void;
  /** Bytes of a blob have left, up to an offset. */
  sent(digest: string, upTo: number): void;
  /** So many bytes of blobs have left over the network. */
  bytesSent(bytes: number): void;
  blobDone(blob: Pick<BlobSource, 'digest' | 'size'>, outcome: BlobOutcome): void;
  manifestSent(bytes: number): void;
  companionDone(): void;
  imageDone(): void;
  state(): ProgressState;
  counts(): ProgressCounts;
}

/** Counts what a copy has done. @param tell called with each change */
export function createProgress(images: number, tell: (state: ProgressState) => void): Progress {
  const blobs = { present: 0, mounted: 0, uploaded: 0 };
  const expected = new Map<string, number>();
  const arrived = new Map<string, number>();
  let total = 0;
  let done = 0;
  let imagesDone = 0;
  let bytes = 0;
  let companions = 0;
  const state = (): ProgressState => ({
    images: { done: imagesDone, total: images },
    bytes: { done, total },
  });
  const arrive = (digest: string, upTo: number): void => {
    // What is sent again after a break counts once.
    const before = arrived.get(digest) ?? 0;
    if (upTo <= before || !expected.has(digest)) return;
    arrived.set(digest, upTo);
    done += upTo - before;
    tell(state());
  };
  return {
    expect: (looked) => {
      for (const { content } of looked) {
        for (const { digest, size } of content?.blobs ?? []) expected.set(digest, size);
      }
      total = [...expected.values()].reduce((sum, size) => sum + size, 0);
      // The others could not be read: nothing more happens to them in this pass.
      imagesDone = images - looked.length;
    },
    sent: arrive,
    blobDone: ({ digest, size }, outcome) => {
      blobs[outcome]++;
      arrive(digest, size);
    },
    bytesSent: (size) => {
      bytes += size;
    },
    manifestSent: (size) => {
      bytes += size;
    },
    companionDone: () => {
      companions++;
    },
    imageDone: () => {
      imagesDone++;
      tell(state());
    },
    state,
    counts: () => ({ companions, blobs, bytes }),
  };
}

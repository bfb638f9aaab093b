/** What is counted of blobs on their way: the bytes that leave, not those that an earlier run sent. */
import { expect, test } from 'vitest';
import { parseReference } from '../../../catalog/reference.ts';
import { createBlobMover } from '../../../pipeline/mirror/blobs.ts';
import { NO_MEMORY } from '../../../pipeline/mirror/copy-memory.ts';
import type { BlobOutcome, BlobSource } from '../../../pipeline/ports.ts';
import { bytesOf, noise, source } from '../../fakes/image.ts';

const blob = source(noise(300_000));
const to = parseReference('mirror.example.com/a:v1');

/** Moves a blob to a registry that takes it as it is told; gives the bytes that are counted. */
async function counted(take: (from: BlobSource) => Promise<BlobOutcome>): Promise<number> {
  const sent: number[] = [];
  const watcher = { sent: () => undefined, bytesSent: (bytes: number) => void sent.push(bytes) };
  const mover = createBlobMover({ putBlob: async (_, one) => take(one) }, NO_MEMORY, watcher);
  await mover.move(blob, to, { isNew: true, beside: undefined }).catch(() => undefined);
  return sent.reduce((sum, bytes) => sum + bytes, 0);
}

/** A registry that reads the blob from these offsets to its end, one after the other. */
const reads =
  (outcome: BlobOutcome | 'cut', ...offsets: number[]) =>
  async (from: BlobSource): Promise<BlobOutcome> => {
    for (const offset of offsets) await bytesOf(from.open(offset));
    if (outcome === 'cut') throw new Error('cut');
    return outcome;
  };

test.each([
  ['a whole blob', 300_000, reads('uploaded', 0)],
  ['the rest of one of which the registry has a part', 100_000, reads('uploaded', 200_000)],
  ['what is read again after a break, once', 300_000, reads('uploaded', 0, 150_000)],
  ['nothing of what was read and turned out to be there', 0, reads('present', 0)],
  ['what left before it failed', 300_000, reads('cut', 0)],
])('%s: %d bytes', async (_, expected, take) => {
  expect(await counted(take)).toBe(expected);
});

import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { type Codec, compressor, FRAME } from '../../../../pipeline/oci/image/compress.ts';
import { unframed } from '../../../../pipeline/oci/image/zstd-frames.ts';

async function compressed(codec: Codec, ...pieces: Uint8Array[]): Promise<Buffer> {
  const out: Uint8Array[] = [];
  for (const piece of pieces) {
    const sink = await compressor(codec, (bytes) => out.push(Buffer.from(bytes)));
    await sink.write(piece);
    await sink.end();
  }
  return Buffer.concat(out);
}

async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function digestOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const digest = createHash('sha256');
  for await (const chunk of chunks) digest.update(chunk);
  return digest.digest('hex');
}

/** Text that repeats, and bytes that do not: more than a frame, and less than 256 bytes. */
const PIECES = [
  Buffer.from('harbour '.repeat(1_200_000)),
  Buffer.from(Uint8Array.from({ length: 400_000 }, (_, i) => (i * i * 2_654_435_761) >>> 13)),
  Buffer.alloc(300_000),
  Buffer.from('short'),
];

test.each([1 << 18, 4099, 1])('frames in pieces of %i bytes are what was compressed', async (size) => {
  const pieces = size === 1 ? PIECES.slice(2) : PIECES;
  const bytes = await compressed('zstd', ...pieces);
  expect(PIECES[0]?.length).toBeGreaterThan(FRAME);
  const expected = createHash('sha256').update(Buffer.concat(pieces)).digest('hex');
  expect(await digestOf(unframed(inPieces(bytes, size)))).toBe(expected);
});

test('what breaks off or is damaged is refused', async () => {
  const bytes = await compressed('zstd', PIECES[1] ?? Buffer.alloc(0));
  const refused = (broken: Buffer) =>
    expect(digestOf(unframed(inPieces(broken, 1 << 16)))).rejects.toThrow('a layer is damaged');
  for (const end of [3, 6, 20, bytes.length - 1]) await refused(bytes.subarray(0, end));
  await refused(Buffer.concat([bytes, Buffer.from('more than a frame')]));
  const changed = Buffer.from(bytes);
  changed.fill(0xff, 12, bytes.length / 2);
  await refused(changed);
  await refused(await compressed('gzip', Buffer.from('text')));
});

test('a frame that would hold more than Portolan puts into one is refused before it is decompressed', async () => {
  const header = (content: number): Buffer => {
    const bytes = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 0, 1, 0, 0]);
    bytes.writeUInt32LE(content, 5);
    return bytes;
  };
  await expect(digestOf(unframed(inPieces(header(FRAME + 1), 100)))).rejects.toThrow(
    'holds 8388609 bytes, more than 8388608',
  );
  const endless = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 0x58, 1, 0, 0]);
  await expect(digestOf(unframed(inPieces(endless, 100)))).rejects.toThrow(
    'is not a frame that Portolan writes',
  );
});

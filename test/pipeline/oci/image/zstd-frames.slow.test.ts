import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { type Codec, FRAME, openCompressor } from '../../../../pipeline/oci/image/compress.ts';
import { decompressed } from '../../../../pipeline/oci/image/decompress.ts';
import { unzstd } from '../../../../pipeline/oci/image/zstd-frames.ts';

async function compressed(codec: Codec, ...pieces: Uint8Array[]): Promise<Buffer> {
  const out: Uint8Array[] = [];
  for (const piece of pieces) {
    const sink = await openCompressor(codec, (bytes) => out.push(Buffer.from(bytes)));
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
  expect(await digestOf(unzstd(inPieces(bytes, size)))).toBe(expected);
});

test('what breaks off or is damaged is refused', async () => {
  const bytes = await compressed('zstd', PIECES[1] ?? Buffer.alloc(0));
  const refused = (broken: Buffer) =>
    expect(digestOf(unzstd(inPieces(broken, 1 << 16)))).rejects.toThrow('a layer is damaged');
  for (const end of [3, 6, 20, bytes.length - 1]) await refused(bytes.subarray(0, end));
  await refused(Buffer.concat([bytes, Buffer.from('more than a frame')]));
  const changed = Buffer.from(bytes);
  changed.fill(0xff, 12, bytes.length / 2);
  await refused(changed);
  await refused(await compressed('gzip', Buffer.from('text')));
  const withChecksum = Buffer.from('28b52ffd240529000068656c6c6f00000000', 'hex');
  await refused(withChecksum);
});

/** A frame with a window, and blocks of one byte that is repeated. */
function bomb(windowByte: number, blocks: number): Buffer {
  const block = Buffer.alloc(4);
  block.writeUIntLE((1 << 20) | 2, 0, 3);
  const all = Array.from({ length: blocks }, () => block);
  const last = Buffer.from([3, 0, 0, 0]);
  return Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, windowByte]), ...all, last]);
}

test.each([
  ['a window of 2 GiB', bomb(21 << 3, 0)],
  ['the largest window', bomb(255, 0)],
  ['content of 2^63 bytes in one piece', Buffer.from('28b52ffde00000000000000080', 'hex')],
])('attack 43: %s is refused before memory is taken for it', async (_, bytes) => {
  await expect(digestOf(unzstd(inPieces(bytes, 100)))).rejects.toMatchObject({ code: 'too-large' });
});

test('attack 43: a few bytes that stand for very many end at the limit of a layer', async () => {
  let size = 0;
  const read = async (): Promise<void> => {
    for await (const piece of decompressed(inPieces(bomb(0x58, 40_000), 1 << 16))) size += piece.length;
  };
  await expect(read()).rejects.toMatchObject({ code: 'too-large' });
  expect(size).toBeLessThanOrEqual(256 << 20);
});

test('attack 43: a bomb in gzip ends at the limit of a layer', async () => {
  const member = gzipSync(Buffer.alloc(64 << 20), { level: 9 });
  const short = Buffer.concat([gzipSync(Buffer.alloc(1)), ...Array.from({ length: 5 }, () => member)]);
  let size = 0;
  for await (const piece of decompressed(inPieces(short, 1 << 16))) size += piece.length;
  // gzip cannot exceed what is allowed: such a layer is read as it is.
  expect(size).toBe(320 * 2 ** 20 + 1);
});

test.each(['gzip', 'zstd'] as const)(
  'attack 43: a layer that takes its decoder minutes is refused, and one that comes slowly is not: %s',
  async (codec) => {
    const bytes = await compressed(codec, ...PIECES.slice(0, 2), ...PIECES.slice(0, 2));
    let clock = 0;
    // Half a minute for each look at the clock.
    const slow = decompressed(inPieces(bytes, 1 << 20), () => (clock += 30_000));
    await expect(digestOf(slow)).rejects.toThrow('a layer takes more than 120 s to decompress');
    const late = async function* (): AsyncGenerator<Uint8Array> {
      for await (const piece of inPieces(bytes, 1 << 14)) {
        clock += 30_000;
        yield piece;
      }
    };
    const expected = await digestOf(decompressed(inPieces(bytes, 1 << 20)));
    expect(await digestOf(decompressed(late(), () => clock))).toBe(expected);
  },
);

test('frames with checksums, of several writers, and frames that are skipped are read', async () => {
  const { Zstd } = await import('@hpcc-js/wasm-zstd');
  const library = await Zstd.load();
  const text = Buffer.from('harbour '.repeat(100_000));
  const skipped = Buffer.from('5a2a4d1803000000616263', 'hex');
  const sound = Buffer.from('28b52ffd2005290000736f756e64', 'hex');
  const bytes = Buffer.concat([
    skipped,
    library.compress(text, 19),
    sound,
    skipped,
    library.compress(text, 1),
  ]);
  const expected = createHash('sha256').update(Buffer.concat([text, Buffer.from('sound'), text]));
  expect(await digestOf(unzstd(inPieces(bytes, 1000)))).toBe(expected.digest('hex'));
});

test('layers that are read at the same time do not disturb each other', async () => {
  const pieces = PIECES.slice(0, 2);
  const bytes = await Promise.all(pieces.map((piece) => compressed('zstd', piece)));
  const digests = await Promise.all(bytes.map((one) => digestOf(unzstd(inPieces(one, 4099)))));
  expect(digests).toEqual(pieces.map((piece) => createHash('sha256').update(piece).digest('hex')));
});

import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { decompressed } from '../../../../pipeline/oci/image/decompress.ts';

const LAYER = gzipSync('etcd'.repeat(1000));

async function sizeOf(bytes: AsyncIterable<Uint8Array>): Promise<number> {
  let size = 0;
  for await (const piece of decompressed(bytes)) size += piece.length;
  return size;
}

test('the source is closed when the reader has enough after the first bytes', async () => {
  let isClosed = false;
  const source = async function* (): AsyncGenerator<Uint8Array> {
    try {
      yield Buffer.from('plain bytes');
      yield Buffer.from('more');
    } finally {
      isClosed = true;
    }
  };
  for await (const piece of decompressed(source())) {
    expect(String(piece)).toBe('plain bytes');
    break;
  }
  expect(isClosed).toBe(true);
});

describe('gzip', () => {
  test('what ends the source is thrown as it came', async () => {
    const lost = new Error('lost the disk');
    const source = async function* (): AsyncGenerator<Uint8Array> {
      yield LAYER.subarray(0, 20);
      throw lost;
    };
    await expect(sizeOf(source())).rejects.toBe(lost);
  });

  test('a layer comes in large pieces, which cost less than many small ones', async () => {
    const pieces: number[] = [];
    const layer = gzipSync(Buffer.alloc(2 ** 20));
    for await (const piece of decompressed(Readable.from([layer]))) pieces.push(piece.length);
    expect(pieces).toEqual(Array(16).fill(65_536));
  });

  test('only bytes that cannot be decompressed are damaged', async () => {
    const source = async function* (end: number): AsyncGenerator<Uint8Array> {
      yield LAYER.subarray(0, end);
    };
    expect(await sizeOf(source(LAYER.length))).toBe(4000);
    await expect(sizeOf(source(20))).rejects.toMatchObject({ code: 'corrupt' });
  });
});

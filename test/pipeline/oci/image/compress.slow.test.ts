import { createHash } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import zlib, { gunzipSync, gzipSync } from 'node:zlib';
import { Zstd } from '@hpcc-js/wasm-zstd';
import fc from 'fast-check';
import { gzip } from 'pako';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  type Codec,
  nativeAgrees,
  openCompressor,
  PROBE_DIGEST,
  probeBytes,
} from '../../../../pipeline/oci/image/compress.ts';
import { runs } from '../../../fakes/runs.ts';

/** Gives the stream of Node's gzip that was made last in a test, where it shall fail. */
function lastStream(): () => zlib.Gzip | undefined {
  const made = vi.spyOn(zlib, 'createGzip');
  // Whoever imports it by its name has it from here on, and no longer than the test.
  syncBuiltinESMExports();
  onTestFinished(() => {
    made.mockRestore();
    syncBuiltinESMExports();
  });
  return () => made.mock.results.at(-1)?.value;
}

async function compressed(codec: Codec, pieces: readonly Uint8Array[]): Promise<Buffer> {
  const out: Buffer[] = [];
  const to = await openCompressor(codec, (bytes) => out.push(Buffer.from(bytes)));
  for (const piece of pieces) await to.write(piece);
  await to.end();
  return Buffer.concat(out);
}

const pieces = fc.array(fc.uint8Array({ maxLength: 3000 }), { maxLength: 6 });

describe('gzip', () => {
  test('gives back what came in, whatever the pieces, as pako writes it, naming no host', async () => {
    await fc.assert(
      fc.asyncProperty(pieces, async (given) => {
        const found = await compressed('gzip', given);
        const content = Buffer.concat(given);
        expect(gunzipSync(found)).toEqual(content);
        expect([...found.subarray(0, 10)]).toEqual([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
        expect(found.subarray(10)).toEqual(Buffer.from(gzip(content, { level: 6 })).subarray(10));
      }),
      runs(25),
    );
  });

  test('the probe decides whether the zlib of this Node may stand in', () => {
    const digest = (bytes: Uint8Array): string =>
      createHash('sha256').update(bytes.subarray(10)).digest('hex');
    expect(digest(gzip(probeBytes(), { level: 6 }))).toBe(PROBE_DIGEST);
    expect(nativeAgrees()).toBe(digest(gzipSync(probeBytes(), { level: 6 })) === PROBE_DIGEST);
    expect(digest(gzipSync(probeBytes(), { level: 5 }))).not.toBe(PROBE_DIGEST);
  });

  test('what the sink throws comes out', async () => {
    const to = await openCompressor('gzip', () => {
      throw new Error('disk full');
    });
    await to.write(probeBytes());
    await expect(to.end()).rejects.toThrow('disk full');
  });

  test.runIf(nativeAgrees())(
    'an error of the stream between two pieces comes out, and ends no process',
    async () => {
      const stream = lastStream();
      const to = await openCompressor('gzip', () => undefined);
      await to.write(probeBytes());
      stream()?.destroy(new Error('no memory'));
      await new Promise(setImmediate);
      await expect(to.write(probeBytes())).rejects.toThrow('no memory');
      await expect(to.end()).rejects.toThrow('no memory');
    },
  );
});

describe('zstd', () => {
  test('two at a time do not disturb each other', async () => {
    const texts = ['a', 'b'].map((letter) => Buffer.from(letter.repeat(100_000)));
    const found = await Promise.all(
      texts.map((text) => compressed('zstd', [text.subarray(0, 7), text.subarray(7)])),
    );
    const library = await Zstd.load();
    expect(found.map((bytes) => Buffer.from(library.decompress(bytes)))).toEqual(texts);
  });
});

/**
 * Compression whose bytes depend on nothing but the content and the codec: not on the
 * machine, not on Node's version, not on the size of the pieces that come in.
 *
 * gzip: the bytes are those of zlib's level 6 as pako, which is JavaScript, writes them.
 * Node's own zlib writes the same on the platforms that were measured, two to three times
 * faster, but promises nothing: it is used where it proves on a probe that it agrees.
 * zstd: libzstd 1.5.7 as WebAssembly, the same on every Node.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createGzip, gzipSync } from 'node:zlib';
import { Deflate } from 'pako';
import { loadZstd } from './zstd-frames.ts';

export type Codec = 'gzip' | 'zstd';

/** Names codec, library and level: who changes one of them changes digests. */
export const CODEC_IDS: Readonly<Record<Codec, string>> = {
  gzip: 'gzip-zlib-6',
  zstd: 'zstd-1.5.7-6',
};

interface Compressor {
  /** Takes bytes, which must not be changed before the promise of the next `write` or `end` is settled. */
  write(bytes: Uint8Array): Promise<void>;
  /** Writes what is left. */
  end(): Promise<void>;
}

/**
 * Compresses with this codec.
 *
 * @param sink takes the compressed bytes in order; what it throws comes out of `write` or `end`
 */
export function openCompressor(codec: Codec, sink: (bytes: Uint8Array) => void): Promise<Compressor> {
  if (codec === 'zstd') return zstd(sink);
  const unmarked = withUnknownSystem(sink);
  return Promise.resolve(nativeAgrees() ? nativeGzip(unmarked) : portableGzip(unmarked));
}

/** Levels, as in {@link CODEC_IDS}; docs/adr/0012-compression.md says why. */
const GZIP_LEVEL = 6;
const ZSTD_LEVEL = 6;

/** Byte 9 of a gzip header is the operating system. Like Go, Portolan writes "unknown". */
function withUnknownSystem(sink: (bytes: Uint8Array) => void): (bytes: Uint8Array) => void {
  let offset = 0;
  return (bytes) => {
    const at = 9 - offset;
    if (at >= 0 && at < bytes.length) bytes[at] = 0xff;
    offset += bytes.length;
    sink(bytes);
  };
}

/** Compresses with Node's zlib, on another thread. */
function nativeGzip(sink: (bytes: Uint8Array) => void): Compressor {
  // 128 KiB of output at a time: Node's 16 KiB would call the sink eight times as often.
  const gzip = createGzip({ level: GZIP_LEVEL, chunkSize: 1 << 17 });
  let failure: unknown;
  // An error that nobody listens for would end the process, too.
  gzip.on('error', (error) => {
    failure ??= error;
  });
  gzip.on('data', (chunk: Uint8Array) => {
    try {
      // An error that is thrown in this handler would end the process.
      if (failure === undefined) sink(chunk);
    } catch (error) {
      failure = error;
    }
  });
  const check = (): void => {
    if (failure !== undefined) throw failure;
  };
  // One piece is compressed on another thread while the next is made.
  let pending: Promise<void> = Promise.resolve();
  return {
    async write(bytes) {
      await pending;
      check();
      pending = new Promise((resolve) => {
        gzip.write(bytes, (error) => {
          failure ??= error ?? undefined;
          resolve();
        });
      });
    },
    async end() {
      await pending;
      // A stream that failed never ends.
      check();
      gzip.end();
      await once(gzip, 'end');
      check();
    },
  };
}

/** Compresses with pako, whose bytes are the same on every Node: for a Node whose own zlib writes others (`nativeAgrees`). */
function portableGzip(sink: (bytes: Uint8Array) => void): Compressor {
  const deflate = new Deflate({ gzip: true, level: GZIP_LEVEL });
  deflate.onData = (chunk) => sink(chunk as Uint8Array);
  return {
    write: async (bytes) => void deflate.push(bytes, false),
    end: async () => void deflate.push(new Uint8Array(0), true),
  };
}

/** Bytes that become one frame. Frames follow each other, as the format allows, so that memory is bounded. */
export const FRAME: number = 8 << 20;

/** Compresses in frames of a fixed size: the same bytes always give the same result. */
async function zstd(sink: (bytes: Uint8Array) => void): Promise<Compressor> {
  // The package's own streams share one state; whole frames do not.
  const library = await loadZstd();
  let pieces: Uint8Array[] = [];
  let length = 0;
  const flush = (): void => {
    sink(library.compress(Buffer.concat(pieces), ZSTD_LEVEL));
    pieces = [];
    length = 0;
  };
  return {
    async write(bytes) {
      for (let at = 0; at < bytes.length; ) {
        // A copy: a frame keeps it longer than the caller keeps its bytes.
        const piece = bytes.slice(at, at + FRAME - length);
        pieces.push(piece);
        length += piece.length;
        at += piece.length;
        if (length === FRAME) flush();
      }
    },
    async end() {
      if (length > 0) flush();
    },
  };
}

let agrees: boolean | undefined;

/** Whether this Node's zlib compresses a probe as pako does. The header of 10 bytes is left out: it names the host. */
export function nativeAgrees(): boolean {
  agrees ??=
    createHash('sha256')
      .update(gzipSync(probeBytes(), { level: GZIP_LEVEL }).subarray(10))
      .digest('hex') === PROBE_DIGEST;
  return agrees;
}

/** Digest of the probe as pako compresses it, behind the gzip header; `compress.slow.test.ts` checks it. */
export const PROBE_DIGEST = 'ada653fdcdf7a407192543f2dcc167ff86fdfe1f78d377efe09be4163bf671ca';

/**
 * Text that looks like catalogs and brings every part of deflate to work: repeats near
 * and farther away than the window, base64 that hardly repeats, long runs, lazy matches. Always the same bytes: their
 * compressed digest is known.
 */
export function probeBytes(): Uint8Array {
  const bytes = new Uint8Array(200_000);
  let seed = 1;
  // A linear congruential generator; its low bits repeat soon, so they are dropped.
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return (seed >>> 8) % below;
  };
  for (let at = 0; at < bytes.length; ) {
    const length = Math.min(1 + random(400), bytes.length - at);
    const kind = random(4);
    // Up to 60,000 bytes back: deflate's window has 32 KiB.
    const back = 1 + random(Math.min(at, 60_000) + 1);
    for (let i = 0; i < length; i++, at++) {
      // Text like base64, short repeats, long ones, and runs.
      if (kind === 0) bytes[at] = 0x20 + random(64);
      else if (kind === 1) bytes[at] = 0x61 + random(4);
      else if (kind === 2) bytes[at] = bytes[at - back] ?? 0x7b;
      else bytes[at] = i % 7 === 0 ? 0x2c : 0x22;
    }
  }
  return bytes;
}

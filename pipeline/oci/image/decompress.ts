/** Decompresses layers with gzip, zstd or no compression. The first bytes decide, not the media type. */
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { PipelineError } from '../../error.ts';
import { unzstd } from './zstd-frames.ts';

const GZIP = [0x1f, 0x8b];
/**
 * Bytes that a layer may hold: `MOST_BYTES` at most, and beyond `FREE_BYTES` at most `MOST_TIMES` its compressed bytes. gzip
 * reaches 1,032 times, so only zstd can exceed that.
 */
const MOST_BYTES = 16 * 2 ** 30;
const FREE_BYTES = 256 * 2 ** 20;
const MOST_TIMES = 1100;
/** Longest time that a decoder may take for a layer, in ms: 16 GiB take less than half a minute. */
const LONGEST = 120_000;
/** Bytes of a decompressed piece of gzip. Each passes a thread and several readers: Node's 16 KiB cost four times the CPU. */
const PIECE = 64 * 1024;
const ZSTD = [0x28, 0xb5, 0x2f, 0xfd];

/** What was read of the compressed bytes. */
interface Reading {
  bytes: number;
  /** How long they were waited for, in ms. */
  waited: number;
}

/**
 * Decompresses a layer by what its first bytes show: gzip, zstd, or neither.
 *
 * @param now a clock, in ms
 * @throws PipelineError `corrupt` when the bytes break off or are damaged, `too-large` for a bomb, while they are read
 */
export async function* decompressed(
  bytes: AsyncIterable<Uint8Array>,
  now: () => number = () => performance.now(),
): AsyncGenerator<Uint8Array> {
  const reading: Reading = { bytes: 0, waited: 0 };
  const { head, rest } = await peek(countedReading(bytes, reading, now), ZSTD.length);
  if (startsWith(head, GZIP)) yield* withinLimits(gunzipped(rest), reading, now);
  else if (startsWith(head, ZSTD)) yield* withinLimits(unzstd(rest), reading, now);
  else yield* rest;
}

/** Passes bytes on, and notes in `reading` how many they were and how long they took. */
async function* countedReading(
  bytes: AsyncIterable<Uint8Array>,
  reading: Reading,
  now: () => number,
): AsyncGenerator<Uint8Array> {
  let began = now();
  for await (const piece of bytes) {
    reading.waited += now() - began;
    reading.bytes += piece.length;
    yield piece;
    began = now();
  }
}

/** The first bytes of a stream, and the whole stream again. */
async function peek(
  bytes: AsyncIterable<Uint8Array>,
  count: number,
): Promise<{ head: Uint8Array; rest: AsyncIterable<Uint8Array> }> {
  const iterator = bytes[Symbol.asyncIterator]();
  let head = new Uint8Array(0);
  while (head.length < count) {
    const { done, value } = await iterator.next();
    if (done) break;
    head = Buffer.concat([head, value]);
  }
  const rest = async function* (): AsyncGenerator<Uint8Array> {
    try {
      if (head.length > 0) yield head;
      yield* { [Symbol.asyncIterator]: () => iterator };
    } finally {
      // Also for a reader that has enough after the head.
      await iterator.return?.();
    }
  };
  return { head, rest: rest() };
}

function startsWith(bytes: Uint8Array, magic: readonly number[]): boolean {
  return magic.every((byte, i) => bytes[i] === byte);
}

/** Decompresses gzip. What ends the source too early, such as a lost connection, is thrown as it came: no layer is damaged. */
async function* gunzipped(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const source = Readable.from(bytes);
  const gunzip = createGunzip({ chunkSize: PIECE });
  let sourceError: unknown;
  source.on('error', (error) => {
    sourceError = error;
    gunzip.destroy(error);
  });
  try {
    yield* source.pipe(gunzip) as AsyncIterable<Uint8Array>;
  } catch (error) {
    throw error === sourceError ? error : damaged(error);
  } finally {
    source.destroy();
  }
}

/**
 * Passes bytes on until they exceed what any real layer has, in size or time: a few compressed bytes can stand for very
 * many.
 */
async function* withinLimits(
  bytes: AsyncIterable<Uint8Array>,
  reading: Reading,
  now: () => number,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  // Time until pieces came, those of the source included; less what was waited for the source, it is the decoder's own.
  let passed = 0;
  let began = now();
  for await (const piece of bytes) {
    passed += now() - began;
    size += piece.length;
    const limit = Math.min(MOST_BYTES, Math.max(FREE_BYTES, reading.bytes * MOST_TIMES));
    if (size > limit)
      throw tooMuch(`a layer of ${reading.bytes} compressed bytes holds more than ${limit} bytes`);
    if (passed - reading.waited > LONGEST)
      throw tooMuch(`a layer takes more than ${LONGEST / 1000} s to decompress`);
    yield piece;
    // How long the bytes are used for does not count.
    began = now();
  }
}

/** The error for a layer that holds or costs more than any real one. */
function tooMuch(message: string): PipelineError {
  return new PipelineError('too-large', message, {
    hint: 'remove the layer, or compress what it holds by itself',
  });
}

/** The error for bytes that a decoder refuses. */
function damaged(error: unknown): PipelineError {
  const why = error instanceof Error ? error.message : String(error);
  return new PipelineError('corrupt', `a layer is damaged: ${why}`, { cause: error });
}

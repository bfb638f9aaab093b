/** Layers come as gzip, as zstd or as they are; the first bytes tell, whatever the media type says. */
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { PipelineError } from '../../error.ts';

const GZIP = [0x1f, 0x8b];
/** Compressed bytes that are decompressed at a time. */
const STEP = 1 << 14;
const ZSTD = [0x28, 0xb5, 0x2f, 0xfd];

/**
 * @throws PipelineError `corrupt` when the bytes break off or are damaged, while they are read
 */
export async function* decompressed(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const { head, rest } = await peek(bytes, ZSTD.length);
  if (startsWith(head, GZIP)) yield* gunzipped(rest);
  else if (startsWith(head, ZSTD)) yield* unzstd(rest);
  else yield* rest;
}

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
    if (head.length > 0) yield head;
    yield* { [Symbol.asyncIterator]: () => iterator };
  };
  return { head, rest: rest() };
}

function startsWith(bytes: Uint8Array, magic: readonly number[]): boolean {
  return magic.every((byte, i) => bytes[i] === byte);
}

async function* gunzipped(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const source = Readable.from(bytes);
  const gunzip = createGunzip();
  source.on('error', (error) => gunzip.destroy(error));
  try {
    yield* source.pipe(gunzip) as AsyncIterable<Uint8Array>;
  } catch (error) {
    throw damaged(error);
  } finally {
    source.destroy();
  }
}

async function* unzstd(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const { Decompress } = await import('fzstd');
  let ready: Uint8Array[] = [];
  const stream = new Decompress((piece) => ready.push(piece));
  const push = (piece: Uint8Array, last: boolean): Uint8Array[] => {
    ready = [];
    try {
      stream.push(piece, last);
    } catch (error) {
      throw damaged(error);
    }
    return ready;
  };
  for await (const piece of bytes) {
    // Little by little: a few bytes can stand for very many.
    for (let at = 0; at < piece.length; at += STEP) yield* push(piece.subarray(at, at + STEP), false);
  }
  yield* push(new Uint8Array(0), true);
}

function damaged(error: unknown): PipelineError {
  if (error instanceof PipelineError) return error;
  const why = error instanceof Error ? error.message : String(error);
  return new PipelineError('corrupt', `a layer is damaged: ${why}`, { cause: error });
}

/** Bytes that come in pieces. */
import { PipelineError } from '../../error.ts';

/**
 * All of a stream that is small, or that has at most so many bytes.
 *
 * @throws PipelineError `too-large`
 */
export async function allOf(
  stream: AsyncIterable<Uint8Array>,
  limit: { readonly most: number; readonly what: string } = { most: Infinity, what: '' },
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.length;
    if (size > limit.most) {
      throw new PipelineError('too-large', `${limit.what} has more than ${limit.most} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** A stream of one piece. */
export async function* streamOf(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  yield bytes;
}

/** A stream without its first bytes. */
export async function* withoutFirstBytes(
  stream: AsyncIterable<Uint8Array>,
  count: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  let skip = count;
  for await (const chunk of stream) {
    if (skip < chunk.length) yield skip === 0 ? chunk : chunk.subarray(skip);
    skip = Math.max(0, skip - chunk.length);
  }
}

/** Content that is read from the front to the back in several goes. */
interface Reading {
  /** The bytes from an offset to the end. Going on where the last go stopped costs nothing. */
  open(from: number): AsyncGenerator<Uint8Array, void, undefined>;
  /** Leaves the rest unread. */
  close(): Promise<void>;
}

/** Reads a source once, whatever the pieces are in which it is asked for; going back begins it anew. */
export function readingOf(source: { open(from: number): AsyncIterable<Uint8Array> }): Reading {
  let bytes: AsyncIterator<Uint8Array> | undefined;
  /** The piece that was handed out last, and where it begins: whoever got it may not have taken all of it. */
  let last = { at: 0, piece: new Uint8Array() as Uint8Array };
  const close = async (): Promise<void> => {
    const open = bytes;
    bytes = undefined;
    await open?.return?.();
  };
  const seek = async (from: number): Promise<Uint8Array> => {
    const isNear = bytes !== undefined && from >= last.at && from <= last.at + last.piece.length;
    if (isNear) return last.piece.subarray(from - last.at);
    await close();
    bytes = source.open(from)[Symbol.asyncIterator]();
    last = { at: from, piece: new Uint8Array() };
    return last.piece;
  };
  return {
    close,
    async *open(from) {
      let at = from;
      for (let piece = await seek(from); ; ) {
        last = { at, piece };
        at += piece.length;
        if (piece.length > 0) yield piece;
        // A source that failed is at its end, but not at the end of the content: the next go opens it anew.
        const next = await bytes?.next().catch((error: unknown) => {
          bytes = undefined;
          throw error;
        });
        if (!next || next.done) return;
        piece = next.value;
      }
    },
  };
}

/** Messages and their frames: a flag for compression, four bytes of length, the message. */
import { gunzipSync, inflateSync } from 'node:zlib';

/** Bytes before a message: whether it is compressed, and its length. */
const PREFIX = 5;
/** Bytes that a message of a request may have, as in opm. */
const MAX_MESSAGE = 4 << 20;

/** A message as it is sent. */
export function grpcFrame(message: Uint8Array): Buffer {
  const framed = Buffer.allocUnsafe(PREFIX + message.length);
  framed[0] = 0;
  framed.writeUInt32BE(message.length, 1);
  framed.set(message, PREFIX);
  return framed;
}

/** Bytes of frames that are collected into one chunk. */
const CHUNK = 1 << 18;

/**
 * Frames that are made once and kept, for whoever asks. They are made as the first reader takes them; a failure is thrown to
 * that reader, and the next one makes them anew.
 */
export class KeptFrames implements Iterable<Uint8Array> {
  readonly #make: () => Iterable<Uint8Array>;
  #chunks: Uint8Array[] = [];
  #rest: Iterator<Uint8Array> | undefined;

  /** @param make gives frames, the same ones each time */
  constructor(make: () => Iterable<Uint8Array>) {
    this.#make = make;
  }

  *[Symbol.iterator](): Generator<Uint8Array> {
    for (let at = 0; ; at++) {
      if (at >= this.#chunks.length && !this.#makeMore(at)) return;
      const chunk = this.#chunks[at];
      if (chunk) yield chunk;
    }
  }

  /** Makes the chunk with this number; false when there is none. */
  #makeMore(wanted: number): boolean {
    try {
      while (this.#chunks.length <= wanted) {
        this.#rest ??= this.#make()[Symbol.iterator]();
        const frames = takeFrames(this.#rest);
        if (frames.length === 0) return false;
        this.#chunks.push(Buffer.concat(frames));
      }
      return true;
    } catch (error) {
      this.#rest = undefined;
      this.#chunks = [];
      throw error;
    }
  }
}

/** Frames that fill a chunk, or all that are left; none at the end. */
function takeFrames(from: Iterator<Uint8Array>): Uint8Array[] {
  const frames: Uint8Array[] = [];
  for (let size = 0; size < CHUNK; ) {
    const next = from.next();
    if (next.done) break;
    frames.push(next.value);
    size += next.value.length;
  }
  return frames;
}

/** Takes the messages out of what a client sends. */
export class MessageReader {
  readonly #encoding: string;
  #chunks: Buffer[] = [];
  #size = 0;
  /** Bytes without which nothing is known. */
  #needed = PREFIX;

  /** @param encoding what messages are compressed with that say that they are */
  constructor(encoding: string) {
    this.#encoding = encoding;
  }

  add(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
  }

  /** Bytes of a message that is not complete. */
  get left(): number {
    return this.#size;
  }

  /**
   * The next message; undefined when more bytes are needed.
   *
   * @throws GrpcFailure for one that is too large or compressed in a way that is not known
   */
  next(): Buffer | undefined {
    if (this.#size < this.#needed) return undefined;
    const [only] = this.#chunks;
    // Many messages in one chunk are not copied again for each of them.
    const bytes = only && this.#chunks.length === 1 ? only : Buffer.concat(this.#chunks);
    this.#chunks = [bytes];
    const end = PREFIX + bytes.readUInt32BE(1);
    if (end > PREFIX + MAX_MESSAGE) throw tooLarge(end - PREFIX);
    this.#needed = end;
    if (bytes.length < end) return undefined;
    this.#chunks = [bytes.subarray(end)];
    this.#size -= end;
    this.#needed = PREFIX;
    const message = bytes.subarray(PREFIX, end);
    return bytes[0] === 0 ? message : decompressed(message, this.#encoding);
  }
}

/** By the name of a compression in `grpc-encoding`. */
const DECOMPRESS: Readonly<Record<string, typeof gunzipSync>> = { gzip: gunzipSync, deflate: inflateSync };

/** A message as it was before its compression. @throws GrpcFailure */
function decompressed(message: Buffer, encoding: string): Buffer {
  const decompress = Object.hasOwn(DECOMPRESS, encoding) ? DECOMPRESS[encoding] : undefined;
  if (!decompress)
    throw new GrpcFailure(Status.unimplemented, `messages compressed with ${encoding} are not read`);
  try {
    return decompress(message, { maxOutputLength: MAX_MESSAGE });
  } catch (error) {
    // The output is longer than its limit.
    if (error instanceof RangeError) throw tooLarge(undefined);
    throw new GrpcFailure(Status.internal, `the message is not compressed with ${encoding}`);
  }
}

/** The failure of a message that is too large. @param size in bytes; undefined if only its limit was met */
function tooLarge(size: number | undefined): GrpcFailure {
  const found = size === undefined ? '' : ` (${size} bytes)`;
  return new GrpcFailure(Status.resourceExhausted, `the message is larger than ${MAX_MESSAGE} bytes${found}`);
}

/** How a call ends. @see https://github.com/grpc/grpc/blob/master/doc/statuscodes.md */
export const Status = {
  ok: 0,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  resourceExhausted: 8,
  unimplemented: 12,
  internal: 13,
} as const;
export type Status = (typeof Status)[keyof typeof Status];

/** A call that ends without an answer; the message is for the client. */
export class GrpcFailure extends Error {
  readonly status: Status;

  constructor(status: Status, message: string) {
    super(message);
    this.name = 'GrpcFailure';
    this.status = status;
  }
}

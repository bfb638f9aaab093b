/**
 * Decompresses zstd with libzstd, a block at a time: a block holds at most 128 KiB, so nothing that a stranger writes decides
 * how much memory one step takes.
 *
 * @see https://www.rfc-editor.org/rfc/rfc8878 section 3.1.1
 */
import type { Zstd } from '@hpcc-js/wasm-zstd';
import { PipelineError } from '../../error.ts';

/** Bytes of the largest window, as in zstd's own tools (`--long=27`): so much memory decompression may take. */
const LARGEST_WINDOW = 1 << 27;
/** Bytes of a block at most, before and after compression. */
const LARGEST_BLOCK = 1 << 17;
/** The first four bytes of a frame, as a little-endian number. */
const MAGIC = 0xfd2fb528;
/** The magic numbers of frames that decoders skip differ in their last four bits. */
const SKIPPED = 0x184d2a5;
/** Bytes of the checksum behind a frame. */
const CHECKSUM = 4;

/**
 * Decompresses zstd.
 *
 * @param bytes frames, one behind the other
 * @throws PipelineError `corrupt` when the bytes break off or are damaged, `too-large` for a window that is too large
 */
export async function* unzstd(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const stream = await openZstdStream();
  const reader = new Reader(bytes);
  try {
    for (let magic = await reader.start(); magic !== undefined; magic = await reader.start()) {
      if (magic >>> 4 === SKIPPED) await reader.skip((await reader.take(4)).readUInt32LE(0));
      else if (magic === MAGIC) yield* frameContent(reader, stream);
      else throw damaged('is not a zstd frame');
    }
  } finally {
    stream.close();
    await reader.close();
  }
}

/** The content of one frame, block by block: no block can stand for more than its limit. */
async function* frameContent(reader: Reader, stream: ZstdStream): AsyncGenerator<Uint8Array> {
  const { header, hasChecksum } = await headerOf(reader);
  stream.decompress(header, LARGEST_BLOCK);
  for (let isLast = false; !isLast; ) {
    const head = await reader.take(3);
    // From the lowest bit: one for the last block, two for the type, 21 for the size.
    const word = head.readUIntLE(0, 3);
    const [type, size] = [(word >> 1) & 3, word >> 3];
    isLast = (word & 1) === 1;
    if (type === 3) throw damaged('has a block of no known type');
    if (size > LARGEST_BLOCK) throw damaged('has a block that is too large');
    // Type 1 is one byte that is repeated `size` times: the block itself has only that byte.
    const block = Buffer.concat([head, await reader.take(type === 1 ? 1 : size)]);
    const content = stream.decompress(block, LARGEST_BLOCK);
    if (content.length > 0) yield content;
  }
  if (hasChecksum) stream.decompress(await reader.take(CHECKSUM), LARGEST_BLOCK);
  if (!stream.isAtStart()) throw damaged('cannot be decompressed');
}

/** The header of a frame. @throws PipelineError for one that needs a dictionary, or a large window of memory */
async function headerOf(reader: Reader): Promise<{ header: Buffer; hasChecksum: boolean }> {
  // Bits, from the highest: two for the size of the content, one for a single segment, one that is unused, one that must be 0,
  // one for a checksum, two for a dictionary.
  const [descriptor = 0] = await reader.take(1);
  const isSingle = (descriptor & 0x20) !== 0;
  if ((descriptor & 0b1011) !== 0) throw damaged('needs a dictionary, or is of a later version of zstd');
  // Two bits say how many bytes the size has; a frame of one segment always has one.
  const sizeBytes = [isSingle ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0;
  const rest = await reader.take((isSingle ? 0 : 1) + sizeBytes);
  const window = isSingle ? contentSize(rest) : windowSize(rest[0] ?? 0);
  if (window > LARGEST_WINDOW) {
    const message = `a layer needs a window of ${window} bytes, the limit is ${LARGEST_WINDOW}`;
    throw new PipelineError('too-large', message, { hint: 'compress it without --long, or with --long=27' });
  }
  const magic = Buffer.alloc(4);
  magic.writeUInt32LE(MAGIC);
  return {
    header: Buffer.concat([magic, Buffer.from([descriptor]), rest]),
    hasChecksum: (descriptor & 4) !== 0,
  };
}

/**
 * The size of a frame's content, by the 1, 2, 4 or 8 bytes of its header. Two bytes leave out the 256 that
 * one byte can say.
 */
function contentSize(bytes: Buffer): number {
  if (bytes.length === 8) return Number(bytes.readBigUInt64LE(0));
  return bytes.readUIntLE(0, bytes.length) + (bytes.length === 2 ? 256 : 0);
}

/** The size of a frame's window: five bits for a power of two, from 1 KiB on, and three for eighths of it. */
function windowSize(descriptor: number): number {
  const base = 2 ** (10 + (descriptor >> 3));
  return base + (base / 8) * (descriptor & 7);
}

/** Takes exactly so many bytes from a stream of pieces. */
class Reader {
  readonly #pieces: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = new Uint8Array(0);

  constructor(bytes: AsyncIterable<Uint8Array>) {
    this.#pieces = bytes[Symbol.asyncIterator]();
  }

  /** The first four bytes of a frame as a number; undefined at the end of the stream. */
  async start(): Promise<number | undefined> {
    while (this.#rest.length === 0) if (!(await this.#fill())) return undefined;
    return (await this.take(4)).readUInt32LE(0);
  }

  /** The next so many bytes. @throws PipelineError `corrupt` when fewer are left */
  async take(count: number): Promise<Buffer> {
    const taken: Uint8Array[] = [];
    for (let missing = count; missing > 0; ) {
      if (this.#rest.length === 0 && !(await this.#fill())) throw damaged('breaks off');
      const piece = this.#rest.subarray(0, missing);
      this.#rest = this.#rest.subarray(piece.length);
      missing -= piece.length;
      taken.push(piece);
    }
    return Buffer.concat(taken, count);
  }

  /** Passes over so many bytes. @throws PipelineError `corrupt` when fewer are left */
  async skip(count: number): Promise<void> {
    for (let missing = count; missing > 0; ) {
      if (this.#rest.length === 0 && !(await this.#fill())) throw damaged('breaks off');
      const length = Math.min(missing, this.#rest.length);
      this.#rest = this.#rest.subarray(length);
      missing -= length;
    }
  }

  /** Closes the source when nobody reads on. */
  async close(): Promise<void> {
    await this.#pieces.return?.();
  }

  /** Reads the next piece into `#rest`. @returns false at the end of the stream */
  async #fill(): Promise<boolean> {
    const { done, value } = await this.#pieces.next();
    if (!done) this.#rest = value;
    return !done;
  }
}

function damaged(why: string): PipelineError {
  return new PipelineError('corrupt', `a layer is damaged: a piece of it ${why}`);
}

// libzstd as WebAssembly.

/** What the library keeps to itself: how bytes come out of WebAssembly's memory, and what holds the state of a stream. */
interface Inside {
  readonly _mainModule?: {
    heapView(place: unknown): Uint8Array;
    heapToUint8Array(place: unknown): Uint8Array;
  };
  readonly _zstdClass: new () => { delete(): void };
}

/** Loads the library, with results copied at once: it copies them byte by byte, which takes longer than to make them. */
export async function loadZstd(): Promise<Zstd> {
  const { Zstd } = await import('@hpcc-js/wasm-zstd');
  const library = await Zstd.load();
  const { _mainModule: memory } = library as unknown as Inside;
  if (memory?.heapView) memory.heapToUint8Array = (place) => memory.heapView(place).slice();
  return library;
}

/** A stream that is decompressed piece by piece. */
interface ZstdStream {
  /** @param most bytes that come out at most; what is damaged gives none */
  decompress(piece: Uint8Array, most: number): Uint8Array;
  /** Whether all frames so far were sound and are complete. No further piece may follow if not. */
  isAtStart(): boolean;
  /** Gives back its memory. */
  close(): void;
}

/** A frame that holds the text `sound`. The library reports no error while it streams; after one, this does not come out. */
const PROBE = Buffer.concat([Buffer.from('28b52ffd2005290000', 'hex'), Buffer.from('sound')]);

/** A stream with a state of its own. @see {@link PROBE} for how it tells whether all before was sound */
async function openZstdStream(): Promise<ZstdStream> {
  const library = await loadZstd();
  // The library has one state for all its streams, and layers are read at the same time.
  const state = new (library as unknown as Inside)._zstdClass();
  const own: Zstd = Object.create(library, { _zstd: { value: state } });
  own.reset();
  return {
    decompress: (piece, most) => own.decompressChunk(piece, most),
    isAtStart: () => Buffer.from(own.decompressChunk(PROBE, 64)).toString('latin1') === 'sound',
    close: () => state.delete(),
  };
}

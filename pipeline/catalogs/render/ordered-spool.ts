/**
 * Texts that are put away until it is known in what order they go out: in memory while
 * there are few, in a file without a name from some size on.
 */
import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EachBlob } from '../../../catalog/fbc/load.ts';
import type { Blob } from '../../../catalog/fbc/model.ts';
import type { RenderFormat } from '../../../catalog/fbc/render.ts';
import { ownText } from '../../../catalog/go/text.ts';
import { withFileErrors } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import { temporaryFolder } from '../../write.ts';
import { renderedBlob } from '../write-blobs.ts';

/** Where a text lies: an offset and a length, in bytes of UTF-8. */
export interface Slot {
  readonly at: number;
  readonly size: number;
}

export interface Spool {
  /** @throws PipelineError `io` when the file cannot be written */
  put(text: string): Slot;
  /**
   * The bytes of texts one behind the other, in pieces that are good until the next is asked for.
   *
   * @throws PipelineError `io` when the file cannot be read
   */
  bytes(slots: Iterable<Slot>): Generator<Uint8Array>;
  /** Writes to the file what is still in memory, if there is a file. */
  flush(): void;
  /** Lets go of the file. */
  close(): void;
}

/** A file that several threads write to, each into blocks that no other has taken. */
export interface SharedFile {
  readonly file: number;
  /** How many blocks are taken. */
  readonly taken: SharedArrayBuffer;
}

/** A nameless file that threads share, with a counter of its bytes; undefined if no file can be made. */
export function openSharedFile(): SharedFile | undefined {
  const file = namelessFile();
  return file === undefined
    ? undefined
    : { file, taken: new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT) };
}

/** Takes blocks for so many bytes. @returns where they begin */
function takeBlocks({ taken }: SharedFile, bytes: number): number {
  return Atomics.add(new Int32Array(taken), 0, Math.ceil(bytes / BLOCK)) * BLOCK;
}

/** Memory is taken and written in blocks of this size. */
const BLOCK = 1 << 20;
/** Bytes that are held in memory before there is a file. */
const MOST_HELD = 24 << 20;
/** UTF-8 takes at most so many bytes a UTF-16 unit. */
const WIDEST = 3;

/**
 * A store of texts that are written in any order and read in another: in memory first, then in a file.
 *
 * @param mostHeld bytes that are held in memory before there is a file
 * @param shared the file, when other threads write to it, too; it is open until the spool is closed
 */
export function openSpool(mostHeld: number = MOST_HELD, shared?: SharedFile): Spool {
  const blocks: Buffer[] = [];
  let open = Buffer.allocUnsafeSlow(BLOCK);
  let used = 0;
  /** Where the open block begins: behind the others, or where it has room in a shared file. */
  let base = shared ? takeBlocks(shared, BLOCK) : 0;
  let most = mostHeld;
  let file = shared?.file;

  /**
   * Writes the open block to the file, or leaves it in memory while there is no file, and opens another.
   *
   * @param room bytes that have to fit into the next block
   */
  const closeBlock = (room = 0): void => {
    const block = open.subarray(0, used);
    if (file === undefined && base + used > most) {
      file = namelessFile();
      // Where no file can be made there is still the memory.
      if (file === undefined) most = Number.POSITIVE_INFINITY;
      else for (const held of blocks.splice(0)) writeAll(file, held);
    }
    // In a file of its own, blocks follow each other; in a shared one, those of others lie between them.
    if (file !== undefined) writeAll(file, block, shared && base);
    else {
      blocks.push(block);
      open = Buffer.allocUnsafeSlow(BLOCK);
    }
    if (room > open.length) open = Buffer.allocUnsafeSlow(room);
    base = shared ? takeBlocks(shared, open.length) : base + used;
    used = 0;
  };
  return {
    put: (text) => {
      // Room for the worst case: to count the bytes first would cost as much as to write them.
      const room = WIDEST * text.length;
      if (room > open.length - used) closeBlock(room);
      const at = base + used;
      const size = open.write(text, used);
      used += size;
      return { at, size };
    },
    bytes: function* (slots) {
      closeBlock();
      const read = file === undefined ? heldBytes(blocks) : fileBytes(file);
      for (const { at, size } of joinedSlots(slots)) yield* read(at, size);
    },
    flush: () => closeBlock(),
    close: () => {
      if (file !== undefined) closeSync(file);
    },
  };
}

type Reading = (at: number, size: number) => Generator<Uint8Array>;

/** Reads bytes at a position from blocks that follow each other in memory. */
function heldBytes(blocks: readonly Buffer[]): Reading {
  const starts: number[] = [];
  let end = 0;
  for (const { length } of blocks) {
    starts.push(end);
    end += length;
  }
  return function* (at, size) {
    let block = blockAt(starts, at);
    for (let from = at; from < at + size; block++) {
      const start = starts[block] ?? 0;
      const bytes = blocks[block]?.subarray(from - start, at + size - start) ?? Buffer.alloc(0);
      yield bytes;
      from += bytes.length;
    }
  };
}

/** The index of the last block that begins at or before an offset, found by halves. */
function blockAt(starts: readonly number[], at: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Reads bytes from the file, block by block, each into the same memory. */
function fileBytes(file: number): Reading {
  const window = Buffer.allocUnsafeSlow(BLOCK);
  return function* (at, size) {
    for (let from = at; from < at + size; ) {
      const read = readAt(file, window.subarray(0, at + size - from), from);
      yield window.subarray(0, read);
      from += read;
    }
  };
}

/** Joins slots that follow each other in the file, so that they are read at once. */
function* joinedSlots(slots: Iterable<Slot>): Generator<Slot> {
  // Begins empty: nothing is read for that.
  let run: Slot = { at: 0, size: 0 };
  for (const { at, size } of slots) {
    if (at === run.at + run.size) run = { at: run.at, size: run.size + size };
    else {
      yield run;
      run = { at, size };
    }
  }
  yield run;
}

/** Fills as much of a window as one read gives. @throws PipelineError `io` */
function readAt(file: number, window: Buffer, from: number): number {
  const read = within(() => readSync(file, window, 0, window.length, from));
  if (read === 0) throw new Error(`the file for rendered blobs ends before byte ${from}`);
  return read;
}

/**
 * Writes bytes to a file, all of them.
 *
 * @param from where the bytes begin in the file; behind its last ones when left out
 */
function writeAll(file: number, bytes: Buffer, from?: number): void {
  for (let at = 0; at < bytes.length; ) {
    const to = from === undefined ? null : from + at;
    at += within(() => writeSync(file, bytes, at, bytes.length - at, to));
  }
}

/** A file without a name, which the system removes however the program ends; undefined if none can be made. */
function namelessFile(): number | undefined {
  try {
    const folder = temporaryFolder('render');
    try {
      return openSync(join(folder, 'blobs'), 'wx+', 0o600);
    } finally {
      rmSync(folder, { recursive: true });
    }
  } catch {
    return undefined;
  }
}

/** Uses the file of the spool. @throws PipelineError `io` for what the system refuses */
function within<T>(use: () => T): T {
  return withFileErrors(`rendered blobs in ${tmpdir()}`, use);
}

// Blobs rendered as they are read, of which hardly more than the bytes is left.

/** Renders blobs as they are read, and knows them again by what is left of them. */
interface Press {
  readonly each: EachBlob;
  /** Where a blob lies, rendered now if it was not before; or why it cannot be. */
  readonly slotOf: (blob: Blob) => Slot | PipelineError;
}

/**
 * Renders each blob as soon as it is read, and keeps only what the order of blobs goes by. The text waits in the spool.
 */
export function pressOf(format: RenderFormat, spool: Spool): Press {
  const slots = new Map<Blob, Slot | PipelineError>();
  const print = (blob: Blob): Slot | PipelineError => {
    try {
      return spool.put(renderedBlob(blob, format));
    } catch (error) {
      // A blob that cannot be rendered is an error only in its turn; a full disk is one at once.
      if (!(error instanceof PipelineError) || error.code === 'io') throw error;
      return error;
    }
  };
  /** Renders a blob, and gives what stays in memory in its place. */
  const printAndKeep = <T extends Blob>(blob: Blob, rest: T): T => {
    slots.set(rest, print(blob));
    return rest;
  };
  return {
    each: {
      package: (blob) =>
        printAndKeep(blob, { ...namesOfBlob(blob), defaultChannel: '', description: '', properties: NONE }),
      channel: (blob) => printAndKeep(blob, { ...namesOfBlob(blob), entries: NONE, properties: NONE }),
      bundle: (blob) => printAndKeep(blob, { ...namesOfBlob(blob), ...EMPTY_BUNDLE }),
      deprecations: (blob) => printAndKeep(blob, { ...namesOfBlob(blob), entries: NONE }),
      other: (blob) => printAndKeep(blob, namesOfBlob(blob)),
    },
    slotOf: (blob) => slots.get(blob) ?? print(blob),
  };
}

const NONE: readonly never[] = [];
const NOTHING = {};
const EMPTY_BUNDLE = { image: '', properties: NONE, relatedImages: NONE, version: undefined, release: '' };

/**
 * What remains of a blob: the names that its order goes by. They are copied, because a part of the file's text would
 * keep all of that text in memory.
 */
function namesOfBlob(blob: Blob): Blob {
  const { file, line } = blob.document;
  const document = {
    file,
    line,
    locate: () => ({ file, line, column: 1 }),
    detached: () => document,
  };
  return {
    schema: ownText(blob.schema),
    package: ownText(blob.package),
    name: ownText(blob.name),
    value: NOTHING,
    document,
  };
}

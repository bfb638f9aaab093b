/**
 * Texts that are put away until it is known in what order they go out: in memory while
 * there are few, in a file without a name from some size on.
 */
import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileError } from '../../directory.ts';

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
  /** Lets go of the file. */
  close(): void;
}

/** Memory is taken and written in blocks of this size. */
const BLOCK = 1 << 20;
/** Bytes that are held in memory before there is a file. */
const MOST_HELD = 24 << 20;
/** UTF-8 takes at most so many bytes a UTF-16 unit. */
const WIDEST = 3;

/** @param mostHeld bytes that are held in memory before there is a file */
export function openSpool(mostHeld: number = MOST_HELD): Spool {
  const blocks: Buffer[] = [];
  let open = Buffer.allocUnsafeSlow(BLOCK);
  let used = 0;
  /** Bytes that are in the blocks before the open one, or in the file. */
  let base = 0;
  let most = mostHeld;
  let file: number | undefined;

  const closeBlock = (): void => {
    const block = open.subarray(0, used);
    if (file === undefined && base + used > most) {
      file = namelessFile();
      // Where no file can be made there is still the memory.
      if (file === undefined) most = Number.POSITIVE_INFINITY;
      else for (const held of blocks.splice(0)) writeAll(file, held);
    }
    base += used;
    used = 0;
    if (file !== undefined) writeAll(file, block);
    else {
      blocks.push(block);
      open = Buffer.allocUnsafeSlow(BLOCK);
    }
  };
  return {
    put: (text) => {
      const room = WIDEST * text.length;
      if (room > open.length - used) closeBlock();
      if (room > open.length) open = Buffer.allocUnsafeSlow(room);
      const at = base + used;
      const size = open.write(text, used);
      used += size;
      return { at, size };
    },
    bytes: function* (slots) {
      closeBlock();
      const read = file === undefined ? heldBytes(blocks) : fileBytes(file);
      for (const { at, size } of joined(slots)) yield* read(at, size);
    },
    close: () => {
      if (file !== undefined) closeSync(file);
    },
  };
}

type Reading = (at: number, size: number) => Generator<Uint8Array>;

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

/** The last block that begins at or before an offset. */
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

/** Texts that lie one behind the other are read as one. */
function* joined(slots: Iterable<Slot>): Generator<Slot> {
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

function readAt(file: number, window: Buffer, from: number): number {
  const read = within(() => readSync(file, window, 0, window.length, from));
  if (read === 0) throw new Error(`the file for rendered blobs ends before byte ${from}`);
  return read;
}

function writeAll(file: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += within(() => writeSync(file, bytes, at));
}

/** A file that is gone when it is closed, however the program ends; undefined where none can be made. */
function namelessFile(): number | undefined {
  try {
    const folder = mkdtempSync(join(tmpdir(), 'portolan-render-'));
    try {
      return openSync(join(folder, 'blobs'), 'wx+', 0o600);
    } finally {
      rmSync(folder, { recursive: true });
    }
  } catch {
    return undefined;
  }
}

function within<T>(use: () => T): T {
  try {
    return use();
  } catch (error) {
    throw fileError(error, `rendered blobs in ${tmpdir()}`);
  }
}

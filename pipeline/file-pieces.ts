/**
 * Reading a file piece by piece, each of them whole documents, through one and the same
 * memory: what a catalog takes then is the size of its largest document.
 */
import { isUtf8 } from 'node:buffer';
import { closeSync, openSync, readSync } from 'node:fs';
import type { TextPiece } from '../catalog/source.ts';
import { isPlainBytes } from '../catalog/yaml/plain-bytes.ts';

/**
 * How large a piece may be, if it is more than one document. The engine has memory ready
 * for shorter texts; that of longer ones it asks the system for, page by page.
 */
const WINDOW = 120 << 10;
/** How many pieces are read at once. */
const READ_AHEAD = 2;
/** Largest memory that waits for the next file, in bytes. */
const MOST_KEPT = 1 << 20;

const SEPARATOR = '\n---';
const LF = 10;

/** Memory that waits for the next file. */
let spare: Buffer | undefined;

/**
 * The pieces of a file, as `FilePieces` in catalog/source.ts has them.
 *
 * @param window bytes that a piece of several documents may have
 * @throws what the file system says
 */
export function* piecesOf(path: string, window: number = WINDOW): Generator<TextPiece | Uint8Array> {
  const file = openSync(path, 'r');
  let buffer =
    spare && spare.length >= READ_AHEAD * window ? spare : Buffer.allocUnsafeSlow(READ_AHEAD * window);
  spare = undefined;
  try {
    for (let held = 0; ; ) {
      held += readInto(file, buffer.subarray(held));
      const isWhole = held < buffer.length;
      let from = 0;
      for (;;) {
        const rest = buffer.subarray(from, held);
        const cut = isWhole && rest.length <= window ? rest.length : endOfPiece(rest, window);
        if (cut <= 0) break;
        yield decoded(rest.subarray(0, cut));
        from += cut;
      }
      if (isWhole) {
        if (from < held) yield decoded(buffer.subarray(from, held));
        return;
      }
      if (from === 0) buffer = Buffer.concat([buffer], 2 * buffer.length);
      else held = buffer.copy(buffer, 0, from);
    }
  } finally {
    closeSync(file);
    if (buffer.length <= MOST_KEPT) spare = buffer;
  }
}

/** Fills the buffer as far as the file goes; returns how many bytes there were. */
function readInto(file: number, buffer: Buffer): number {
  let size = 0;
  for (let read = -1; read !== 0 && size < buffer.length; size += read) {
    read = readSync(file, buffer, size, buffer.length - size, null);
  }
  return size;
}

/**
 * Where the last document ends that is there as a whole within the window, else the first
 * one behind it; -1 if there is none.
 */
function endOfPiece(bytes: Buffer, window: number): number {
  const inside = bytes.subarray(0, window);
  for (let at = inside.lastIndexOf(SEPARATOR); at > 0; at = inside.lastIndexOf(SEPARATOR, at - 1)) {
    const end = endOfDocument(inside, at);
    if (end > 0) return end;
  }
  const border = Math.max(inside.lastIndexOf(SEPARATOR), window - SEPARATOR.length, 1);
  for (let at = bytes.indexOf(SEPARATOR, border); at > 0; at = bytes.indexOf(SEPARATOR, at + 1)) {
    const end = endOfDocument(bytes, at);
    if (end > 0) return end;
  }
  return -1;
}

/** Behind the line of the separator that follows `at`; -1 if it goes on, or follows another one and ends no document. */
function endOfDocument(bytes: Buffer, at: number): number {
  const end = bytes.indexOf(LF, at + 1);
  const before = bytes.lastIndexOf(LF, at - 1) + 1;
  return end >= 0 && bytes.toString('latin1', before, before + 3) !== '---' ? end + 1 : -1;
}

function decoded(bytes: Buffer): TextPiece | Uint8Array {
  if (isPlainBytes(bytes)) return { text: bytes.toString('latin1'), isPlain: true };
  return isUtf8(bytes) ? { text: bytes.toString('utf8'), isPlain: false } : bytes;
}

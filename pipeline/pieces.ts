/**
 * Reading a file piece by piece, each of them whole documents, through one and the same
 * memory: what a catalog takes then is the size of its largest document.
 */
import { isAscii, isUtf8 } from 'node:buffer';
import { closeSync, openSync, readSync } from 'node:fs';

/** How much is read at once: what fits into the fast memory of a processor is read fastest. */
const WINDOW = 1 << 17;

const SEPARATOR = '\n---';
const LF = 10;

/** Memory that waits for the next file. */
let spare: Buffer | undefined;

/**
 * The pieces of a file, as `FilePieces` in catalog/source.ts has them.
 *
 * @param window bytes that are read at once
 * @throws what the file system says
 */
export function* piecesOf(path: string, window: number = WINDOW): Generator<string | Uint8Array> {
  const file = openSync(path, 'r');
  let buffer = spare?.length === window ? spare : Buffer.allocUnsafeSlow(window);
  spare = undefined;
  try {
    for (let held = 0; ; ) {
      held += readInto(file, buffer.subarray(held));
      if (held < buffer.length) {
        if (held > 0) yield decoded(buffer.subarray(0, held));
        return;
      }
      const cut = lastCut(buffer);
      if (cut < 0) {
        buffer = Buffer.concat([buffer], 2 * buffer.length);
        continue;
      }
      yield decoded(buffer.subarray(0, cut));
      held = buffer.copy(buffer, 0, cut);
    }
  } finally {
    closeSync(file);
    if (buffer.length === window) spare = buffer;
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
 * Where the last document ends that is there as a whole: behind the line of its
 * separator; -1 if there is none. A separator behind another one ends no document.
 */
function lastCut(bytes: Buffer): number {
  for (let at = bytes.lastIndexOf(SEPARATOR); at > 0; at = bytes.lastIndexOf(SEPARATOR, at - 1)) {
    const end = bytes.indexOf(LF, at + 1);
    const before = bytes.lastIndexOf(LF, at - 1) + 1;
    if (end >= 0 && bytes.toString('latin1', before, before + 3) !== '---') return end + 1;
  }
  return -1;
}

function decoded(bytes: Buffer): string | Uint8Array {
  if (isAscii(bytes)) return bytes.toString('latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : bytes;
}

/**
 * Opening files, which only this module does where somebody else may have made them: to open a pipe or device may never end.
 *
 * And reading a file piece by piece, each of them whole documents, through one and the same
 * memory: what a catalog takes then is the size of its largest document. And finding names in files without parsing them.
 */
import { isUtf8 } from 'node:buffer';
import { closeSync, constants, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { SNIFF, startsLikeJson } from '../catalog/fbc/split.ts';
import { DocumentTooLarge, LARGEST_DOCUMENT, type TextPiece } from '../catalog/source.ts';
import { isPlainBytes } from '../catalog/yaml/plain-bytes.ts';
import { PipelineError } from './error.ts';

/**
 * How large a piece may be, if it is more than one document. The engine has memory ready
 * for shorter texts; that of longer ones it asks the system for, page by page.
 */
const WINDOW = 120 << 10;
/** How many pieces the buffer has room for at first. */
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
 * @throws what the file system says; DocumentTooLarge
 */
export function* piecesOf(path: string, window?: number): Generator<TextPiece | Uint8Array> {
  const file = openRegular(path);
  try {
    yield* piecesIn((buffer) => readInto(file, buffer), fstatSync(file).size, window);
  } finally {
    closeSync(file);
  }
}

/**
 * The pieces of what `read` puts into a buffer; it fills the buffer unless the end was reached.
 *
 * @param size of all, as far as it is known
 * @throws DocumentTooLarge
 */
export function* piecesIn(
  read: (buffer: Buffer) => number,
  size: number,
  window: number = WINDOW,
): Generator<TextPiece | Uint8Array> {
  let buffer =
    spare && spare.length >= READ_AHEAD * window ? spare : Buffer.allocUnsafeSlow(READ_AHEAD * window);
  spare = undefined;
  /** Whether the buffer still begins with the file. */
  let isStart = true;
  let json: JsonBorders | undefined;
  try {
    for (let held = 0; ; ) {
      held += read(buffer.subarray(held));
      // A buffer that is not full has the rest of the file.
      const isWhole = held < buffer.length;
      let from = 0;
      for (;;) {
        const rest = buffer.subarray(from, held);
        // The last piece needs no end of a document.
        const cut = isWhole && rest.length <= window ? rest.length : endOfPiece(rest, window);
        if (cut <= 0) break;
        yield decoded(rest.subarray(0, cut));
        from += cut;
      }
      if (isWhole) {
        if (from < held) yield decoded(buffer.subarray(from, held));
        return;
      }
      if (from > 0) {
        // The document that is not complete yet moves to the front.
        held = buffer.copy(buffer, 0, from);
        isStart = false;
      } else if (isStart && startsLikeJson(buffer.toString('utf8', 0, SNIFF))) {
        // Such a file is one text, and only its reader knows for certain where documents end.
        json ??= new JsonBorders();
        // No document of a smaller file is too large.
        if (held > LARGEST_DOCUMENT) json.follow(buffer, held);
        // In steps, so that a document that is too large is found before all of the file is in memory.
        const next = held < LARGEST_DOCUMENT ? LARGEST_DOCUMENT : 2 * held;
        // One byte more than the file: only a buffer that is not full shows that its end was read.
        buffer = Buffer.concat([buffer], Math.max(Math.min(size, next) + 1, buffer.length + 1));
      } else if (buffer.length > LARGEST_DOCUMENT) {
        throw new DocumentTooLarge();
      } else buffer = Buffer.concat([buffer], 2 * buffer.length);
    }
  } finally {
    if (buffer.length <= MOST_KEPT) spare = buffer;
  }
}

/** Bytes of `"` and `\`. */
const [QUOTE, BACKSLASH] = [34, 92];
/** Bytes of `{` and `}`. `[` and `]` differ from them by the bit {@link CURLY} alone: with it set, one comparison tells both. */
const [OPENS, CLOSES, CURLY] = [123, 125, 32];

/** Where the values of a JSON stream begin and end, without reading them. */
class JsonBorders {
  #at = 0;
  #depth = 0;
  /** Where the value that is not at its end begins. */
  #start = 0;
  #isInString = false;

  /**
   * Follows the nesting of JSON values, to find where they end.
   *
   * @throws DocumentTooLarge for a value without an end, and without a line that would separate documents of YAML, as
   *   which tools may read the file
   */
  follow(bytes: Buffer, to: number): void {
    this.#pass(bytes, to);
    const isOpen = this.#depth > 0 || this.#isInString;
    if (!isOpen || to - this.#start <= LARGEST_DOCUMENT) return;
    const separator = bytes.subarray(0, to).lastIndexOf(SEPARATOR);
    if (to - Math.max(separator, this.#start) <= LARGEST_DOCUMENT) return;
    // The reader of the file counts lines: it is told how many are before the value.
    let lines = 0;
    for (let at = bytes.indexOf(LF); at >= 0 && at < this.#start; at = bytes.indexOf(LF, at + 1)) lines++;
    throw new DocumentTooLarge(lines);
  }

  /** One loop over local numbers: it passes each byte of large catalogs. */
  #pass(bytes: Buffer, to: number): void {
    let [at, depth, start, isInString] = [this.#at, this.#depth, this.#start, this.#isInString];
    for (; at < to; at++) {
      const byte = bytes[at] ?? 0;
      if (isInString) {
        // What is escaped may stand behind `to`.
        if (byte === BACKSLASH) at++;
        else if (byte === QUOTE) isInString = false;
      } else if (byte === QUOTE) {
        if (depth === 0) start = at;
        isInString = true;
      } else if ((byte | CURLY) === OPENS) {
        if (depth++ === 0) start = at;
      } else if ((byte | CURLY) === CLOSES) depth = Math.max(0, depth - 1);
    }
    [this.#at, this.#depth, this.#start, this.#isInString] = [at, depth, start, isInString];
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
  // Behind the window, from the last separator that is in it, or may begin in it, though its line ends behind it.
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

/** Bytes as text; as they are if they are not UTF-8. Plain ASCII is decoded as Latin-1, which costs less. */
function decoded(bytes: Buffer): TextPiece | Uint8Array {
  if (isPlainBytes(bytes)) return { text: bytes.toString('latin1'), isPlain: true };
  return isUtf8(bytes) ? { text: bytes.toString('utf8'), isPlain: false } : bytes;
}

/** What a shell passes as a file that it writes to: `<(…)`, `-`. */
const OF_THE_SHELL = /^\/(?:dev\/(?:fd\/\d+|stdin)|proc\/self\/fd\/\d+)$/;

/** The flags for opening a file, which then waits for nobody who writes to a pipe; Windows has neither. @param more flags */
function flagsFor(path: string, more = 0): number {
  // A pipe of the shell has somebody who writes to it: that is waited for.
  const nonBlocking = OF_THE_SHELL.test(path) ? 0 : (constants.O_NONBLOCK ?? 0);
  return constants.O_RDONLY | nonBlocking | more;
}

/** Refuses what may never answer. @throws PipelineError `io` for a pipe, socket or device that the shell did not pass */
function mustBeRegular(path: string, found: { isFile(): boolean; isDirectory(): boolean }): void {
  // What is read of a directory is an error with a name of its own.
  if (found.isFile() || found.isDirectory() || OF_THE_SHELL.test(path)) return;
  throw new PipelineError('io', `${path} is not a file, but a pipe, socket or device`);
}

/** Opens a file for reading. @throws PipelineError `io` for a pipe, socket or device; what the file system says */
export function openRegular(path: string): number {
  const file = openSync(path, flagsFor(path));
  try {
    mustBeRegular(path, fstatSync(file));
    return file;
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

/** The bytes of a file. @throws as {@link openRegular} */
export function readRegular(path: string): Buffer {
  const file = openRegular(path);
  try {
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

/**
 * Opens a file for reading.
 *
 * @param flags more of them, such as `O_NOFOLLOW`
 * @throws PipelineError `io` for a pipe, socket or device; what the file system says
 */
export async function openRegularHandle(path: string, flags = 0): Promise<FileHandle> {
  const handle = await open(path, flagsFor(path, flags));
  try {
    mustBeRegular(path, await handle.stat());
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/**
 * A character of a name that YAML or JSON write as an escape, and the end of a line that goes on with the next. Names consist of
 * letters, digits, `-`, `.` and `_`: the pattern has their codes in hexadecimal.
 */
const HIDDEN = /\\(?:\r?\n|(?:x|u00|U000000)(?:2[dDeE]|3[0-9]|[46][1-9a-fA-F]|[57][0-9aA]|5[fF]))/;

/** Whether a file of YAML or JSON has one of some names, however it writes their characters. */
export function mentionsAny(content: Uint8Array, names: Iterable<string>): boolean {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.length);
  const wanted = [...names];
  if (wanted.some((name) => bytes.includes(name))) return true;
  // Most files escape nothing in names: only the others are decoded.
  if (!HIDDEN.test(bytes.toString('latin1'))) return false;
  const text = unescaped(bytes.toString('utf8'));
  return wanted.some((name) => text.includes(name));
}

/** A text with the characters that a quoted text of YAML or JSON may write as escapes, in lines that go on. */
export function unescaped(text: string): string {
  return text
    .replaceAll(/\\\r?\n[ \t]*/g, '')
    .replaceAll(/\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))/g, (written, x, u, long) => {
      const code = Number.parseInt(x ?? u ?? long, 16);
      // Unicode ends there: it is not an escape of a character.
      return code > 0x10ffff ? written : String.fromCodePoint(code);
    });
}

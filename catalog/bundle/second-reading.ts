/**
 * What operator-framework/api reads as a typed object. Its loader decodes the first document of a file, moves the
 * file back to its start, and goes on with the same decoder, which still holds up to 4,096 bytes behind that document.
 *
 * @see https://github.com/operator-framework/api/blob/v0.45.0/pkg/manifests/bundleloader.go
 */

/** Bytes that Go's buffered reader holds. */
const BUFFER = 4096;
const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
const DASH = 45;

/** A file as Go's buffered reader sees it: the bytes from `read` to `filled` are in the buffer. */
interface Reading {
  readonly bytes: Uint8Array;
  read: number;
  filled: number;
}

/**
 * The document that the second decoding gets. The decoder reads on from its buffer, which holds what follows the first
 * document; only then does it ask the file, which starts again. So that document is the rest of the buffer, up to a separator
 * there, or else continued by the file's first document.
 *
 * @returns undefined if the buffer holds nothing more: then it is the first document again
 */
export function secondReading(bytes: Uint8Array): Uint8Array | undefined {
  const reading: Reading = { bytes, read: 0, filled: 0 };
  if (!skipDocument(reading)) return undefined;
  const rest = bytes.subarray(reading.read, reading.filled);
  if (rest.length === 0) return undefined;
  const mixed = new Uint8Array(rest.length + bytes.length);
  mixed.set(rest);
  mixed.set(bytes, rest.length);
  const again: Reading = { bytes: mixed, read: 0, filled: 0 };
  return skipDocument(again) ? mixed.subarray(0, again.read) : mixed;
}

/** Reads a document and the separator behind it. @returns whether there is such a separator */
function skipDocument(reading: Reading): boolean {
  for (let hasText = false; ; ) {
    const start = reading.read;
    if (!skipLine(reading)) return false;
    const { bytes } = reading;
    const isSeparator = [0, 1, 2].every((i) => start + i < reading.read && bytes[start + i] === DASH);
    if (isSeparator && hasText) return true;
    hasText ||= !isSeparator;
  }
}

/** Reads a line as Go does: the buffer is filled up where it holds no end of the line. @returns whether there is one */
function skipLine(reading: Reading): boolean {
  const { bytes } = reading;
  const start = reading.read;
  for (let from = start; ; ) {
    const found = bytes.subarray(from, reading.filled).indexOf(LINE_FEED);
    if (found >= 0) {
      reading.read = from + found + 1;
      return true;
    }
    if (reading.filled === bytes.length) {
      reading.read = bytes.length;
      return start < bytes.length;
    }
    from = reading.filled;
    if (reading.filled - reading.read === BUFFER) {
      // Go leaves a carriage return at the end for the next reading: a line feed may follow.
      reading.read = bytes[from - 1] === CARRIAGE_RETURN ? from - 1 : from;
    }
    reading.filled = Math.min(reading.read + BUFFER, bytes.length);
  }
}

/** Bytes of a file as text. */
import type { TextPiece } from '../source.ts';
import { isPlainBytes } from '../yaml/plain-bytes.ts';

/** The text that bytes stand for, with U+FFFD where they are no UTF-8. */
export function decode(bytes: Uint8Array): TextPiece & { readonly isUtf8: boolean } {
  const isPlain = isPlainBytes(bytes);
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return { text, isPlain, isUtf8: true };
  } catch {
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
    return { text, isPlain, isUtf8: false };
  }
}

/** Place of the first byte that is not UTF-8: a 1-based line, and a 1-based column in UTF-16 units. */
export function firstInvalid(bytes: Uint8Array): { line: number; column: number } {
  let line = 1;
  for (let from = 0; ; line++) {
    const found = bytes.indexOf(10, from);
    const to = found < 0 ? bytes.length : found;
    try {
      new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(from, to));
    } catch {
      const text = new TextDecoder().decode(bytes.subarray(from, to));
      return { line, column: text.indexOf('\ufffd') + 1 };
    }
    if (found < 0) return { line, column: 1 };
    from = found + 1;
  }
}

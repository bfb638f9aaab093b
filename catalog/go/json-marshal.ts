/**
 * JSON as Go's json.Marshal writes it, `<`, `>` and `&` escaped, into bytes. Manifests
 * are large and stand in strings: they are escaped byte by byte, without becoming
 * JavaScript strings on the way.
 *
 * @see https://pkg.go.dev/encoding/json#Marshal
 */
import { jsonString } from './json-text.ts';

/** JSON text in which no character means anything to HTML. */
export function escapeHtml(json: string): string {
  return json.replaceAll(/[<>&]/g, (c) => (c === '<' ? '\\u003c' : c === '>' ? '\\u003e' : '\\u0026'));
}

/** A string with quotes, safe in HTML. */
export function goString(text: string): string {
  return escapeHtml(jsonString(text));
}

/** Members of an object, those without a value left out. */
export function goObject(members: readonly (readonly [key: string, json: string | undefined])[]): string {
  const written = members.flatMap(([key, json]) => (json === undefined ? [] : [`"${key}":${json}`]));
  return `{${written.join(',')}}`;
}

/** A list of values that are JSON already; undefined when it is empty, as Go's omitempty leaves it out. */
export function goList(items: readonly string[]): string | undefined {
  return items.length === 0 ? undefined : `[${items.join(',')}]`;
}

const encoder = new TextEncoder();

/** Bytes in the making. */
export class ByteWriter {
  #bytes: Uint8Array;
  #length = 0;

  /** @param capacity how many bytes are expected */
  constructor(capacity: number) {
    this.#bytes = new Uint8Array(capacity);
  }

  /** What was written. Belongs to the caller; the writer is done. */
  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  get length(): number {
    return this.#length;
  }

  text(text: string): this {
    // No unit of UTF-16 takes more than three bytes.
    this.#reserve(text.length * 3);
    this.#length += encoder.encodeInto(text, this.#bytes.subarray(this.#length)).written;
    return this;
  }

  bytes(bytes: Uint8Array): this {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
    return this;
  }

  /** UTF-8 as a JSON string with quotes. What is not UTF-8 becomes `\ufffd`, byte by byte. */
  quoted(utf8: Uint8Array): this {
    // Room for the rest as it stands, for two quotes and for the longest escape; escapes ask for more.
    this.#reserve(utf8.length + (utf8.length >> 3) + SLACK);
    let to = this.#bytes;
    let at = this.#length;
    to[at++] = QUOTE;
    for (let i = 0; i < utf8.length; i++) {
      const byte = utf8[i] as number;
      if (PLAIN[byte] === 1) {
        to[at++] = byte;
        continue;
      }
      const width = byte < 0x80 ? 1 : sequenceWidth(utf8, i);
      const written = byte < 0x80 ? ESCAPES[byte] : multiByteEscape(utf8, i, width);
      if (to.length - at < utf8.length - i + SLACK) {
        this.#length = at;
        this.#reserve(utf8.length - i + SLACK);
        to = this.#bytes;
      }
      if (written) {
        for (let k = 0; k < written.length; k++) to[at++] = written[k] as number;
      } else {
        for (let k = 0; k < width; k++) to[at++] = utf8[i + k] as number;
      }
      i += Math.max(width, 1) - 1;
    }
    to[at++] = QUOTE;
    this.#length = at;
    return this;
  }

  /** Makes room for so many bytes more. */
  #reserve(more: number): void {
    const needed = this.#length + more;
    if (needed <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }
}

const QUOTE = 0x22;
/** Bytes of room for two quotes and the longest escape, of six bytes, and some to spare. */
const SLACK = 16;
const REPLACEMENT = encoder.encode('\\ufffd');
const LINE_SEPARATOR = encoder.encode('\\u2028');
const PARAGRAPH_SEPARATOR = encoder.encode('\\u2029');

/** What each ASCII byte becomes. */
const ESCAPES: readonly Uint8Array[] = Array.from({ length: 128 }, (_, code) =>
  encoder.encode(goString(String.fromCharCode(code)).slice(1, -1)),
);

/** 1 for bytes that need no escape. */
const PLAIN: Uint8Array = Uint8Array.from({ length: 256 }, (_, code) =>
  code < 0x80 && ESCAPES[code]?.length === 1 ? 1 : 0,
);

/** The escape for the sequence at `at`: for bytes that are not UTF-8, U+2028 and U+2029; undefined if it may stay. */
function multiByteEscape(utf8: Uint8Array, at: number, width: number): Uint8Array | undefined {
  if (width === 0) return REPLACEMENT;
  if (width !== 3 || utf8[at] !== 0xe2 || utf8[at + 1] !== 0x80) return undefined;
  if (utf8[at + 2] === 0xa8) return LINE_SEPARATOR;
  return utf8[at + 2] === 0xa9 ? PARAGRAPH_SEPARATOR : undefined;
}

/** How many bytes the character at `at` has; 0 when it is not UTF-8. */
function sequenceWidth(utf8: Uint8Array, at: number): 0 | 2 | 3 | 4 {
  const first = utf8[at] as number;
  const second = utf8[at + 1] ?? 0;
  if (first >= 0xc2 && first <= 0xdf) return continues(second) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    // These bounds exclude overlong forms, surrogates and what is beyond Unicode, as Go's decoder does.
    const low = first === 0xe0 ? 0xa0 : 0x80;
    const high = first === 0xed ? 0x9f : 0xbf;
    return second >= low && second <= high && continues(utf8[at + 2]) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const low = first === 0xf0 ? 0x90 : 0x80;
    const high = first === 0xf4 ? 0x8f : 0xbf;
    const isValid = second >= low && second <= high && continues(utf8[at + 2]) && continues(utf8[at + 3]);
    return isValid ? 4 : 0;
  }
  return 0;
}

/** Whether a byte continues a character. */
function continues(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x80 && byte <= 0xbf;
}

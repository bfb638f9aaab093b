/**
 * A reader of JSON streams (one value after another) that keeps the place of every
 * node. It accepts what Go's encoding/json accepts and says what Go says.
 *
 * @see https://pkg.go.dev/encoding/json#Decoder
 */
import { DEEPEST } from '../json.ts';
import { goQuoted } from './text.ts';

/** Why a value cannot be read. `offset` counts UTF-16 units from the beginning of the text. */
export class JsonError extends Error {
  readonly offset: number;
  /** Whether the text is not JSON at all; otherwise a value does not fit (a number out of range, too deep). */
  readonly syntax: boolean;

  constructor(message: string, offset: number, syntax = true) {
    super(message);
    this.name = 'JsonError';
    this.offset = offset;
    this.syntax = syntax;
  }
}

/** Lists and objects are nested deeper than the reader allows. */
export class TooDeep extends JsonError {}

/** A value of a stream is longer than its reader allows. */
export class TooLong extends Error {}

/** One value of a stream. */
export interface JsonValue {
  readonly value: unknown;
  /** A line and a column for each node in the order of reading, the root first. */
  readonly marks: Int32Array;
  /** For objects whose keys JavaScript does not keep as written: what was written. */
  readonly written: ReadonlyMap<object, readonly WrittenMember[]>;
  /** Keys that stand twice in one object; the last counts. */
  readonly duplicates: readonly { readonly key: string; readonly line: number; readonly column: number }[];
}

/** A member of an object in the order of writing, and how many nodes its value has. */
export interface WrittenMember {
  readonly key: string;
  readonly nodes: number;
}

const QUOTE = 34;
const BACKSLASH = 92;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids them in strings
const NOT_LITERAL = /[\\\x00-\x1f]/;

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ['\\', '\\'],
  ['/', '/'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
]);

/** Reads the values of a stream one by one. */
export class JsonReader {
  readonly #text: string;
  readonly #maxDepth: number;
  readonly #longest: number;
  #at: number;
  /** How far the value that is read may go. */
  #end = 0;
  #line: number;
  #lineStart: number;
  #depth = 0;
  #marks = new Int32Array(1 << 12);
  #marked = 0;
  #written = new Map<object, WrittenMember[]>();
  #duplicates: { key: string; line: number; column: number }[] = [];

  /**
   * @param maxDepth how deep arrays and objects may be nested, {@link DEEPEST} at most
   * @param longest characters that a value may have
   */
  constructor(text: string, maxDepth: number = DEEPEST, longest: number = Number.POSITIVE_INFINITY) {
    this.#text = text;
    this.#maxDepth = Math.min(maxDepth, DEEPEST);
    this.#longest = longest;
    this.#at = 0;
    this.#line = 1;
    this.#lineStart = 0;
  }

  /** Offset behind the last value that was read. */
  get offset(): number {
    return this.#at;
  }

  /** Line of {@link offset}, 1-based. */
  get line(): number {
    return this.#line;
  }

  /**
   * The next value, or undefined at the end of the stream. After an error the offset
   * is still behind the last complete value.
   *
   * @throws JsonError; TooLong
   */
  next(): JsonValue | undefined {
    const before = { at: this.#at, line: this.#line, lineStart: this.#lineStart };
    this.#skipSpace();
    if (this.#at >= this.#text.length) return undefined;
    this.#end = this.#at + this.#longest;
    this.#marked = 0;
    this.#written = new Map();
    this.#duplicates = [];
    try {
      const value = this.#value();
      if (this.#at > this.#end) throw new TooLong();
      const marks = this.#marks.slice(0, this.#marked);
      return { value, marks, written: this.#written, duplicates: this.#duplicates };
    } catch (error) {
      this.#at = before.at;
      this.#line = before.line;
      this.#lineStart = before.lineStart;
      this.#depth = 0;
      throw error;
    }
  }

  /** Passes white space, and counts lines. */
  #skipSpace(): void {
    const text = this.#text;
    for (let at = this.#at; ; at++) {
      const c = text.charCodeAt(at);
      if (c === 10) {
        this.#line++;
        this.#lineStart = at + 1;
      } else if (c !== 32 && c !== 9 && c !== 13) {
        this.#at = at;
        return;
      }
    }
  }

  /** Notes where a node stands, and returns the slot in which it is noted. */
  #mark(): number {
    if (this.#at > this.#end) throw new TooLong();
    const slot = this.#marked;
    if (slot + 2 > this.#marks.length) {
      const larger = new Int32Array(this.#marks.length * 2);
      larger.set(this.#marks);
      this.#marks = larger;
    }
    this.#remark(slot);
    this.#marked = slot + 2;
    return slot;
  }

  /** Notes another place for a node: a member of an object has the place of its key, unless its value is a scalar. */
  #remark(slot: number): void {
    this.#marks[slot] = this.#line;
    this.#marks[slot + 1] = this.#at - this.#lineStart + 1;
  }

  /** Reads a value whose node is already marked, or marks it as an item of its own. */
  #value(slot: number = this.#mark()): unknown {
    const c = this.#text.charCodeAt(this.#at);
    if (c === 123 /* { */) return this.#object();
    if (c === 91 /* [ */) return this.#array();
    // A scalar of a member stands where it begins, not at its key.
    this.#remark(slot);
    if (c === QUOTE) return this.#string();
    if (c === 116) return this.#literal('true', true);
    if (c === 102) return this.#literal('false', false);
    if (c === 110) return this.#literal('null', null);
    return this.#number();
  }

  /** Reads an object behind its `{`. As in Go, the last of equal keys counts. */
  #object(): Record<string, unknown> {
    this.#enter();
    const object: Record<string, unknown> = {};
    let written: WrittenMember[] | undefined;
    if (this.#closes(125 /* } */, 'looking for beginning of object key string')) return object;
    for (;;) {
      if (this.#text.charCodeAt(this.#at) !== QUOTE)
        throw this.#unexpected('looking for beginning of object key string');
      const slot = this.#mark();
      const key = this.#string();
      this.#skipSpace();
      if (this.#text.charCodeAt(this.#at) !== 58) throw this.#unexpected('after object key');
      this.#at++;
      this.#skipSpace();
      if (this.#moves(object, key, slot)) written ??= this.#writtenSoFar(object);
      const value = this.#value(slot);
      // An assignment would set the prototype instead.
      if (key === '__proto__') {
        Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
      } else object[key] = value;
      written?.push({ key, nodes: (this.#marked - slot) / 2 });
      if (this.#ends(125, 'after object key:value pair')) return object;
    }
  }

  /** Whether JavaScript would not keep this key behind the ones before it. */
  #moves(object: Record<string, unknown>, key: string, slot: number): boolean {
    if (Object.hasOwn(object, key)) {
      this.#duplicates.push({ key, line: this.#marks[slot] ?? 1, column: this.#marks[slot + 1] ?? 1 });
      return true;
    }
    const c = key.charCodeAt(0);
    return c >= 48 && c <= 57 && /^[0-9]+$/.test(key);
  }

  /** Begins to note the members as they are written, with those that were read before. */
  #writtenSoFar(object: Record<string, unknown>): WrittenMember[] {
    const written = Object.entries(object).map(([key, value]) => ({ key, nodes: countNodes(value) }));
    this.#written.set(object, written);
    return written;
  }

  /** Reads an array behind its `[`. */
  #array(): unknown[] {
    this.#enter();
    const array: unknown[] = [];
    if (this.#closes(93 /* ] */, 'looking for beginning of value')) return array;
    for (;;) {
      array.push(this.#value());
      if (this.#ends(93, 'after array element')) return array;
    }
  }

  /**
   * Passes the bracket that opens an array or an object.
   *
   * @throws TooDeep
   */
  #enter(): void {
    if (++this.#depth > this.#maxDepth) {
      throw new TooDeep(`nested deeper than ${this.#maxDepth} levels`, this.#at, false);
    }
    this.#at++;
    this.#skipSpace();
  }

  /** Whether the collection that was just entered is empty. */
  #closes(bracket: number, context: string): boolean {
    if (this.#at >= this.#text.length) throw this.#unexpected(context);
    if (this.#text.charCodeAt(this.#at) !== bracket) return false;
    this.#at++;
    this.#depth--;
    return true;
  }

  /** Reads what follows a member: a comma (false) or the closing bracket (true). */
  #ends(bracket: number, context: string): boolean {
    this.#skipSpace();
    const c = this.#text.charCodeAt(this.#at);
    if (c === bracket) {
      this.#at++;
      this.#depth--;
      return true;
    }
    if (c !== 44 /* , */) throw this.#unexpected(context);
    this.#at++;
    this.#skipSpace();
    return false;
  }

  /** Reads a text. Most have neither escapes nor other special characters, and are only cut out. */
  #string(): string {
    const text = this.#text;
    const from = this.#at + 1;
    const close = text.indexOf('"', from);
    if (close >= 0) {
      const literal = text.slice(from, close);
      if (!NOT_LITERAL.test(literal)) {
        this.#at = close + 1;
        return literal;
      }
    }
    return this.#escapedString(from);
  }

  /** Reads a text with escapes. @param from behind the opening quote */
  #escapedString(from: number): string {
    const text = this.#text;
    let value = '';
    let start = from;
    for (let i = from; ; i++) {
      const c = text.charCodeAt(i);
      if (c === QUOTE) {
        this.#at = i + 1;
        // Halves of surrogate pairs become U+FFFD, as in Go.
        return (value + text.slice(start, i)).toWellFormed();
      }
      if (Number.isNaN(c)) throw new JsonError('unexpected EOF', i);
      if (c < 32) throw this.#unexpectedAt(i, 'in string literal');
      if (c !== BACKSLASH) continue;
      const letter = text.charAt(i + 1);
      if (letter === 'u') {
        const hex = text.slice(i + 2, i + 6);
        if (!/^[0-9a-fA-F]{4}$/.test(hex)) {
          throw this.#unexpectedAt(
            i + 2 + (/^[0-9a-fA-F]*/.exec(hex)?.[0].length ?? 0),
            'in \\u hexadecimal character escape',
          );
        }
        value += text.slice(start, i) + String.fromCharCode(Number.parseInt(hex, 16));
        i += 5;
      } else {
        const character = ESCAPES.get(letter);
        if (character === undefined) throw this.#unexpectedAt(i + 1, 'in string escape code');
        value += text.slice(start, i) + character;
        i += 1;
      }
      start = i + 1;
    }
  }

  /** Reads `true`, `false` or `null`, of which the first character was seen. */
  #literal<T>(word: string, value: T): T {
    for (let i = 1; i < word.length; i++) {
      if (this.#text.charAt(this.#at + i) !== word.charAt(i)) {
        throw this.#unexpectedAt(this.#at + i, `in literal ${word} (expecting '${word.charAt(i)}')`);
      }
    }
    this.#at += word.length;
    return value;
  }

  /** Reads a number. As in Go, one that no float64 can hold is an error. */
  #number(): number {
    NUMBER.lastIndex = this.#at;
    const literal = NUMBER.exec(this.#text)?.[0];
    if (literal === undefined) throw this.#numberSyntax();
    const value = Number(literal);
    if (!Number.isFinite(value)) {
      throw new JsonError(
        `json: cannot unmarshal number ${literal} into Go value of type float64`,
        this.#at,
        false,
      );
    }
    this.#at += literal.length;
    return value;
  }

  /** The error for what cannot be a number, and so not a value either. */
  #numberSyntax(): JsonError {
    return this.#text.charAt(this.#at) === '-'
      ? this.#unexpectedAt(this.#at + 1, 'in numeric literal')
      : this.#unexpected('looking for beginning of value');
  }

  #unexpected(context: string): JsonError {
    return this.#unexpectedAt(this.#at, context);
  }

  /** The error for a character where another was expected, in Go's words; at the end of the text the error for that. */
  #unexpectedAt(offset: number, context: string): JsonError {
    if (offset >= this.#text.length) return new JsonError('unexpected EOF', offset);
    const character = String.fromCodePoint(this.#text.codePointAt(offset) ?? 0);
    return new JsonError(`invalid character ${quoteRune(character)} ${context}`, offset);
  }
}

/** A character as Go's encoding/json quotes it in messages; Go itself would name only the first byte of other than ASCII ones. */
function quoteRune(character: string): string {
  if (character === "'") return `'\\''`;
  if (character === '"') return `'"'`;
  return `'${goQuoted(character).slice(1, -1)}'`;
}

/** How many nodes a value has, itself among them. */
function countNodes(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  let count = 1;
  for (const child of Object.values(value)) count += countNodes(child);
  return count;
}

/**
 * Reads a text that is one JSON value, as Go's json.Unmarshal does. The engine's own reader is not used: some
 * of its releases read escaped keys as other keys.
 *
 * @returns the value, or what is wrong with the text
 * @see https://github.com/nodejs/node/issues/63785
 */
export function readJson(text: string): { readonly value: unknown } | { readonly defect: string } {
  const reader = new JsonReader(text);
  try {
    const first = reader.next();
    if (!first) return { defect: 'the text is empty' };
    const { value } = first;
    return reader.next() === undefined ? { value } : { defect: 'text follows the value' };
  } catch (error) {
    if (error instanceof JsonError) return { defect: `${error.message} at character ${error.offset + 1}` };
    throw error;
  }
}

/** The value of a text of JSON; undefined for a text that is none. */
export function tryReadJson(text: string): unknown {
  const read = readJson(text);
  return 'value' in read ? read.value : undefined;
}

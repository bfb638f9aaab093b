/**
 * JSON written as YAML, byte for byte as Go's tools write it: sigs.k8s.io/yaml reads
 * the JSON text with go-yaml v2 and lets go-yaml v2 write what it read.
 *
 * @see https://github.com/kubernetes-sigs/yaml/blob/v1.6.0/yaml.go
 * @see https://github.com/yaml/go-yaml/blob/v2.4.0/encode.go
 */
import { DEEPEST } from '../json.ts';
import { checkKey, isSimpleKey, Refusal, type Room, writeNumber, writeString } from './emit-scalar.ts';
import type { Json } from './scalar.ts';

type Path = readonly (string | number)[];

/** Why Go's tools cannot write a value as YAML. */
export class EmitError extends Error {
  /** Keys and indexes that lead to what is at fault. */
  readonly path: Path;

  constructor(message: string, path: Path) {
    super(message);
    this.name = 'EmitError';
    this.path = path;
  }
}

/**
 * Writes a JSON value as YAML, byte for byte as opm does.
 *
 * @returns one document without a separator, ending with a line feed
 * @throws EmitError for control characters, keys that are too long, numbers that are not finite, and nesting deeper than
 *   {@link DEEPEST}
 */
export function emitYaml(value: Json): string {
  return emitWith(new Emitter(), value);
}

function emitWith(emitter: Emitter, value: Json): string {
  try {
    return emitter.document(value);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw new EmitError(error.message, pathToRefused(value, []) ?? []);
  }
}

/**
 * Writes a JSON value as YAML that other readers of YAML 1.1 and 1.2 understand as Go does: it also quotes what they take for
 * another type. For documents that no tool of Go writes.
 *
 * @returns as {@link emitYaml}
 * @throws EmitError as {@link emitYaml}
 */
export function emitPortableYaml(value: Json): string {
  return emitWith(new Emitter((text) => OTHER_TYPES.some((type) => type.test(text))), value);
}

/**
 * Texts that PyYAML or readers of YAML 1.2 take for numbers, times, or marks of YAML, and go-yaml v2 does not.
 *
 * @see https://github.com/yaml/pyyaml/blob/6.0.2/lib/yaml/resolver.py
 */
const OTHER_TYPES: readonly RegExp[] = [
  /^(?:=|<<)$/,
  /^[-+]?(?:0b[01_]+|0x[0-9a-f_]+|0o[0-7_]+|[0-9][0-9_]*)$/i,
  /^[-+]?(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9][0-9_]*)(?:e[-+]?[0-9]+)?$/i,
  /^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:(?:t|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?(?:[ \t]*(?:z|[-+][0-9]{1,2}(?::?[0-9]{2})?))?)?$/i,
];

type JsonList = readonly Json[];
type JsonObject = { readonly [key: string]: Json };

function isList(value: Json): value is JsonList {
  return Array.isArray(value);
}

/** Whether a value is written over several lines of its own. */
function isFilled(value: Json): value is JsonList | JsonObject {
  if (typeof value !== 'object' || value === null) return false;
  if (isList(value)) return value.length > 0;
  for (const key in value) if (Object.hasOwn(value, key)) return true;
  return false;
}

/** Writes one document. `indent` is the column at which the entries of a collection, or further lines of a value, begin. */
class Emitter {
  #out = '';
  /** Whether nothing stands on the line yet: at the beginning, and behind a literal scalar. */
  #fresh = true;
  #depth = 0;
  readonly #isQuoted: (text: string) => boolean;

  /** @param isQuoted whether a short text on one line is quoted in any case */
  constructor(isQuoted: (text: string) => boolean = () => false) {
    this.#isQuoted = isQuoted;
  }

  /** The text of a document. */
  document(value: Json): string {
    if (isFilled(value)) this.#collection(value, 0);
    else this.#scalar(value, { column: 0, indent: 2, oneLine: false });
    this.#line(0);
    return this.#out;
  }

  /** Begins a line. */
  #line(indent: number): void {
    const pad = ' '.repeat(indent);
    this.#out += this.#fresh ? pad : `\n${pad}`;
    this.#fresh = false;
  }

  /** Writes a collection of which the first entry stands on the line that was begun. */
  #collection(value: JsonList | JsonObject, indent: number): void {
    if (isList(value)) this.#list(value, indent, true);
    else this.#mapping(value, indent, true);
  }

  /**
   * Writes a mapping, its keys in go-yaml's order.
   *
   * @param onLine whether the first entry goes on the line that is begun
   */
  #mapping(value: JsonObject, indent: number, onLine: boolean): void {
    this.#descend();
    let isLineBegun = onLine;
    for (const key of sortKeys(Object.keys(value))) {
      if (!isLineBegun) this.#line(indent);
      isLineBegun = false;
      this.#entry(key, value[key]!, indent);
    }
    this.#depth--;
  }

  /** Writes a key and its value. */
  #entry(key: string, value: Json, indent: number): void {
    const written = this.#isQuoted(key) ? JSON.stringify(key) : simpleKey(key);
    if (written === undefined) {
      this.#longEntry(key, value, indent);
      return;
    }
    this.#fresh = false;
    if (!isFilled(value)) {
      this.#out += `${written}: `;
      this.#scalar(value, { column: indent + written.length + 2, indent: indent + 2, oneLine: false });
      return;
    }
    this.#out += `${written}:`;
    // A list stands at the column of its key.
    if (isList(value)) this.#list(value, indent, false);
    else this.#mapping(value, indent + 2, false);
  }

  /** A key behind a question mark: it is long, or has several lines. */
  #longEntry(key: string, value: Json, indent: number): void {
    checkKey(key);
    this.#out += '? ';
    this.#scalar(key, { column: indent + 2, indent: indent + 2, oneLine: false });
    this.#line(indent);
    this.#out += ': ';
    this.#node(value, indent + 2);
  }

  /**
   * Writes a list.
   *
   * @param onLine whether the first item goes on the line that is begun
   */
  #list(items: JsonList, indent: number, onLine: boolean): void {
    this.#descend();
    let isLineBegun = onLine;
    for (const item of items) {
      if (!isLineBegun) this.#line(indent);
      isLineBegun = false;
      this.#out += '- ';
      this.#node(item, indent + 2);
    }
    this.#depth--;
  }

  /** Writes a value on the line that was begun, at the column at which its further lines stand. */
  #node(value: Json, indent: number): void {
    if (isFilled(value)) this.#collection(value, indent);
    else this.#scalar(value, { column: indent, indent, oneLine: false });
  }

  /** Writes a scalar, and notes whether it ended its line. */
  #scalar(value: Json, room: Room): void {
    const isQuoted = typeof value === 'string' && this.#isQuoted(value);
    const text = isQuoted ? JSON.stringify(value) : writeScalar(value, room);
    this.#out += text;
    this.#fresh = typeof value === 'string' && mayEndLine(value) && endsLine(text);
  }

  #descend(): void {
    if (++this.#depth > DEEPEST) throw new Refusal(`collections are nested deeper than ${DEEPEST} levels`);
  }
}

/** The text of a value that stands on one line, or of a string. */
function writeScalar(value: Json, room: Room): string {
  switch (typeof value) {
    case 'string':
      return writeString(value, room);
    case 'number':
      return writeNumber(value);
    case 'object':
      return value === null ? 'null' : isList(value) ? '[]' : '{}';
    default:
      return String(value);
  }
}

/** Whether a string may be written as a literal scalar that ends its last line: U+0085 and the spaces behind it become line feeds. */
function mayEndLine(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return isLineEnd(last) || last === 0x85 || last === 32;
}

function endsLine(text: string): boolean {
  return isLineEnd(text.charCodeAt(text.length - 1));
}

/** U+2028 and U+2029 end a line for go-yaml, which writes no line feed behind them. */
function isLineEnd(c: number): boolean {
  return c === 10 || c === 0x2028 || c === 0x2029;
}

/** Keys repeat: what was written of them is kept, up to a number that no catalog reaches. */
const writtenKeys = new Map<string, string>();
const MOST_WRITTEN_KEYS = 10_000;

/** A key as written before its colon; undefined if it needs a question mark. */
function simpleKey(key: string): string | undefined {
  const known = writtenKeys.get(key);
  if (known !== undefined || !isSimpleKey(key)) return known;
  const written = writeString(key, { column: 0, indent: 0, oneLine: true });
  if (writtenKeys.size >= MOST_WRITTEN_KEYS) writtenKeys.clear();
  writtenKeys.set(key, written);
  return written;
}

const ANYWHERE: Room = { column: 0, indent: 0, oneLine: false };

/** The way to the first thing in a value that cannot be written. */
function pathToRefused(value: Json, path: Path): Path | undefined {
  if (!isFilled(value)) return isRefused(() => writeScalar(value, ANYWHERE)) ? path : undefined;
  if (path.length > DEEPEST) return path;
  for (const [key, member] of Object.entries(value)) {
    const here = [...path, isList(value) ? Number(key) : key];
    if (!isList(value) && isRefused(() => writeKey(key))) return here;
    const found = pathToRefused(member, here);
    if (found) return found;
  }
  return undefined;
}

/**
 * Writes a key only to see whether that is possible.
 *
 * @throws Refusal
 */
function writeKey(key: string): void {
  if (!isSimpleKey(key)) checkKey(key);
  writeString(key, ANYWHERE);
}

/** Whether something cannot be written. */
function isRefused(write: () => void): boolean {
  try {
    write();
    return false;
  } catch (error) {
    if (error instanceof Refusal) return true;
    throw error;
  }
}

// The order in which go-yaml v2 writes the keys of a mapping: letters by code point,
// everything else before letters, and runs of digits as the numbers they are.
//
// @see https://github.com/yaml/go-yaml/blob/v2.4.0/sorter.go

const ZERO = 48;

/** Sorts keys as go-yaml does; the array itself is sorted. */
export function sortKeys(keys: string[]): string[] {
  for (let i = 1; i < keys.length; i++) {
    if (compareKeys(keys[i - 1]!, keys[i]!) > 0) return keys.sort(compareKeys);
  }
  return keys;
}

/** Compares keys as go-yaml sorts them: letters behind other characters, numbers by their value. */
export function compareKeys(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  let at = 0;
  while (at < length && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  if (at === length) return a.length - b.length;
  // The second halves of two characters may differ alone.
  if (at > 0 && isHighSurrogate(a.charCodeAt(at - 1))) at--;
  const x = a.codePointAt(at) ?? 0;
  const y = b.codePointAt(at) ?? 0;
  const xIsLetter = isLetter(x);
  const yIsLetter = isLetter(y);
  if (xIsLetter && yIsLetter) return x - y;
  if (xIsLetter !== yIsLetter) return xIsLetter ? 1 : -1;
  return compareNumbers(a, b, at) || x - y;
}

/** Compares the digits at `at` as numbers; a position without digits counts as an empty number. */
function compareNumbers(a: string, b: string, at: number): number {
  // Zeros inside a number count, those before it do not: a 1 stands for the digits before.
  const inside = (a.charCodeAt(at) === ZERO || b.charCodeAt(at) === ZERO) && followsNumber(a, at);
  const x = digitsAt(a, at, inside);
  const y = digitsAt(b, at, inside);
  if (x.value !== y.value) return x.value < y.value ? -1 : 1;
  return x.length - y.length;
}

/** Whether a number stands before a place: digits that are not all zeros. */
function followsNumber(text: string, at: number): boolean {
  const before = [...text.slice(0, at)];
  for (let i = before.length - 1; i >= 0; i--) {
    const code = before[i]!.codePointAt(0)!;
    if (!isDigit(code)) return false;
    if (code !== ZERO) return true;
  }
  return false;
}

/**
 * The digits from `from` on as a number, which overflows as an int64 does.
 *
 * @param inside whether they go on a number, of which a 1 stands for the digits before
 */
function digitsAt(text: string, from: number, inside: boolean): { value: bigint; length: number } {
  let value = inside ? 1n : 0n;
  let length = 0;
  for (let at = from; at < text.length; ) {
    const code = text.codePointAt(at)!;
    if (!isDigit(code)) break;
    value = BigInt.asIntN(64, value * 10n + BigInt(code - ZERO));
    length++;
    at += code > 0xffff ? 2 : 1;
  }
  return { value, length };
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLetter(code: number): boolean {
  if (code < 128) return (code >= 97 && code <= 122) || (code >= 65 && code <= 90);
  return /\p{L}/u.test(String.fromCodePoint(code));
}

function isDigit(code: number): boolean {
  if (code < 128) return code >= ZERO && code <= ZERO + 9;
  return /\p{Nd}/u.test(String.fromCodePoint(code));
}

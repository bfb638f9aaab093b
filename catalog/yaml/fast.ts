/**
 * A fast reader of the YAML that catalogs are written in: block mappings and
 * sequences, plain, quoted and block scalars, comments, empty flow collections.
 *
 * It never guesses: at the first construct outside that subset (anchors, tags,
 * merge keys, complex keys, tabs as white space, duplicate keys, flow collections
 * with content, anything malformed) it gives up, and the full reader takes the
 * document. What it does return is what the full reader would have returned.
 */
import { closingQuote, doubleText, isPlainAt, readScalar, singleText } from './fast-scalar.ts';
import {
  COMMENT,
  closeText,
  documentEnd,
  eol,
  indent,
  isBlankAt,
  KEY_COLON,
  LEAVE,
  mark,
  next,
  nextLine,
  openText,
  openUsualText,
  remark,
  start,
  startInside,
  takeMarks,
  text,
} from './fast-text.ts';
import { resolvePlain } from './scalar.ts';

/** What the reader found, with one position for each node in the order of reading. */
export interface FastDocument {
  readonly value: unknown;
  /**
   * Line and column pairs (both 1-based; columns in UTF-16 units), one pair a node
   * in pre-order, the root first: of a mapping entry the place of its scalar value,
   * or of its key where the value is a collection or absent.
   */
  readonly marks: Int32Array;
}

/** Deeper nesting goes to the full reader, which knows the limits. */
const MAX_DEPTH = 64;
/** go-yaml looks no further than 1024 characters for the colon of a simple key. */
const MAX_KEY = 1000;

const SPACE = 32;
const TAB = 9;
const HASH = 35;
const COLON = 58;
const DASH = 45;
const DOUBLE = 34;
const SINGLE = 39;

let depth = 0;

/**
 * Reads one YAML document, `source` from `from` to `to`.
 *
 * @param firstLine the 1-based line of `from`, which must begin a line
 * @param deepest deepest nesting of collections
 * @returns undefined when the document holds anything outside the subset, or is nested deeper
 */
export function readFast(
  source: string,
  from: number,
  to: number,
  firstLine: number,
  deepest: number = MAX_DEPTH,
): FastDocument | undefined {
  try {
    return openText(source, from, to, firstLine) ? readOpened(deepest) : undefined;
  } finally {
    closeText();
  }
}

/** A document that was read up to the separator behind it. */
export interface FastPiece extends FastDocument {
  /** Offset of the separator, or the text's length, and the 1-based line there. */
  readonly to: number;
  readonly line: number;
}

/**
 * Reads the document of a text that {@link isUsualText} which ends before the next
 * separator, a line that begins with `---`. The text is held until {@link closeText}.
 *
 * @param firstLine the 1-based line of `from`, which must begin a line
 * @param deepest deepest nesting of collections
 * @returns undefined when the document holds anything outside the subset, or is nested deeper
 */
export function readFastPiece(
  source: string,
  from: number,
  firstLine: number,
  deepest: number = MAX_DEPTH,
): FastPiece | undefined {
  openUsualText(source, from, firstLine);
  const read = readOpened(deepest);
  return read && { ...read, ...documentEnd() };
}

/** Reads the document that is open; undefined for anything but one collection of the subset. */
function readOpened(deepest: number): FastDocument | undefined {
  try {
    // Begins as deep as leaves that much: each collection compares with a constant.
    depth = Math.max(0, MAX_DEPTH - deepest);
    nextLine();
    if (indent < 0) return undefined;
    // -1: no collection is around it.
    const value = readBlock(indent, -1, mark(start));
    return indent < 0 && typeof value === 'object' ? { value, marks: takeMarks() } : undefined;
  } catch (error) {
    if (error === LEAVE) return undefined;
    throw error;
  }
}

/**
 * Reads the node that begins at the current line.
 *
 * @param parent the column of the enclosing block collection
 * @param slot where the node's place is noted
 */
function readBlock(column: number, parent: number, slot: number): unknown {
  if (isItemAt(start)) return readCollection(SEQUENCE, column, -1);
  const colon = keyEnd(start);
  return colon < 0 ? readScalarAt(start, parent, slot) : readCollection(MAPPING, column, colon);
}

/** Reads a scalar, and notes its own place for its node. */
function readScalarAt(at: number, parent: number, slot: number): unknown {
  remark(slot, at);
  return readScalar(at, parent);
}

const SEQUENCE = 0;
const MAPPING = 1;
/** Called out of a table for the reason that scalars are. */
const COLLECTIONS: readonly ((column: number, firstColon: number) => unknown)[] = [readSequence, readMapping];

/** Reads a block collection that stands at a column. @param firstColon where the first key ends; -1 for a sequence */
function readCollection(kind: number, column: number, firstColon: number): unknown {
  if (++depth > MAX_DEPTH) throw LEAVE;
  const collection = COLLECTIONS[kind]!(column, firstColon);
  // A deeper line behind the collection belongs to nothing.
  if (indent > column) throw LEAVE;
  depth--;
  return collection;
}

/** Whether a dash begins an item of a sequence at `at`. */
function isItemAt(at: number): boolean {
  return text.charCodeAt(at) === DASH && isBlankAt(at + 1);
}

/** Reads the items of a block sequence, as long as dashes stand at its column. */
function readSequence(column: number): unknown[] {
  const items: unknown[] = [];
  while (indent === column && isItemAt(start)) items.push(readItem(column));
  return items;
}

/** Reads an item of a block list at the dash. @param column that of the dash */
function readItem(column: number): unknown {
  const slot = mark(start);
  const at = pastSpaces(start + 1);
  // The end of the line means the same as a comment.
  const c = at < eol ? text.charCodeAt(at) : HASH;
  if (c === HASH) {
    nextLine();
    return indent > column ? readBlock(indent, column, slot) : null;
  }
  if (c === TAB) throw LEAVE;
  const isItem = isItemAt(at);
  const colon = isItem ? -1 : keyEnd(at);
  if (!isItem && colon < 0) return readScalarAt(at, column, slot);
  // A collection that begins on the dash's own line: its column is where it stands.
  startInside(at);
  remark(slot, at);
  return readCollection(isItem ? SEQUENCE : MAPPING, indent, colon);
}

/** The first place on the line that is not a space. */
function pastSpaces(from: number): number {
  let at = from;
  while (at < eol && text.charCodeAt(at) === SPACE) at++;
  return at;
}

/**
 * Reads a block mapping. {@link readValue} moves `start` and `indent` to the line after the value: there, the next key
 * begins if the column is that of the mapping.
 *
 * @param column that of its keys
 * @param firstColon where the first key ends
 */
function readMapping(column: number, firstColon: number): Record<string, unknown> {
  const mapping: Record<string, unknown> = {};
  let entries = 0;
  let colon = firstColon;
  for (;;) {
    const key = readKey(start, colon);
    mapping[key] = readValue(colon + 1, column);
    entries++;
    if (indent !== column) break;
    colon = keyEnd(start);
    if (colon < 0 || isItemAt(start)) throw LEAVE;
  }
  // Fewer than were read: a key is a duplicate.
  if (Object.keys(mapping).length !== entries) throw LEAVE;
  return mapping;
}

/**
 * Reads the value of a key, up to the line after it.
 *
 * @param after behind the colon
 * @param column that of the key
 */
function readValue(after: number, column: number): unknown {
  const slot = mark(start);
  const at = pastSpaces(after);
  // The end of the line means the same as a comment.
  const c = at < eol ? text.charCodeAt(at) : HASH;
  if (c !== HASH) {
    if (c === TAB || isItemAt(at)) throw LEAVE;
    return readScalarAt(at, column, slot);
  }
  nextLine();
  if (indent > column) return readBlock(indent, column, slot);
  // A sequence may stand at the same column as the key it belongs to.
  return indent === column && isItemAt(start) ? readCollection(SEQUENCE, column, -1) : null;
}

/**
 * Where the key that begins at `at` ends (its colon), or -1 when there is no key.
 * Quoted keys are recognised only on one line.
 */
function keyEnd(at: number): number {
  const first = text.charCodeAt(at);
  if (first === DOUBLE || first === SINGLE) return quotedKeyEnd(at, first);
  const colon = next(KEY_COLON, at);
  return colon < eol && colon - at <= MAX_KEY && next(COMMENT, at + 1) > colon ? colon : -1;
}

/** Where a quoted key ends (its colon), or -1. */
function quotedKeyEnd(at: number, quote: number): number {
  const close = closingQuote(at, quote);
  if (close < 0 || close - at > MAX_KEY) return -1;
  return text.charCodeAt(close + 1) === COLON && isBlankAt(close + 2) ? close + 1 : -1;
}

/**
 * Keys that were read before, by their hash. Catalogs repeat a few hundred of them, and
 * a key that the engine knows already is looked up faster than a piece of the text.
 */
const KEY_SLOTS = 1 << 12;
const knownKeys: string[] = new Array<string>(KEY_SLOTS).fill('\n');
const LONGEST_KNOWN_KEY = 64;

/** The text of a key. Documents repeat a few keys, which are found again without being cut out. */
function readKey(at: number, colon: number): string {
  const length = colon - at;
  // Length and three characters tell most keys apart.
  const middle = text.charCodeAt(at + (length >> 1));
  const hash = (length << 7) ^ (text.charCodeAt(at) << 4) ^ (middle << 2) ^ text.charCodeAt(colon - 1);
  const slot = hash & (KEY_SLOTS - 1);
  const known = knownKeys[slot]!;
  if (known.length === length && text.startsWith(known, at)) return known;
  const key = newKey(at, colon);
  // A property's name is a copy, where a piece of the text would keep all of it in memory.
  if (key.length === length && length <= LONGEST_KNOWN_KEY) knownKeys[slot] = Object.keys({ [key]: 0 })[0]!;
  return key;
}

/** The text of a key that was not read before. */
function newKey(at: number, colon: number): string {
  const first = text.charCodeAt(at);
  if (first === SINGLE) return checkedKey(singleText(text.slice(at + 1, colon - 1)));
  if (first === DOUBLE) return checkedKey(doubleText(text.slice(at + 1, colon - 1)));
  if (!isPlainAt(at)) throw LEAVE;
  let stop = colon;
  while (text.charCodeAt(stop - 1) === SPACE) stop--;
  const key = text.slice(at, stop);
  // Merge keys, and keys that mean something else than their text, are for the full reader.
  if (key === '<<' || key.includes('\t') || resolvePlain(key) !== key) throw LEAVE;
  return checkedKey(key);
}

/**
 * JavaScript puts integer-like keys first, which would shift the marks, and takes
 * `__proto__` for something else than a key.
 */
function checkedKey(key: string): string {
  const c = key.charCodeAt(0);
  if ((c >= 48 && c <= 57 && /^[0-9]+$/.test(key)) || key === '__proto__') throw LEAVE;
  return key;
}

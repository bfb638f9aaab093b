/**
 * The text that the fast reader reads, and where in it the reader stands.
 *
 * The state is that of the one document being read: reading is synchronous and never
 * re-entered, and a reader object with fields would cost a fifth of the speed.
 */

import type { TextPiece } from '../source.ts';

const LF = 10;
const SPACE = 32;
const TAB = 9;
const HASH = 35;
const DASH = 45;
const DOT = 46;

/** Thrown, without a stack, to leave the subset that the fast reader reads. */
export const LEAVE: unique symbol = Symbol('outside the subset');

/** The whole text, and where what is read of it ends: behind a line break. */
export let text = '';
export let end = 0;
/** Whether the document ends before the next separator; otherwise at `end`, and no separator may come before it. */
let endsAtSeparator = false;
/**
 * The document alone, which begins at `base` of the text: for searches, which must not
 * run on into what follows it. Single characters are read faster from the whole text.
 */
let body = '';
let base = 0;
/** Whether the last line was written without a break of its own. */
export let unended = false;
/** Number of the line that begins at `bol`. */
let line = 0;
let bol = 0;
/** First character of the line that is not a space, and the line's end. */
export let start = 0;
export let eol = 0;
/** Column (0-based) of `start`; -1 when the document is used up. */
export let indent = -1;

const MOST_KEPT_MARKS = 1 << 16;
let marks = new Int32Array(MOST_KEPT_MARKS);
let marked = 0;

/**
 * Characters that YAML forbids or that need the full reader's care: control characters
 * and carriage returns, NEL, line and paragraph separators, a byte-order mark.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
export const UNUSUAL: RegExp = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/;

/** Whether a text ends with a line break and holds no character outside the subset. */
export function isUsualText({ text: source, isPlain }: TextPiece): boolean {
  return source.endsWith('\n') && (isPlain || !UNUSUAL.test(source));
}

/** Begins a document; false when it is empty or holds characters outside the subset. */
export function openText(source: string, from: number, to: number, firstLine: number): boolean {
  body = source.slice(from, to);
  if (body === '') return false;
  unended = body.charCodeAt(body.length - 1) !== LF;
  if (unended) body += '\n';
  if (UNUSUAL.test(body)) return false;
  text = unended ? body : source;
  base = unended ? 0 : from;
  end = base + body.length;
  endsAtSeparator = false;
  foundAt.fill(-1);
  open(base, firstLine);
  return true;
}

/** Begins a document that ends before the next separator of a usual text, or with the text. */
export function openUsualText(source: string, from: number, firstLine: number): void {
  // What was found behind one document is good for the next.
  if (source !== body) foundAt.fill(-1);
  text = body = source;
  base = 0;
  end = source.length;
  unended = false;
  endsAtSeparator = true;
  open(from, firstLine);
}

function open(from: number, firstLine: number): void {
  line = firstLine - 1;
  eol = from - 1;
  marked = 0;
}

/** Lets go of the text and of the memory that an unusually large document took. */
export function closeText(): void {
  text = body = '';
  if (marks.length > MOST_KEPT_MARKS) marks = new Int32Array(MOST_KEPT_MARKS);
}

/** Where a document ended that was used up, and on which line. */
export function documentEnd(): { readonly to: number; readonly line: number } {
  return { to: eol + 1, line };
}

/** Moves to the next line that holds more than white space or a comment. */
export function nextLine(): void {
  const source = text;
  let at = eol + 1;
  for (;;) {
    line++;
    if (at >= end) {
      eol = end - 1;
      indent = -1;
      return;
    }
    const from = at;
    let c = source.charCodeAt(at);
    while (c === SPACE) c = source.charCodeAt(++at);
    if (c === TAB) throw LEAVE;
    if (c === LF) {
      at++;
      continue;
    }
    if (at === from && (c === DOT || c === DASH) && isMarker(at)) {
      // Where the end of the document is known, no separator may stand before it; dots are never in the subset.
      if (!endsAtSeparator || c === DOT) throw LEAVE;
      eol = at - 1;
      indent = -1;
      return;
    }
    eol = source.indexOf('\n', at);
    if (c === HASH) {
      at = eol + 1;
      continue;
    }
    bol = from;
    start = at;
    indent = at - from;
    return;
  }
}

/** Moves to a line whose start and first significant character are known. */
export function enterLine(begin: number, first: number): void {
  line++;
  bol = begin;
  start = first;
  eol = text.indexOf('\n', first);
}

/** Skips lines that were already read, up to `to`. */
export function passLines(count: number, to: number): void {
  line += count;
  eol = to;
}

/** Takes what begins inside a line for what begins it: `- ` stands before it. */
export function startInside(at: number): void {
  start = at;
  indent = at - bol;
}

/** Whether a document marker begins the line; documents are split at those before they come here. */
export function isMarker(at: number): boolean {
  return text.startsWith('...', at) || text.startsWith('---', at);
}

/** Whether white space or the line's end stands at `at`. */
export function isBlankAt(at: number): boolean {
  return at >= eol || text.charCodeAt(at) === SPACE;
}

/** Notes where a node stands, and returns the slot in which it is noted. */
export function mark(at: number): number {
  const slot = marked;
  if (slot + 2 > marks.length) growMarks();
  marks[slot] = line;
  marks[slot + 1] = at - bol + 1;
  marked = slot + 2;
  return slot;
}

function growMarks(): void {
  const grown = new Int32Array(2 * marks.length);
  grown.set(marks);
  marks = grown;
}

/** Notes another place for a node. */
export function remark(slot: number, at: number): void {
  marks[slot] = line;
  marks[slot + 1] = at - bol + 1;
}

export function takeMarks(): Int32Array {
  return marks.slice(0, marked);
}

/**
 * Characters that are looked for by the engine's own search, faster than any loop. Where
 * each was found is kept, with the place from which it was looked for: so each is found
 * once, however many lines ask for it.
 */
const SOUGHT = [':', '#', '\t', "'", '"'] as const;
/** A colon before white space, and a `#` behind a space: the others mean nothing. */
export const KEY_COLON = 0;
export const COMMENT = 1;
export const ANY_TAB = 2;
export const ANY_SINGLE = 3;
export const ANY_DOUBLE = 4;
const askedFrom = new Int32Array(SOUGHT.length);
const foundAt = new Int32Array(SOUGHT.length);

/** Where one of the sought characters first stands at or behind `from`; `end` if nowhere. */
export function next(sought: number, from: number): number {
  const found = foundAt[sought]!;
  return from <= found && from >= askedFrom[sought]! ? found : seek(sought, from);
}

/** Looks for a character, and keeps where it was found and from where it was looked for. */
function seek(sought: number, from: number): number {
  const character = SOUGHT[sought]!;
  let at = body.indexOf(character, from - base);
  while (at >= 0 && !isMeant(sought, base + at)) at = body.indexOf(character, at + 1);
  const found = at < 0 ? end : base + at;
  askedFrom[sought] = from;
  foundAt[sought] = found;
  return found;
}

/** Whether a character at a place is what was sought. */
function isMeant(sought: number, at: number): boolean {
  if (sought === COMMENT) return text.charCodeAt(at - 1) === SPACE;
  if (sought !== KEY_COLON) return true;
  const c = text.charCodeAt(at + 1);
  return c === SPACE || c === LF;
}

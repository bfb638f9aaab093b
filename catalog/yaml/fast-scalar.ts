/**
 * The scalars that the fast reader reads. Each function begins where the scalar does
 * and leaves the reader on the line after it. `parent` is the column of the enclosing
 * block collection: lines of the scalar are indented deeper.
 */
import { unescapeText } from './escape.ts';
import {
  ANY_DOUBLE,
  ANY_SINGLE,
  ANY_TAB,
  COMMENT,
  end,
  enterLine,
  eol,
  isMarker,
  KEY_COLON,
  LEAVE,
  next,
  nextLine,
  passLines,
  start,
  text,
  unended,
} from './fast-text.ts';
import { resolvePlain } from './scalar.ts';

const LF = 10;
const SPACE = 32;
const TAB = 9;
const HASH = 35;
const PLUS = 43;
const DASH = 45;
const DOT = 46;
const DOUBLE = 34;
const SINGLE = 39;
const BACKSLASH = 92;

type ScalarReader = (at: number, parent: number) => unknown;

const PLAIN = 0;
/**
 * Readers are called out of a table, which keeps the engine from copying them into each
 * other when it optimizes them: the copies gain nothing, and making them takes longer
 * than reading a catalog.
 */
const READERS: readonly ScalarReader[] = [
  readPlain,
  readSingle,
  readDouble,
  readBlockScalar,
  readEmptyCollection,
];
/** Which of these reads what begins with a character. */
const KINDS = new Uint8Array(128);
KINDS[SINGLE] = 1;
KINDS[DOUBLE] = 2;
for (const c of '|>') KINDS[c.charCodeAt(0)] = 3;
for (const c of '?:,[]{}#&*!%@`\t') KINDS[c.charCodeAt(0)] = 4;

/**
 * Reads a scalar, or an empty flow collection.
 *
 * @param parent the column of the enclosing block collection: a scalar goes on as long
 *   as its lines are indented deeper
 */
export function readScalar(at: number, parent: number): unknown {
  return READERS[kindAt(at)]!(at, parent);
}

/** Whether no quote and no indicator stands at `at`. */
export function isPlainAt(at: number): boolean {
  return kindAt(at) === PLAIN;
}

function kindAt(at: number): number {
  const c = text.charCodeAt(at);
  return c < 128 ? KINDS[c]! : PLAIN;
}

/** Reads `{}` or `[]`. Other indicators are not in the subset. */
function readEmptyCollection(at: number): unknown {
  const pair = text.slice(at, at + 2);
  if (pair !== '{}' && pair !== '[]') throw LEAVE;
  endLine(at + 2);
  return pair === '{}' ? {} : [];
}

/** What follows a node on its line may only be white space and a comment. */
function endLine(after: number): void {
  let at = after;
  while (at < eol && text.charCodeAt(at) === SPACE) at++;
  if (at < eol && (text.charCodeAt(at) !== HASH || at === after)) throw LEAVE;
  nextLine();
}

/** Reads a plain scalar, with its further lines if it has any. */
function readPlain(at: number, parent: number): unknown {
  const lineEnd = plainEnd(at);
  const first = text.slice(at, trimmedEnd(at, lineEnd));
  // Most values end here: a comment follows, or the next line is not deeper.
  const value = lineEnd === eol && mayGoOn(eol + 1, parent) ? first + readMorePlain(parent) : first;
  nextLine();
  return resolve(value);
}

/** The further lines of a plain scalar. */
function readMorePlain(parent: number): string {
  let value = '';
  let breaks = 0;
  for (let at = eol + 1; at < end; ) {
    let i = at;
    let c = text.charCodeAt(i);
    while (c === SPACE) c = text.charCodeAt(++i);
    if (c === TAB) throw LEAVE;
    if (c === LF) {
      breaks++;
      at = i + 1;
      continue;
    }
    if (i - at <= parent || c === HASH) break;
    if (i === at && isMarker(i)) throw LEAVE;
    passLines(breaks, eol);
    enterLine(at, i);
    const lineEnd = plainEnd(i);
    value += fold(breaks) + text.slice(i, trimmedEnd(i, lineEnd));
    // Behind a comment, no scalar goes on.
    if (lineEnd < eol) break;
    breaks = 0;
    // `enterLine` has moved `eol` to the end of this line.
    at = eol + 1;
  }
  return value;
}

/** Whether the line that begins at `at` may continue a plain scalar of a collection at `parent`. */
function mayGoOn(at: number, parent: number): boolean {
  if (at >= end) return false;
  const source = text;
  let i = at;
  let c = source.charCodeAt(i);
  while (c === SPACE) c = source.charCodeAt(++i);
  if (c === LF || c === TAB) return true;
  return i - at > parent && c !== HASH;
}

/** What a plain scalar means. */
function resolve(plain: string): null | boolean | number | string {
  const value = resolvePlain(plain);
  // JSON has no infinities: the full reader refuses them with a place.
  if (typeof value === 'number' && !Number.isFinite(value)) throw LEAVE;
  return value;
}

/** Where the plain text that begins at `at` ends on this line: at a comment or the line's end. */
function plainEnd(at: number): number {
  const stop = Math.min(next(COMMENT, at + 1) - 1, eol);
  if (next(KEY_COLON, at) < stop || next(ANY_TAB, at) < eol) throw LEAVE;
  return stop;
}

/** Where a text ends without the white space behind it. */
function trimmedEnd(from: number, to: number): number {
  let stop = to;
  while (stop > from && isWhite(text.charCodeAt(stop - 1))) stop--;
  return stop;
}

function isWhite(c: number): boolean {
  return c === SPACE || c === TAB;
}

/** What the break between two lines of text becomes, with blank lines between them. */
function fold(blankLines: number): string {
  return blankLines === 0 ? ' ' : '\n'.repeat(blankLines);
}

/** The quote that closes the one at `at`, if it stands on this line, else -1. */
export function closingQuote(at: number, quote: number): number {
  let close: number;
  if (quote === SINGLE) {
    close = next(ANY_SINGLE, at + 1);
    while (close < eol && text.charCodeAt(close + 1) === SINGLE) close = next(ANY_SINGLE, close + 2);
  } else {
    close = next(ANY_DOUBLE, at + 1);
    while (close < eol && isEscaped(close, at)) close = next(ANY_DOUBLE, close + 1);
  }
  return close < eol ? close : -1;
}

/** Whether an odd number of backslashes stands before `at`, behind `open`. */
function isEscaped(at: number, open: number): boolean {
  let slashes = 0;
  while (at - 1 - slashes > open && text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++;
  return slashes % 2 === 1;
}

export function singleText(raw: string): string {
  return raw.includes("''") ? raw.replaceAll("''", "'") : raw;
}

/** What stands between double quotes, escapes resolved. An escape that means nothing is not in the subset. */
export function doubleText(raw: string): string {
  const value = raw.includes('\\') ? unescapeText(raw) : raw;
  if (value === undefined) throw LEAVE;
  return value;
}

/** Reads a text in single quotes. @param at its opening quote */
function readSingle(at: number): string {
  let value = '';
  let from = at + 1;
  for (;;) {
    const close = closingQuote(from - 1, SINGLE);
    value += singleText(text.slice(from, close < 0 ? trimmedEnd(from, eol) : close));
    if (close >= 0) {
      endLine(close + 1);
      return value;
    }
    value += fold(nextQuotedLine());
    from = start;
  }
}

/** Reads a text in double quotes. @param at its opening quote */
function readDouble(at: number): string {
  let value = '';
  let from = at + 1;
  for (;;) {
    const close = closingQuote(from - 1, DOUBLE);
    const escapedBreak = close < 0 && isEscaped(eol, from - 1);
    const stop = close >= 0 ? close : escapedBreak ? eol - 1 : trimmedEnd(from, eol);
    value += doubleText(text.slice(from, stop));
    if (close >= 0) {
      endLine(close + 1);
      return value;
    }
    const blankLines = nextQuotedLine();
    // After an escaped line break nothing joins the lines but the blank ones between.
    value += escapedBreak ? '\n'.repeat(blankLines) : fold(blankLines);
    from = start;
  }
}

/**
 * Moves the reader (`start`, `eol`) to the next line of a quoted scalar that is not blank; leaves the subset if the text
 * ends before.
 *
 * @returns how many blank lines came before it
 */
function nextQuotedLine(): number {
  let blankLines = 0;
  for (let at = eol + 1; at < end; ) {
    let i = at;
    while (isWhite(text.charCodeAt(i))) i++;
    const c = text.charCodeAt(i);
    if (c !== LF) {
      // It may be a marker, which ends the document within the quotes: the full reader refuses that.
      if (i === at && (c === DASH || c === DOT)) break;
      // Adds the blank lines to the line number; `enterLine` moves `eol`.
      passLines(blankLines, eol);
      enterLine(at, i);
      return blankLines;
    }
    blankLines++;
    at = i + 1;
  }
  throw LEAVE;
}

/** Reads a literal (`|`) or folded (`>`) scalar. */
function readBlockScalar(at: number, parent: number): string {
  const isFolded = text.charCodeAt(at) === 62;
  let chomping = 0;
  let increment = 0;
  let i = at + 1;
  for (; i < eol; i++) {
    const c = text.charCodeAt(i);
    if (c === PLUS || c === DASH) {
      if (chomping !== 0) throw LEAVE;
      chomping = c;
    } else if (c >= 49 && c <= 57) {
      if (increment !== 0) throw LEAVE;
      increment = c - 48;
    } else break;
  }
  while (i < eol && text.charCodeAt(i) === SPACE) i++;
  if (i < eol && (text.charCodeAt(i) !== HASH || text.charCodeAt(i - 1) !== SPACE)) throw LEAVE;
  const { value, breaks } = readBlockLines(
    increment > 0 ? Math.max(parent, 0) + increment : 0,
    parent,
    isFolded,
  );
  // Only block scalars keep the break that a last line may lack.
  if (unended && eol + 1 >= end) throw LEAVE;
  nextLine();
  if (chomping === DASH) return value;
  if (chomping === PLUS) return value + '\n'.repeat(breaks);
  return value === '' ? '' : `${value}\n`;
}

interface BlockText {
  /** The text without the line breaks at its end, which are counted. */
  readonly value: string;
  /** How many there are at the end. */
  readonly breaks: number;
}

/**
 * The lines of a block scalar.
 *
 * @param fixed the indentation when the header gives it, else 0 and the first line decides
 * @param parent the column of the enclosing block collection
 */
function readBlockLines(fixed: number, parent: number, isFolded: boolean): BlockText {
  let width = fixed;
  let value = '';
  /** Line breaks since the last line of text. */
  let breaks = 0;
  // Nothing stands before the first line that it could be joined with.
  let wasIndented = true;
  let deepestBlank = 0;
  for (let at = eol + 1; at < end; at = eol + 1) {
    let i = at;
    while (text.charCodeAt(i) === SPACE && (width === 0 || i - at < width)) i++;
    const c = text.charCodeAt(i);
    if (c === LF) {
      if (width === 0 && i - at > deepestBlank) deepestBlank = i - at;
      breaks++;
      passLines(1, i);
      continue;
    }
    if (width === 0 && i - at > Math.max(parent, 0)) {
      // go-yaml takes a blank line that is deeper for the indentation of the text.
      if (c === TAB || deepestBlank > i - at) throw LEAVE;
      width = i - at;
    }
    if (width === 0 || i - at < width) {
      if (c === TAB) throw LEAVE;
      break;
    }
    if (!isFolded) {
      passLiteralLines(at, width);
      value += '\n'.repeat(breaks) + text.slice(i, eol).replaceAll(`\n${' '.repeat(width)}`, '\n');
    } else {
      passLines(1, text.indexOf('\n', i));
      const isIndented = isWhite(c);
      const joined = !wasIndented && !isIndented;
      value += (joined ? fold(breaks - 1) : '\n'.repeat(breaks)) + text.slice(i, eol);
      wasIndented = isIndented;
    }
    breaks = 1;
  }
  return { value, breaks };
}

/**
 * Passes the lines of a literal scalar from the one at `from` on, as long as they are
 * indented enough or empty, up to the last of them that is not empty.
 */
function passLiteralLines(from: number, width: number): void {
  const source = text;
  let lines = 0;
  for (let at = from; at < end; ) {
    let i = at;
    while (source.charCodeAt(i) === SPACE && i - at < width) i++;
    const isEmpty = source.charCodeAt(i) === LF;
    if (i - at < width && !(isEmpty && i === at)) return;
    lines++;
    at = source.indexOf('\n', i) + 1;
    if (isEmpty) continue;
    passLines(lines, at - 1);
    lines = 0;
  }
}

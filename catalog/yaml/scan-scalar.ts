/**
 * The scalars of YAML: plain, quoted, literal and folded. Each function begins where
 * the scalar does and leaves the cursor where go-yaml leaves it.
 *
 * @see https://github.com/yaml/go-yaml/blob/v2.4.0/scannerc.go
 */

import { type Cursor, END, isBlank, isBlankOrEnd, isBreak, isBreakOrEnd, isDigit } from './cursor.ts';
import { characterOf, ESCAPES, HEX_DIGITS, isHex } from './escape.ts';

const TAB = 9;
const SPACE = 32;
const DOUBLE = 34;
const HASH = 35;
const PLUS = 43;
const MINUS = 45;
const COLON = 58;
const BACKSLASH = 92;

/** What ends a plain scalar inside a flow collection. */
const FLOW_INDICATOR = new Uint8Array(128);
for (const c of ',?[]{}') FLOW_INDICATOR[c.charCodeAt(0)] = 1;

interface PlainScalar {
  readonly text: string;
  /** Where its last character ends; the cursor may stand behind white space after it. */
  readonly end: number;
  /** Whether that white space holds a line break. */
  readonly brokeLine: boolean;
}

/**
 * Reads a plain scalar.
 *
 * @param least the least indentation of the scalar's further lines in a block collection
 * @param inFlow whether it is in a flow collection, whose `,`, `]` and `}` end it
 */
export function scanPlain(cursor: Cursor, least: number, inFlow: boolean): PlainScalar {
  const { text } = cursor;
  let value = '';
  /** From here to `end` stands what is not in `value` yet, and before it belongs `joint`. */
  let from = cursor.at;
  let end = from;
  let joint = '';
  let brokeLine = false;
  for (;;) {
    if (cursor.peek() === HASH || cursor.atMarker()) break;
    const stop = endOfPlainRun(text, cursor.at, inFlow);
    if (stop > cursor.at) {
      if (brokeLine) {
        value += text.slice(from, end) + joint;
        from = cursor.at;
        brokeLine = false;
      }
      cursor.at = end = stop;
    }
    const c = cursor.peek();
    if (!isBlank(c) && !isBreak(c)) break;
    cursor.skipBlanks();
    if (isBreak(cursor.peek())) {
      joint = passFoldedBreaks(cursor, least);
      brokeLine = true;
    }
    if (!inFlow && cursor.column < least) break;
  }
  return { text: value + text.slice(from, end), end, brokeLine };
}

/**
 * Where a plain scalar stops on its line: at white space, at a colon with white space behind it, or at an indicator of
 * a flow collection.
 */
function endOfPlainRun(text: string, from: number, inFlow: boolean): number {
  for (let at = from; ; at++) {
    const c = text.charCodeAt(at);
    if (c > SPACE && c < 128) {
      if (c === COLON ? isBlankOrEnd(text.charCodeAt(at + 1)) : inFlow && FLOW_INDICATOR[c] === 1) return at;
    } else if (isBlankOrEnd(c)) return at;
  }
}

/**
 * Passes line breaks and the white space behind them.
 *
 * @param least the least indentation of the lines: no tab may stand before it
 * @returns what the breaks turn into inside a scalar
 */
function passFoldedBreaks(cursor: Cursor, least: number): string {
  const first = cursor.passBreak();
  let more = '';
  for (;;) {
    const c = cursor.peek();
    if (isBreak(c)) more += cursor.passBreak();
    else if (c === TAB && cursor.column < least) {
      cursor.fail('found a tab character that violates indentation', ': indent with spaces');
    } else if (isBlank(c)) cursor.at++;
    else break;
  }
  // U+2028 and U+2029 are never folded.
  if (first !== '\n') return first + more;
  return more === '' ? ' ' : more;
}

/** Reads a quoted scalar. @returns the text between the quotes, lines folded and escapes resolved */
export function scanQuoted(cursor: Cursor): string {
  const start = cursor.at;
  const quote = cursor.peek();
  let value = '';
  cursor.at++;
  for (;;) {
    if (cursor.atMarker()) {
      cursor.fail('found unexpected document indicator', ' in the quoted text that begins here', start);
    }
    if (cursor.peek() === END) {
      cursor.fail('found unexpected end of stream', ': the quote that opens here is never closed', start);
    }
    value += quote === DOUBLE ? passDoubleQuoted(cursor) : passSingleQuoted(cursor, quote);
    const c = cursor.peek();
    if (c === quote) break;
    if (isBreak(c)) value += passFoldedBreaks(cursor, 0);
  }
  cursor.at++;
  return value;
}

/** Passes single-quoted text up to the closing quote or the line's end. */
function passSingleQuoted(cursor: Cursor, quote: number): string {
  const { text } = cursor;
  let value = '';
  let from = cursor.at;
  for (; ; cursor.at++) {
    const c = cursor.peek();
    if (isBreakOrEnd(c)) return value + trimmedSlice(text, from, cursor.at);
    if (c !== quote) continue;
    if (cursor.peek(1) !== quote) return value + text.slice(from, cursor.at);
    cursor.at++;
    value += text.slice(from, cursor.at);
    from = cursor.at + 1;
  }
}

/** Passes double-quoted text up to the closing quote, the line's end, or the line behind an escaped end. */
function passDoubleQuoted(cursor: Cursor): string {
  const { text } = cursor;
  let value = '';
  let from = cursor.at;
  for (;;) {
    const c = cursor.peek();
    if (isBreakOrEnd(c)) return value + trimmedSlice(text, from, cursor.at);
    if (c === DOUBLE) return value + text.slice(from, cursor.at);
    if (c !== BACKSLASH) {
      cursor.at++;
      continue;
    }
    value += text.slice(from, cursor.at);
    if (isBreak(cursor.peek(1))) return value + passEscapedBreak(cursor);
    value += passEscape(cursor);
    from = cursor.at;
  }
}

/** A part of the text without the white space at its end. */
function trimmedSlice(text: string, from: number, to: number): string {
  let end = to;
  while (end > from && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(from, end);
}

/** After an escaped line break nothing joins the lines but the breaks of blank lines between them. */
function passEscapedBreak(cursor: Cursor): string {
  let breaks = '';
  cursor.at++;
  cursor.passBreak();
  for (;;) {
    if (isBreak(cursor.peek())) breaks += cursor.passBreak();
    else if (isBlank(cursor.peek())) cursor.at++;
    else return breaks;
  }
}

/** Passes an escape, and returns the character that it stands for. */
function passEscape(cursor: Cursor): string {
  const letter = String.fromCharCode(cursor.peek(1));
  const digits = HEX_DIGITS.get(letter);
  if (digits !== undefined) return passHexEscape(cursor, digits);
  const meaning = ESCAPES.get(letter);
  if (meaning === undefined) {
    const written = JSON.stringify(letter === '\0' ? '\\' : `\\${letter}`);
    cursor.fail('found unknown escape character', `: ${written} means nothing in YAML 1.1`);
  }
  cursor.at += 2;
  return meaning;
}

/** The character of a hexadecimal escape; passes it. */
function passHexEscape(cursor: Cursor, digits: number): string {
  cursor.at += 2;
  const hex = cursor.text.slice(cursor.at, cursor.at + digits);
  if (!isHex(hex, digits)) {
    cursor.fail('did not find expected hexdecimal number', ` of ${digits} digits`);
  }
  const character = characterOf(hex);
  if (character === undefined) {
    cursor.fail('found invalid Unicode character escape code', `: U+${hex} is not a valid character`);
  }
  cursor.at += digits;
  return character;
}

/** What becomes of the line breaks at the end of a block scalar. */
type Chomping = 'clip' | 'strip' | 'keep';

/**
 * Reads a literal (`|`) or folded (`>`) scalar.
 *
 * @param parent the column of the enclosing block collection, -1 at the root
 */
export function scanBlock(cursor: Cursor, parent: number): string {
  const start = cursor.at;
  const folded = cursor.peek() === 62; /* > */
  cursor.at++;
  const { chomping, increment } = passHeader(cursor, start);
  const fixed = increment === 0 ? 0 : Math.max(parent, 0) + increment;
  const first = passFirstLines(cursor, fixed, parent + 1);
  const { indent } = first;
  let { breaks } = first;
  let value = '';
  let lineBreak = '';
  let wasBlank = false;
  while (cursor.column === indent && cursor.peek() !== END) {
    const blank = isBlank(cursor.peek());
    if (folded && lineBreak === '\n' && !wasBlank && !blank) value += breaks === '' ? ' ' : breaks;
    else value += lineBreak + breaks;
    wasBlank = blank;
    value += passLine(cursor);
    lineBreak = isBreak(cursor.peek()) ? cursor.passBreak() : '';
    breaks = passBlankLines(cursor, indent);
  }
  if (chomping === 'strip') return value;
  return chomping === 'keep' ? value + lineBreak + breaks : value + lineBreak;
}

/** Passes the rest of the line on which a block scalar is announced. */
function passHeader(cursor: Cursor, start: number): { chomping: Chomping; increment: number } {
  let chomping = passChomping(cursor);
  const increment = passIncrement(cursor, start);
  if (chomping === undefined && increment > 0) chomping = passChomping(cursor);
  cursor.skipBlanks();
  cursor.skipComment();
  if (!isBreakOrEnd(cursor.peek())) {
    cursor.fail(
      'did not find expected comment or line break',
      ': the text of a block scalar begins on the next line',
    );
  }
  if (isBreak(cursor.peek())) cursor.passBreak();
  return { chomping: chomping ?? 'clip', increment };
}

/** Passes the sign that says what becomes of the line breaks at the end; undefined if there is none. */
function passChomping(cursor: Cursor): Chomping | undefined {
  const c = cursor.peek();
  if (c !== PLUS && c !== MINUS) return undefined;
  cursor.at++;
  return c === PLUS ? 'keep' : 'strip';
}

/** Passes the digit that says how deep the text is indented; 0 if there is none. */
function passIncrement(cursor: Cursor, start: number): number {
  const c = cursor.peek();
  if (!isDigit(c)) return 0;
  if (c === 48) cursor.fail('found an indentation indicator equal to 0', '', start);
  cursor.at++;
  return c - 48;
}

/** Passes the rest of the line. */
function passLine(cursor: Cursor): string {
  const from = cursor.at;
  while (!isBreakOrEnd(cursor.peek())) cursor.at++;
  return cursor.text.slice(from, cursor.at);
}

const TAB_IN_BLOCK = 'found a tab character where an indentation space is expected';

/**
 * Passes blank lines and the indentation of the first line with text; unless the
 * header fixed it, the deepest of them all sets the indentation of the scalar.
 *
 * @param fixed the indentation by the header, or 0
 * @param least the least indentation otherwise
 */
function passFirstLines(cursor: Cursor, fixed: number, least: number): { indent: number; breaks: string } {
  if (fixed > 0) return { indent: fixed, breaks: passBlankLines(cursor, fixed) };
  let breaks = '';
  let deepest = 0;
  for (;;) {
    while (cursor.peek() === SPACE) cursor.at++;
    deepest = Math.max(deepest, cursor.column);
    const c = cursor.peek();
    if (c === TAB) cursor.fail(TAB_IN_BLOCK, '');
    if (!isBreak(c)) return { indent: Math.max(deepest, least, 1), breaks };
    breaks += cursor.passBreak();
  }
}

/** Passes blank lines and the indentation behind them; returns the blank lines' breaks. */
function passBlankLines(cursor: Cursor, indent: number): string {
  let breaks = '';
  for (;;) {
    while (cursor.column < indent && cursor.peek() === SPACE) cursor.at++;
    const c = cursor.peek();
    if (c === TAB && cursor.column < indent) cursor.fail(TAB_IN_BLOCK, '');
    if (!isBreak(c)) return breaks;
    breaks += cursor.passBreak();
  }
}

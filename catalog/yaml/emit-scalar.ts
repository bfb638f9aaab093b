/**
 * Strings as go-yaml v2 writes them: which of plain, quoted and literal it chooses, and
 * where it folds lines.
 *
 * @see https://github.com/yaml/go-yaml/blob/v2.4.0/emitterc.go
 */
import { formatG, isPlainString } from './scalar.ts';

/** Text is folded at the first space behind this column. */
const WIDTH = 80;
/** Longest key, in bytes of UTF-8, that is written without a question mark. */
const MAX_SIMPLE_KEY = 128;

const SPACE = 32;

/** Where a scalar is written. */
export interface Room {
  /** 0-based column at which it begins. */
  readonly column: number;
  /** Column at which its further lines begin. */
  readonly indent: number;
  /** Whether it must stay on its line, as a key before its colon must. */
  readonly oneLine: boolean;
}

/** What YAML would read otherwise without quotes: indicators, spaces at the edges, line breaks. */
const NEEDS_QUOTES = /: |:$| #|^[ #,[\]{}&*!|>'"%@`]|^[-?](?: |$)|^---|^\.\.\.| $|[\n\u2028\u2029]/;
/** The same, or a character beyond ASCII: text in which this is not found is written as it is. */
const UNUSUAL = /: |:$| #|^[ #,[\]{}&*!|>'"%@`]|^[-?](?: |$)|^---|^\.\.\.| $|[^ -~]/;
/** Characters that go-yaml escapes, among them all that UTF-16 needs two units for. */
const NOT_PRINTABLE = /[^\n -~\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd]/;
const SPACE_BEFORE_BREAK = / [\n\u2028\u2029]/;
const SPACE_AFTER_BREAK = /[\n\u2028\u2029] /;

/**
 * Writes a string as go-yaml does.
 *
 * @returns the text of a string as a scalar of YAML, its first line without indentation
 * @throws Refusal
 */
export function writeString(string: string, room: Room): string {
  if (!UNUSUAL.test(string)) return plain(string, room);
  const text = NOT_PRINTABLE.test(string) ? readString(string) : string;
  if (NOT_PRINTABLE.test(text) || SPACE_BEFORE_BREAK.test(text)) return doubleQuoted(text, room);
  // To go-yaml, a literal cannot end with a space.
  if (text.includes('\n')) return text.endsWith(' ') ? doubleQuoted(text, room) : literal(text, room);
  if (!NEEDS_QUOTES.test(text)) return plain(text, room);
  return SPACE_AFTER_BREAK.test(text) || !isPlainString(text)
    ? doubleQuoted(text, room)
    : singleQuoted(text, room);
}

/** Whether a text can be a key without `?`: short, and on one line. */
export function isSimpleKey(text: string): boolean {
  if (text.length > MAX_SIMPLE_KEY || /[\n\r\x85\u2028\u2029]/.test(text)) return false;
  // No unit of UTF-16 takes more than three bytes.
  return 3 * text.length <= MAX_SIMPLE_KEY || utf8Length(text) <= MAX_SIMPLE_KEY;
}

/** How many bytes a text has in UTF-8. */
function utf8Length(text: string): number {
  let length = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    // Either half of a surrogate pair is two of its four bytes.
    length += c < 0x80 ? 1 : c < 0x800 || (c >= 0xd800 && c <= 0xdfff) ? 2 : 3;
  }
  return length;
}

/** Quotes only what would read back as something else than a string. */
function plain(text: string, room: Room): string {
  return isPlainString(text) ? fold(text, room, room.column) : doubleQuoted(text, room);
}

/** Breaks lines at single spaces behind column 80, but not at the first or last character. */
function fold(text: string, room: Room, column: number): string {
  if (room.oneLine || column + text.length <= WIDTH) return text;
  const newLine = `\n${' '.repeat(room.indent)}`;
  const last = text.length - 1;
  let folded = '';
  let from = 0;
  let at = text.indexOf(' ', Math.max(1, WIDTH + 1 - column));
  while (at >= 0 && at < last) {
    if (text.charCodeAt(at - 1) === SPACE || text.charCodeAt(at + 1) === SPACE) {
      at = text.indexOf(' ', at + 1);
      continue;
    }
    folded += text.slice(from, at) + newLine;
    from = at + 1;
    at = text.indexOf(' ', from + Math.max(0, WIDTH + 1 - room.indent));
  }
  return folded + text.slice(from);
}

/** Breaks inside are U+2028 and U+2029, which end a line without a line feed. */
function singleQuoted(text: string, room: Room): string {
  const inner = text.replaceAll("'", "''");
  const pieces = inner.split(/(?<=[\u2028\u2029])(?![\u2028\u2029])/);
  const pad = ' '.repeat(room.indent);
  const lines = pieces.map((piece, i) => fold(piece, room, i === 0 ? room.column + 1 : room.indent));
  return `'${lines.map((line, i) => (i === 0 || line === '' ? line : pad + line)).join('')}'`;
}

/** A text as a literal scalar. White space at its beginning needs the indentation in the header, which is always 2. */
function literal(text: string, room: Room): string {
  const pad = ' '.repeat(room.indent);
  const header = `|${/^[ \n\u2028\u2029]/.test(text) ? '2' : ''}${chomping(text)}\n`;
  return header + (isBreak(text.charCodeAt(0)) ? '' : pad) + indentLines(text, pad);
}

/** Indents each line but the first, and no blank line. */
function indentLines(text: string, pad: string): string {
  if (/[\u2028\u2029]/.test(text))
    return text.replaceAll(/([\n\u2028\u2029])(?![\n\u2028\u2029]|$)/g, `$1${pad}`);
  let end = text.length;
  while (text.charCodeAt(end - 1) === 10) end--;
  const lines = text.slice(0, end).replaceAll('\n', `\n${pad}`);
  // No line ends with a space, so what is left of blank lines is unmistakable.
  return (text.includes('\n\n') ? lines.replaceAll(`${pad}\n`, '\n') : lines) + text.slice(end);
}

function isBreak(c: number): boolean {
  return c === 10 || c === 0x2028 || c === 0x2029;
}

/** The sign in the header that says how a literal scalar ends: without a line end, with one, or with several. */
function chomping(text: string): string {
  if (!isBreak(text.charCodeAt(text.length - 1))) return '-';
  return text.length === 1 || isBreak(text.charCodeAt(text.length - 2)) ? '+' : '';
}

const SHORT_ESCAPES: ReadonlyMap<number, string> = new Map([
  [0, '\\0'],
  [7, '\\a'],
  [8, '\\b'],
  [9, '\\t'],
  [10, '\\n'],
  [11, '\\v'],
  [12, '\\f'],
  [13, '\\r'],
  [27, '\\e'],
  [34, '\\"'],
  [92, '\\\\'],
  [0x85, '\\N'],
  [0xa0, '\\_'],
  [0x2028, '\\L'],
  [0x2029, '\\P'],
]);

/** The escape of a character, the shortest that go-yaml has for it. */
function escapeCode(code: number): string {
  const short = SHORT_ESCAPES.get(code);
  if (short !== undefined) return short;
  const hex = code.toString(16).toUpperCase();
  if (code <= 0xff) return `\\x${hex.padStart(2, '0')}`;
  return code <= 0xffff ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
}

/** Whether go-yaml writes a character as it is between double quotes. */
function isWrittenRaw(c: number): boolean {
  if (c < 127) return c > 31 && c !== 34 && c !== 92;
  if (c < 0xd800) return c >= 0xa0 && c !== 0x2028 && c !== 0x2029;
  return c > 0xdfff && c < 0xfffe && c !== 0xfeff;
}

/** A text in double quotes, folded behind column 80 as go-yaml does. */
function doubleQuoted(text: string, room: Room): string {
  // go-yaml takes every character for a byte-order mark if the text begins with one.
  const escapeAll = text.charCodeAt(0) === 0xfeff;
  const newLine = `\n${' '.repeat(room.indent)}`;
  let written = '"';
  let column = room.column + 1;
  /** Beginning of what is not in `written` yet. */
  let from = 0;
  let afterSpace = false;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === SPACE && !escapeAll) {
      if (!room.oneLine && !afterSpace && column > WIDTH && i > 0 && i < text.length - 1) {
        written += text.slice(from, i) + newLine;
        column = room.indent;
        if (text.charCodeAt(i + 1) === SPACE) {
          written += '\\';
          column++;
        }
        from = i + 1;
      } else column++;
      afterSpace = true;
      continue;
    }
    afterSpace = false;
    if (!escapeAll && isWrittenRaw(c)) {
      column++;
      continue;
    }
    const code = text.codePointAt(i) ?? 0;
    const escaped = escapeCode(code);
    written += text.slice(from, i) + escaped;
    column += escaped.length;
    if (code > 0xffff) i++;
    from = i + 1;
  }
  return `${written}${text.slice(from)}"`;
}

// What becomes of JSON when go-yaml reads it as YAML, which is how Go's tools turn
// JSON into YAML: characters that it refuses, a line break that JSON does not know,
// numbers that change their type.

/** Why a string, key or number cannot be written as YAML. */
export class Refusal extends Error {}

/** What go-yaml's reader refuses and JSON does not escape. */
const FORBIDDEN = /[\x7f-\x84\x86-\x9f\ufffe\uffff]/;
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/**
 * The string that go-yaml finds in JSON's quotes: U+0085 is a line break there, which
 * is folded, and the spaces around it are lost.
 *
 * @throws Refusal
 */
function readString(text: string): string {
  const forbidden = FORBIDDEN.exec(text);
  if (forbidden) {
    const code = forbidden[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
    throw new Refusal(`control characters are not allowed: found U+${code}`);
  }
  const wellFormed = text.replaceAll(LONE_SURROGATE, '\ufffd');
  if (!wellFormed.includes('\x85')) return wellFormed;
  if (/\x85(?:---|\.\.\.)[ \x85]/.test(wellFormed)) {
    throw new Refusal('found unexpected document indicator: --- or ... behind the line break U+0085');
  }
  return wellFormed.replaceAll(/(?<! ) *\x85[ \x85]*/g, (found) => {
    const breaks = found.split('\x85').length - 1;
    return breaks === 1 ? ' ' : '\n'.repeat(breaks - 1);
  });
}

/** go-yaml looks for the colon of a key no further than this, in characters of the JSON text. */
const MAX_KEY = 1024;
/** What Go's JSON writes with six characters, and with two. */
const SIX = /[\p{Cc}<>&\u2028\u2029]/gu;
const TWO = /["\\\b\f\n\r\t]/g;

/**
 * Refuses a key in whose JSON go-yaml does not find the colon. It counts characters instead of writing the JSON, and takes no
 * more of the key than can fit, two UTF-16 units a character.
 *
 * @throws Refusal
 */
export function checkKey(key: string): void {
  if (key.includes('\x85')) throw new Refusal('a key must not hold the line break U+0085');
  const json = key
    .slice(0, 2 * MAX_KEY)
    .replaceAll(TWO, '--')
    .replaceAll(SIX, '------');
  if ([...json].length + 2 > MAX_KEY) {
    throw new Refusal(`a key of more than ${MAX_KEY} characters in JSON, its quotes and escapes counted`);
  }
}

const MAX_UINT64 = 2n ** 64n - 1n;
const MIN_INT64 = -(2n ** 63n);

/**
 * Writes a number as Go does.
 *
 * @returns an integer as its digits while 64 bits hold them, other numbers in Go's `g` format
 * @throws Refusal
 */
export function writeNumber(value: number): string {
  if (!Number.isFinite(value)) throw new Refusal(`${value} is not a valid JSON number`);
  // Go reads -0 as the integer 0.
  if (Number.isSafeInteger(value)) return String(value === 0 ? 0 : value);
  // JSON writes integers below 10^21 as digits.
  if (!Number.isInteger(value) || Math.abs(value) >= 1e21) return formatG(value);
  const digits = String(value);
  const integer = BigInt(digits);
  return integer < MIN_INT64 || integer > MAX_UINT64 ? formatG(value) : digits;
}

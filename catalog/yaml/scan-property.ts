/**
 * What may stand before a node or a document: anchors and aliases, tags, directives.
 *
 * @see https://github.com/yaml/go-yaml/blob/v2.4.0/scannerc.go
 */
import { type Cursor, isBlank, isBlankOrEnd, isBreak, isBreakOrEnd, isDigit, isWord } from './cursor.ts';

const BANG = 33;
const PERCENT = 37;

/** What may follow an anchor or alias besides white space. */
const AFTER_NAME = new Set([...'?:,]}%@`'].map((c) => c.charCodeAt(0)));

/** Reads the name behind `&` or `*`. */
export function scanAnchor(cursor: Cursor): string {
  cursor.at++;
  const name = passWord(cursor);
  if (name === '' || !(isBlankOrEnd(cursor.peek()) || AFTER_NAME.has(cursor.peek()))) {
    cursor.fail(
      'did not find expected alphabetic or numeric character',
      ': names of anchors are made of letters, digits, - and _',
    );
  }
  return name;
}

/** Passes letters, digits, `_` and `-`. */
function passWord(cursor: Cursor): string {
  const from = cursor.at;
  while (isWord(cursor.peek())) cursor.at++;
  return cursor.text.slice(from, cursor.at);
}

export interface Tag {
  /** What a %TAG directive or the defaults give a prefix for; empty when `suffix` is the whole tag. */
  readonly handle: string;
  readonly suffix: string;
}

/** Reads `!`, `!suffix`, `!!suffix`, `!handle!suffix` or `!<tag>`. */
export function scanTag(cursor: Cursor): Tag {
  const tag = cursor.peek(1) === 60 /* < */ ? passVerbatim(cursor) : passShorthand(cursor);
  if (!isBlankOrEnd(cursor.peek())) {
    cursor.fail(
      'did not find expected whitespace or line break',
      ' behind a tag: text that begins with ! needs quotes',
    );
  }
  return tag;
}

/** Passes `!<tag>`. */
function passVerbatim(cursor: Cursor): Tag {
  cursor.at += 2;
  const suffix = passUri(cursor, '');
  if (cursor.peek() !== 62 /* > */) cursor.fail("did not find the expected '>'", ' at the end of a tag');
  cursor.at++;
  return { handle: '', suffix };
}

/** Passes a tag that is not in angle brackets. A word behind the first `!` is a handle only if another `!` ends it. */
function passShorthand(cursor: Cursor): Tag {
  const handle = passHandle(cursor);
  if (handle.length > 1 && handle.endsWith('!')) return { handle, suffix: passUri(cursor, '') };
  // It was no handle, so it is the beginning of the suffix. A lone `!` is a whole tag.
  const suffix = passUri(cursor, handle);
  return suffix === '' ? { handle: '', suffix: '!' } : { handle: '!', suffix };
}

/** Passes `!`, `!word` or `!word!`. */
function passHandle(cursor: Cursor): string {
  const from = cursor.at;
  if (cursor.peek() !== BANG) cursor.fail("did not find expected '!'", ' of a tag handle');
  cursor.at++;
  passWord(cursor);
  if (cursor.peek() === BANG) cursor.at++;
  return cursor.text.slice(from, cursor.at);
}

const URI = new Uint8Array(128);
for (const c of ";/?:@&=+$,.!~*'()[]%") URI[c.charCodeAt(0)] = 1;

/** Passes the rest of a tag. @param head what was read of the tag already, with its `!` */
function passUri(cursor: Cursor, head: string): string {
  const from = cursor.at;
  let uri = head.slice(1);
  for (;;) {
    const c = cursor.peek();
    if (c === PERCENT) uri += passUriEscape(cursor);
    else if (isWord(c) || (c < 128 && URI[c] === 1)) {
      uri += String.fromCharCode(c);
      cursor.at++;
    } else break;
  }
  if (head === '' && cursor.at === from) cursor.fail('did not find expected tag URI', '');
  return uri;
}

/** Passes the `%XX` of one character; each octet becomes one unit, for tags are compared, never shown. */
function passUriEscape(cursor: Cursor): string {
  let octets = '';
  let width = 1;
  for (let i = 0; i < width; i++) {
    const octet = uriOctet(cursor);
    if (i === 0) {
      width = widthOfUtf8(octet);
      if (width === 0) cursor.fail('found an incorrect leading UTF-8 octet', ' in a tag');
    } else if ((octet & 0xc0) !== 0x80) {
      cursor.fail('found an incorrect trailing UTF-8 octet', ' in a tag');
    }
    octets += String.fromCharCode(octet);
    cursor.at += 3;
  }
  return octets;
}

/** The octet of the `%XX` at the cursor. */
function uriOctet(cursor: Cursor): number {
  const written = cursor.text.slice(cursor.at, cursor.at + 3);
  if (!/^%[0-9a-fA-F]{2}$/.test(written)) cursor.fail('did not find URI escaped octet', ' in a tag');
  return Number.parseInt(written.slice(1), 16);
}

/** Octets of the UTF-8 sequence that `first` begins; 0 when it begins none. */
function widthOfUtf8(first: number): number {
  if (first < 0x80) return 1;
  if ((first & 0xe0) === 0xc0) return 2;
  if ((first & 0xf0) === 0xe0) return 3;
  return (first & 0xf8) === 0xf0 ? 4 : 0;
}

export type Directive =
  | { readonly kind: 'version'; readonly major: number; readonly minor: number }
  | { readonly kind: 'tag'; readonly handle: string; readonly prefix: string };

/** Reads a line that begins with `%`. */
export function scanDirective(cursor: Cursor): Directive {
  const start = cursor.at;
  cursor.at++;
  const name = passWord(cursor);
  if (name === '') cursor.fail('could not find expected directive name', ' behind %', start);
  if (!isBlankOrEnd(cursor.peek())) cursor.fail('found unexpected non-alphabetical character', '');
  if (name !== 'YAML' && name !== 'TAG') {
    cursor.fail(
      'found unknown directive name',
      ': a line that begins with % is a directive, %YAML or %TAG',
      start,
    );
  }
  cursor.skipBlanks();
  const directive = name === 'YAML' ? passVersion(cursor) : passTagDirective(cursor);
  cursor.skipBlanks();
  cursor.skipComment();
  if (!isBreakOrEnd(cursor.peek())) cursor.fail('did not find expected comment or line break', '');
  if (isBreak(cursor.peek())) cursor.passBreak();
  return directive;
}

/** Passes the version of a %YAML directive. */
function passVersion(cursor: Cursor): Directive {
  const major = passVersionNumber(cursor);
  if (cursor.peek() !== 46 /* . */) cursor.fail("did not find expected digit or '.' character", '');
  cursor.at++;
  return { kind: 'version', major, minor: passVersionNumber(cursor) };
}

/** Passes a number of at most two digits. */
function passVersionNumber(cursor: Cursor): number {
  const from = cursor.at;
  for (; isDigit(cursor.peek()); cursor.at++) {
    if (cursor.at - from === 2) cursor.fail('found extremely long version number', '');
  }
  if (cursor.at === from) cursor.fail('did not find expected version number', '');
  return Number(cursor.text.slice(from, cursor.at));
}

/** Passes the handle and the prefix of a %TAG directive. */
function passTagDirective(cursor: Cursor): Directive {
  const handle = passHandle(cursor);
  if (handle !== '!' && !handle.endsWith('!')) cursor.fail("did not find expected '!'", '');
  if (!isBlank(cursor.peek())) cursor.fail('did not find expected whitespace', '');
  cursor.skipBlanks();
  const prefix = passUri(cursor, '');
  if (!isBlankOrEnd(cursor.peek())) cursor.fail('did not find expected whitespace or line break', '');
  return { kind: 'tag', handle, prefix };
}

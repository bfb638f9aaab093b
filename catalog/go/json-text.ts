/**
 * JSON as Go's encoding/json writes it without HTML escaping: the text that opm's
 * outputs are made of.
 */
import { parseJson } from '../json.ts';
import { compareText } from './text.ts';

/** Characters that JSON text must escape, the two that Go escapes beyond that, and surrogates, which may be halves. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const ESCAPED = /["\\\x00-\x1f\u2028\u2029\ud800-\udfff]/;

/** A string with quotes. Halves of surrogate pairs become U+FFFD. */
export function jsonString(text: string): string {
  if (!ESCAPED.test(text)) return `"${text}"`;
  const quoted = JSON.stringify(text.toWellFormed());
  return quoted.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
}

/** A number; unlike JavaScript, Go keeps the sign of zero. */
function jsonNumber(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}

/** A value that is written as it was spelled: keys in their order, escapes as they are. */
export class RawJson {
  /** Sound JSON. */
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  get value(): unknown {
    return parseJson(this.text);
  }
}

/** Offset behind the JSON value that begins at `from` of a sound JSON text. */
export function jsonEnd(text: string, from: number): number {
  if (text.charAt(from) === '"') return stringEnd(text, from);
  if (!/[{[]/.test(text.charAt(from))) {
    const end = text.slice(from).search(/[\s,\]}]/);
    return end < 0 ? text.length : from + end;
  }
  let depth = 0;
  for (let at = from; ; at++) {
    const c = text.charAt(at);
    if (c === '"') at = stringEnd(text, at) - 1;
    else if (c === '{' || c === '[') depth++;
    else if ((c === '}' || c === ']') && --depth === 0) return at + 1;
  }
}

/** Offset behind the JSON string whose quote is at `from`; the end of a text that does not close it. */
export function stringEnd(text: string, from: number): number {
  // No expression: it would run out of stack on a string of millions of characters.
  for (let at = text.indexOf('"', from + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let escapes = 0;
    while (text.charAt(at - 1 - escapes) === '\\') escapes++;
    if (escapes % 2 === 0) return at + 1;
  }
  return text.length;
}

/** Sound JSON with nothing between its tokens. */
export function withoutSpace(json: string): string {
  const parts: string[] = [];
  let at = 0;
  for (let open = json.indexOf('"'); open >= 0; open = json.indexOf('"', at)) {
    const end = stringEnd(json, open);
    parts.push(json.slice(at, open).replaceAll(/\s/g, ''), json.slice(open, end));
    at = end;
  }
  parts.push(json.slice(at).replaceAll(/\s/g, ''));
  return parts.join('');
}

/** Raw JSON over several lines. */
function indentRaw(text: string, level: number, parts: string[]): void {
  const value = text.trim();
  const open = value.charAt(0);
  if (open !== '{' && open !== '[') {
    parts.push(value);
    return;
  }
  const items = rawItems(value);
  indentMembers(items.length, level, open === '{' ? '{}' : '[]', parts, (i) => {
    const { key, text: item } = items[i] ?? { key: undefined, text: '' };
    if (key !== undefined) parts.push(key, ': ');
    indentRaw(item, level + 1, parts);
  });
}

/** The items of a sound JSON array or the members of an object, as they are spelled. */
export function rawItems(text: string): { readonly key: string | undefined; readonly text: string }[] {
  const items: { key: string | undefined; text: string }[] = [];
  const isObject = text.charAt(0) === '{';
  let at = 1;
  for (;;) {
    at = skip(text, at, SPACE_OR_COMMA);
    if (at >= text.length - 1) return items;
    const keyEnd = isObject ? jsonEnd(text, at) : at;
    const from = isObject ? skip(text, keyEnd, SPACE_OR_COLON) : at;
    const to = jsonEnd(text, from);
    items.push({ key: isObject ? text.slice(at, keyEnd) : undefined, text: text.slice(from, to) });
    at = to;
  }
}

const SPACE_OR_COMMA = /[\s,]/;
const SPACE_OR_COLON = /[\s:]/;

/** The first place at or behind `from` whose character is not one of these. */
function skip(text: string, from: number, what: RegExp): number {
  let at = from;
  while (at < text.length && what.test(text.charAt(at))) at++;
  return at;
}

/**
 * A value on one line, object keys in byte order at every level.
 */
export function compactJson(value: unknown): string {
  if (typeof value === 'string') return jsonString(value);
  if (typeof value === 'number') return jsonNumber(value);
  if (typeof value !== 'object' || value === null) return String(value ?? null);
  if (value instanceof RawJson) return value.text;
  if (Array.isArray(value)) return `[${value.map(compactJson).join(',')}]`;
  const members = sortedKeys(value).map((key) => `${jsonString(key)}:${compactJson(member(value, key))}`);
  return `{${members.join(',')}}`;
}

/**
 * A value over several lines, four spaces a level, object keys in byte order at every
 * level; empty collections stay on one line.
 *
 * @param level how deep the value already stands
 */
export function indentedJson(value: unknown, level = 0): string {
  const parts: string[] = [];
  indent(value, level, parts);
  return parts.join('');
}

/** Adds the text of a value to `parts`, which the caller joins. */
function indent(value: unknown, level: number, parts: string[]): void {
  if (typeof value === 'string') parts.push(jsonString(value));
  else if (typeof value === 'number') parts.push(jsonNumber(value));
  else if (typeof value !== 'object' || value === null) parts.push(String(value ?? null));
  else if (value instanceof RawJson) indentRaw(value.text, level, parts);
  else if (Array.isArray(value)) {
    indentMembers(value.length, level, '[]', parts, (i) => indent(value[i], level + 1, parts));
  } else {
    const keys = sortedKeys(value);
    indentMembers(keys.length, level, '{}', parts, (i) => {
      const key = keys[i] ?? '';
      parts.push(jsonString(key), ': ');
      indent(member(value, key), level + 1, parts);
    });
  }
}

/** Writes brackets, commas and line breaks around members. */
export function indentMembers(
  count: number,
  level: number,
  brackets: '[]' | '{}',
  parts: string[],
  write: (index: number) => void,
): void {
  if (count === 0) {
    parts.push(brackets);
    return;
  }
  const margin = lineStart(level + 1);
  parts.push(brackets.charAt(0));
  for (let i = 0; i < count; i++) {
    parts.push(i === 0 ? margin : `,${margin}`);
    write(i);
  }
  parts.push(lineStart(level), brackets.charAt(1));
}

const LINE_STARTS: string[] = [];

function lineStart(level: number): string {
  LINE_STARTS[level] ??= `\n${'    '.repeat(level)}`;
  return LINE_STARTS[level];
}

/** Keys in byte order. Most objects are sorted already, and cost one look at each key. */
export function sortedKeys(value: object): string[] {
  const keys = Object.keys(value);
  for (let i = 1; i < keys.length; i++) {
    if (compareText(keys[i - 1] ?? '', keys[i] ?? '') > 0) return keys.sort(compareText);
  }
  return keys;
}

function member(value: object, key: string): unknown {
  return (value as Readonly<Record<string, unknown>>)[key];
}

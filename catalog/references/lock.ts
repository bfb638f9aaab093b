/**
 * The lock: which digest each tag stood for when it was looked up. A file that people
 * commit, one tag a line, in byte order, so that changes read well.
 */
import { isObject } from '../go/shape.ts';
import { compareText } from '../go/text.ts';
import { parseJson } from '../json.ts';
import { checkDigest, InvalidReference, parseReference } from '../reference.ts';

/** Tags in full (`registry/repository:tag`), each with its digest. */
export interface ReferenceLock {
  readonly digests: ReadonlyMap<string, string>;
}

const API_VERSION = 'portolan/v1alpha1';
const KIND = 'ReferenceLock';

/** Why a text is not a lock file. */
export class InvalidLock extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'InvalidLock';
  }
}

/**
 * Reads a lock.
 *
 * @throws InvalidLock with what is wrong and where
 */
export function readLock(text: string): ReferenceLock {
  const json = parseText(text);
  if (!isObject(json) || json['apiVersion'] !== API_VERSION || json['kind'] !== KIND) {
    throw new InvalidLock(`it must be an object with apiVersion ${API_VERSION} and kind ${KIND}`);
  }
  const { references } = json;
  if (!isObject(references)) throw new InvalidLock('references must be an object of tags and digests');
  return { digests: new Map(Object.entries(references).map(checkedPair)) };
}

/** The value of a text of JSON. @throws InvalidLock */
function parseText(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    throw new InvalidLock('it is not valid JSON');
  }
}

/**
 * A tag with its digest.
 *
 * @throws InvalidLock when one of them has another form
 */
function checkedPair([tag, digest]: [string, unknown]): [string, string] {
  const where = `references[${JSON.stringify(tag)}]`;
  try {
    if (parseReference(tag).kind !== 'tag') throw new InvalidLock(`${where} is not a valid tag`);
    if (typeof digest !== 'string') throw new InvalidLock(`${where} has no digest`);
    checkDigest(digest);
    return [tag, digest];
  } catch (error) {
    if (error instanceof InvalidReference) throw new InvalidLock(`${where}: ${error.message}`);
    throw error;
  }
}

/** The lock as `readLock` reads it. */
export function formatLock({ digests }: ReferenceLock): string {
  const sorted = [...digests].sort(([a], [b]) => compareText(a, b));
  const references = Object.fromEntries(sorted);
  return `${JSON.stringify({ apiVersion: API_VERSION, kind: KIND, references }, null, 2)}\n`;
}

// Pinning: digests written over tags where these stand, and nothing else of the file
// touched. The tag becomes a comment where the format has comments.

/** One replacement; `line` and `column` from 1, columns in UTF-16 units. */
export interface Pin {
  readonly line: number;
  readonly column: number;
  /** What must stand there. */
  readonly written: string;
  readonly pinned: string;
  /** What to keep as a comment; nothing when empty. */
  readonly note: string;
}

/** The pinned text, and the pins that could not be written because the text there has another form. */
interface Pinned {
  readonly text: string;
  readonly refused: readonly Pin[];
}

/** Writes pins into a text. Line ends, comments, quotes and order stay as they are. */
export function pinReferences(text: string, pins: readonly Pin[]): Pinned {
  const lines = text.split('\n');
  const mayHaveNotes = !/^\s*\{/.test(text.slice(0, SNIFF));
  const refused: { readonly pin: Pin; readonly alias: string | undefined }[] = [];
  const anchors = new Set<string>();
  // From the end of each line to its beginning, so that places stay right.
  const ordered = onePinPerPlace(pins).sort((a, b) => a.line - b.line || b.column - a.column);
  for (const pin of ordered) {
    const line = lines[pin.line - 1] ?? '';
    const replaced = pinLine(line, pin, mayHaveNotes);
    if (replaced === undefined) refused.push({ pin, alias: aliasAt(line, pin) });
    else {
      lines[pin.line - 1] = replaced;
      for (const [, name = ''] of line.matchAll(ANCHORS)) anchors.add(name);
    }
  }
  // An alias changes with its anchor.
  const lost = refused.filter(({ alias }) => alias === undefined || !anchors.has(alias));
  return { text: lines.join('\n'), refused: lost.map(({ pin }) => pin) };
}

/** Names of anchors, `a` of `image: &a quay.io/x/y:v1`; a `&` within one begins no other. */
const ANCHORS = /(?<![^\s,[\]{}])&([^\s,[\]{}]+)\s/g;

/** How far into a file Go looks for the brace that says JSON, which has no comments. */
const SNIFF = 4096;

/** The name of the alias that is the value at a place, or that the key there has as its value: `a` of `image: *a`. */
function aliasAt(line: string, { column }: Pin): string | undefined {
  return /^(?:[\w"']+\s*:\s+)?\*([^\s,[\]{}]+)/.exec(line.slice(column - 1))?.[1];
}

/** Several places of a catalog may be one of its text, by merge keys. The last pin of each place is kept. */
function onePinPerPlace(pins: readonly Pin[]): Pin[] {
  return [...new Map(pins.map((pin) => [`${pin.line}:${pin.column}`, pin])).values()];
}

/**
 * A line with the pin in the place of the reference at its column; undefined if the reference is not there, as when it is
 * written in parts.
 *
 * @param mayHaveNotes whether the text's format has comments
 */
function pinLine(line: string, pin: Pin, mayHaveNotes: boolean): string | undefined {
  const start = pin.column - 1;
  // An anchor or a tag may stand before the text.
  const properties = /^(?:[&!][^\s,[\]{}]*\s+)*/.exec(line.slice(start))?.[0].length ?? 0;
  const at = start + properties;
  const quote = /^["']/.exec(line.slice(at))?.[0] ?? '';
  const from = at + quote.length;
  const to = from + pin.written.length;
  if (line.slice(from, to) !== pin.written) return undefined;
  const rest = line.slice(to);
  // A longer plain text that only begins like this is another reference.
  if (quote === '' ? !/^(?:[\s,\]}]|$)/.test(rest) : !rest.startsWith(quote)) return undefined;
  return line.slice(0, from) + pin.pinned + (mayHaveNotes ? withNote(rest, quote, pin.note) : rest);
}

/** Adds a comment behind what ends the value, when nothing else stands on the line. */
function withNote(rest: string, quote: string, note: string): string {
  const text = rest.trimEnd();
  const begin = text.search(/\s#/);
  const closed = begin < 0 ? text : text.slice(0, begin).trimEnd();
  const [comment, end] = [text.slice(closed.length), rest.slice(text.length)];
  const endsValue = /^[\s,\]}]*$/.test(closed.slice(quote.length));
  if (note === '' || !endsValue || comment.trim() === `# ${note}`) return rest;
  return `${closed} # ${note}${comment}${end}`;
}

/**
 * Leaving out what a mirror need not know: most of a catalog's text are the properties of
 * bundles, and no image is named there but in manifests. Reading the rest takes a third of the time.
 *
 * Nothing is left out where that could change what the rest says; a caller who finds
 * anything amiss in the rest reads all of it again.
 */
import type { CatalogSource, SourceFile } from '../source.ts';

/** The source with the bodies of `properties` blanked out; every other line stays where it is. */
export function withoutProperties(source: CatalogSource): CatalogSource {
  return { files: async () => (await source.files()).map(trimmedFile) };
}

/** Bytes (64 MiB). Larger files are read in pieces instead: to blank something out takes all of their text. */
const LARGEST = 64 * 2 ** 20;

/**
 * The file without properties that mirror plans do not read. A file that is too large stays as it is, and so does one
 * with manifests.
 */
function trimmedFile(file: SourceFile): SourceFile {
  if (file.unreadable === undefined && (file.readPieces?.().size ?? 0) > LARGEST) return file;
  return { path: file.path, ...(file.unreadable === undefined ? {} : { unreadable: file.unreadable }), read };
  /** The content without the bodies of properties; all of it if it has manifests, or is not text. */
  async function read(): Promise<Uint8Array> {
    const bytes = await file.read();
    const text = tryDecode(bytes);
    // Manifests name images, too: deployments run them.
    const isTrimmed = text !== undefined && !text.includes('olm.bundle.object');
    const blank = text?.trimStart().startsWith('{') ? blankJsonProperties : blankProperties;
    const trimmed = isTrimmed ? blank(text) : undefined;
    return trimmed === undefined || trimmed === text ? bytes : new TextEncoder().encode(trimmed);
  }
}

/** The text, or undefined where the bytes are none: the loader says so in its own words. */
function tryDecode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

const KEY = '\nproperties:\n';
const LF = 10;
const SPACE = 32;
const DASH = 45;

/**
 * Blanks out block sequences under a `properties` at the margin, their lines kept as
 * empty ones. A section stays when a quoted scalar may be open at its beginning or at its
 * end: then its bounds would be text.
 */
export function blankProperties(text: string): string {
  const parts: string[] = [];
  let copied = 0;
  // Documents are split before they are read: no scalar reaches from one into the next.
  let document = 0;
  // Where the last section ended.
  let passed = 0;
  // The document in which a quoted scalar may be open: the rest of it stays.
  let doubted = -1;
  let quotes = NO_QUOTES;
  // How far quotes were looked for.
  let sought = 0;
  for (let at = text.indexOf(KEY); at >= 0; at = text.indexOf(KEY, passed)) {
    const separator = text.slice(passed, at).lastIndexOf('\n---');
    if (separator >= 0) {
      document = sought = passed + separator;
      quotes = NO_QUOTES;
    }
    quotes = lastQuotes(text.slice(sought, at), sought, quotes);
    sought = at;
    const body = at + KEY.length - 1;
    const { end, lines } = sectionFrom(text, body);
    passed = end;
    const inside = lastQuotes(text.slice(body, end), body, NO_QUOTES);
    if (document === doubted || mayBeQuoted(text, document, quotes) || mayBeQuoted(text, body, inside)) {
      doubted = document;
      continue;
    }
    parts.push(text.slice(copied, at), '\n'.repeat(lines + 1));
    copied = end;
  }
  parts.push(text.slice(copied));
  return parts.join('');
}

/**
 * The section whose first line begins behind `body`: up to the first line that is neither
 * empty nor indented nor an item at the margin.
 */
function sectionFrom(text: string, body: number): { end: number; lines: number } {
  let lines = 0;
  let end = body;
  for (;;) {
    const first = text.charCodeAt(end + 1);
    const isItem = first === DASH && !text.startsWith('---', end + 1);
    if (end >= text.length || !(isItem || first === SPACE || first === LF)) return { end, lines };
    lines++;
    const next = text.indexOf('\n', end + 1);
    end = next < 0 ? text.length : next;
  }
}

/** Where the last quote of each kind is, -1 for none. */
type Quotes = Readonly<Record<'"' | "'", number>>;
const NO_QUOTES: Quotes = { '"': -1, "'": -1 };

/** The last quotes of a stretch of text, or those before it where it has none. @param offset of the stretch */
function lastQuotes(stretch: string, offset: number, before: Quotes): Quotes {
  const double = stretch.lastIndexOf('"');
  const single = stretch.lastIndexOf("'");
  return {
    '"': double < 0 ? before['"'] : offset + double,
    "'": single < 0 ? before["'"] : offset + single,
  };
}

/**
 * Whether a quoted scalar that begins behind `start` may still be open behind the last
 * quotes: one of them would be its first character, or escaped.
 */
function mayBeQuoted(text: string, start: number, quotes: Quotes): boolean {
  const mayOpen = (quote: keyof Quotes): boolean => {
    const last = quotes[quote];
    return last === start || (last > start && BEFORE[quote].test(text.charAt(last - 1)));
  };
  return mayOpen('"') || mayOpen("'");
}

/** What may stand before a quote that opens a scalar, and what escapes one within. */
const BEFORE = { '"': /[\s[{,:\\']/, "'": /[\s[{,:\\'"]/ };

const QUOTE = 34;
const BACKSLASH = 92;
const PROPERTIES = '"properties"';
const LIST = /\s*:\s*\[/y;

/** What JSON has outside of strings; in anything else, quotes may mean something else. */
const PLAIN = new Uint8Array(128);
for (const character of '{}[]:, \t\r\n+-.0123456789Eaeflnrstu') PLAIN[character.charCodeAt(0)] = 1;

/**
 * Blanks out the lists under `properties` of each object of a JSON stream; what follows keeps its line, but not its
 * column. A text that is not JSON stays as it is.
 */
export function blankJsonProperties(text: string): string {
  const parts: string[] = [];
  let copied = 0;
  let depth = 0;
  let list = -1;
  for (let at = 0; at < text.length; at++) {
    const c = text.charCodeAt(at);
    if (c === QUOTE) {
      const end = stringEnd(text, at + 1);
      if (end < 0) return text;
      if (depth === 1 && text.startsWith(PROPERTIES, at)) {
        LIST.lastIndex = end;
        if (LIST.test(text)) list = LIST.lastIndex;
      }
      at = end - 1;
    } else if (c === 123 /* { */ || c === 91 /* [ */) depth++;
    else if (c === 125 /* } */ || c === 93 /* ] */) {
      depth--;
      if (list < 0 || depth !== 1) continue;
      parts.push(text.slice(copied, list), blankOf(text.slice(list, at)));
      copied = at;
      list = -1;
    } else if (PLAIN[c] !== 1) return text;
  }
  return parts.length === 0 ? text : parts.join('') + text.slice(copied);
}

/** Behind the quote that ends a string; -1 where none does. */
function stringEnd(text: string, from: number): number {
  for (let quote = text.indexOf('"', from); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let before = quote;
    while (text.charCodeAt(before - 1) === BACKSLASH) before--;
    if ((quote - before) % 2 === 0) return quote + 1;
  }
  return -1;
}

/** Empty lines in the place of a text, so that what follows keeps its line numbers. */
function blankOf(text: string): string {
  return '\n'.repeat(text.split('\n').length - 1);
}

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

function trimmedFile(file: SourceFile): SourceFile {
  return { path: file.path, ...(file.unreadable === undefined ? {} : { unreadable: file.unreadable }), read };
  async function read(): Promise<Uint8Array> {
    const bytes = await file.read();
    const text = decoded(bytes);
    // Manifests name images, too: deployments run them.
    const isTrimmed = text !== undefined && !text.includes('olm.bundle.object');
    const trimmed = isTrimmed ? blankProperties(text) : undefined;
    return trimmed === undefined || trimmed === text ? bytes : new TextEncoder().encode(trimmed);
  }
}

/** The text, or undefined where the bytes are none: the loader says so in its own words. */
function decoded(bytes: Uint8Array): string | undefined {
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
  let kept = 0;
  // Documents are split before they are read: no scalar reaches from one into the next.
  let document = 0;
  let passed = 0;
  let doubted = -1;
  let quotes = NO_QUOTES;
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
    parts.push(text.slice(kept, at), '\n'.repeat(lines + 1));
    kept = end;
  }
  parts.push(text.slice(kept));
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

/**
 * A text in segments, each a document of YAML with the separator behind it. A change touches few of them, however long the
 * text is, and the others are the same objects as before.
 */
import { groupedBy } from '../../../catalog/go/grouped.ts';
import { onceFor } from '../../../catalog/go/once.ts';

export interface Segment {
  /** It stays for as long as the text does. */
  readonly id: number;
  readonly text: string;
  /** How many line breaks it has. */
  readonly breaks: number;
}

/** Lines and characters count from 0, characters in UTF-16 units. */
export interface Position {
  readonly line: number;
  readonly character: number;
}

interface TextChange {
  /** The whole text without it. */
  readonly range?: { readonly start: Position; readonly end: Position };
  /** What takes the place of the range. */
  readonly text: string;
}

/** A line of three dashes ends a document, wherever it stands. */
const SEPARATOR = /^---[ \t]*\r?\n/gm;

/** Ids are of the process, so that segments of different files differ, too. */
let lastId = 0;

/** A text that an editor changes piece by piece. */
export class SegmentedText {
  #segments: Segment[];
  /** Where they start, until a change. */
  #known: readonly number[] | undefined;

  constructor(text: string) {
    this.#segments = split(text);
  }

  get segments(): readonly Segment[] {
    return this.#segments;
  }

  get text(): string {
    return this.#segments.map(({ text }) => text).join('');
  }

  /** Applies a change of the editor. Segments that stay the same keep their ids, so they are not read again. */
  change({ range, text }: TextChange): void {
    if (!range) {
      this.#segments = split(text);
      this.#known = undefined;
      return;
    }
    const [from, to] = [this.at(range.start.line), this.at(range.end.line)];
    // A separator may go: then the next document is joined to this one.
    const end = Math.min(to.index + 1, this.#segments.length - 1);
    const old = this.#segments.slice(from.index, end + 1);
    const joined = old.map((segment) => segment.text).join('');
    const start = offsetAt(joined, range.start, from.line);
    const stop = offsetAt(joined, range.end, from.line);
    const isFirst = from.index === 0;
    const pieces = split(joined.slice(0, start) + text + joined.slice(stop), isFirst);
    // Behind its last separator the next document starts.
    if (end < this.#segments.length - 1 && pieces.at(-1)?.text === '') pieces.pop();
    // A document that did not change stays the same object. Each of equal ones is another object: an id has one place.
    const byText = groupedBy(old, (segment) => segment.text);
    const segments = pieces.map((piece) => byText.get(piece.text)?.shift() ?? piece);
    this.#segments.splice(from.index, old.length, ...segments);
    this.#known = undefined;
  }

  /** The segment that has a line, and the line at which it starts. */
  at(line: number): { readonly segment: Segment; readonly index: number; readonly line: number } {
    const starts = this.#starts;
    // The last segment that does not start behind the line, by halving.
    let [index, end] = [0, starts.length];
    while (end - index > 1) {
      const middle = (index + end) >> 1;
      if ((starts[middle] ?? 0) <= line) index = middle;
      else end = middle;
    }
    const [segment, start] = [this.#segments[index], starts[index]];
    if (!segment || start === undefined) throw new Error('a text has at least one segment');
    return { segment, index, line: start };
  }

  /** The lines at which the segments start. */
  get #starts(): readonly number[] {
    if (!this.#known) {
      let line = 0;
      this.#known = this.#segments.map(({ breaks }) => {
        line += breaks;
        return line - breaks;
      });
    }
    return this.#known;
  }

  /** One line, without its end. */
  line(line: number): string {
    const { segment, line: start } = this.at(line);
    return (linesOf(segment)[line - start] ?? '').replace(/\r$/, '');
  }

  /** Where each segment starts, by its id. */
  starts(): Map<number, number> {
    return new Map(this.#segments.map(({ id }, index) => [id, this.#starts[index] ?? 0]));
  }
}

/** Kept with the segment: an editor asks for many lines of one. */
const linesOf = onceFor(({ text }: Segment): readonly string[] => text.split('\n'));

/**
 * Cuts a text into segments, one a document.
 *
 * @param isFirst whether the text is the beginning of the file, where a separator ends nothing
 */
function split(text: string, isFirst = true): Segment[] {
  const found: Segment[] = [];
  let from = 0;
  const add = (to: number): void => {
    const part = text.slice(from, to);
    found.push({ id: ++lastId, text: part, breaks: breaksIn(part) });
    from = to;
  };
  for (const match of text.matchAll(SEPARATOR))
    if (!isFirst || match.index > 0) add(match.index + match[0].length);
  add(text.length);
  return found;
}

/** How many line feeds a text has, without making a list of its lines. */
function breaksIn(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++;
  return count;
}

/**
 * The offset of a position in a text; a place behind the end of its line, or of the text, is that end, as the protocol says.
 *
 * @param first the line of the file at which the text begins
 */
function offsetAt(text: string, { line, character }: Position, first: number): number {
  let at = 0;
  for (let i = first; i < line; i++) {
    const end = text.indexOf('\n', at);
    if (end < 0) return text.length;
    at = end + 1;
  }
  const end = text.indexOf('\n', at);
  return Math.min(at + character, end < 0 ? text.length : end);
}

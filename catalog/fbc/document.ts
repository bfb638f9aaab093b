/**
 * One document of a catalog's file: its value and where each part of it stands, from
 * one and the same parse.
 */
import type { Location } from '../finding.ts';
import type { WrittenMember } from '../go/json.ts';
import { isObject, type Path } from '../go/shape.ts';

export interface SourceDocument {
  /** Path of the file, relative to the catalog's root, with forward slashes. */
  readonly file: string;
  /** 1-based line at which the document begins. */
  readonly line: number;
  /** Place of the node at `path`, or of the deepest node on the way to it that exists. */
  locate(path: Path): Location;
  /**
   * The same document, sharing no text with the file that it was read from. A part of a
   * string keeps the whole string alive, so whoever keeps a document for long keeps this.
   */
  detached(): SourceDocument;
}

/** A part of a document as a document, which begins at the node at `prefix`: places are looked for below that. */
export function partOfDocument(document: SourceDocument, prefix: Path): SourceDocument {
  const { file, line } = document.locate(prefix);
  return {
    file,
    line,
    locate: (path) => document.locate([...prefix, ...path]),
    detached: () => partOfDocument(document.detached(), prefix),
  };
}

/** Nodes before the one that is looked for that are counted anew each time. */
const FEW = 32;

/** A document whose nodes were marked in the order in which they were read. */
export class MarkedDocument implements SourceDocument {
  readonly file: string;
  readonly #value: unknown;
  readonly #marks: Int32Array;
  readonly #written: ReadonlyMap<object, readonly WrittenMember[]> | undefined;
  /** Nodes before the items of long lists, as far as one was asked for, and before the members of large objects. */
  #items: Map<readonly unknown[], number[]> | undefined;
  #members: Map<object, ReadonlyMap<string, number>> | undefined;

  /**
   * @param marks a line and a column for each node in pre-order, the root first
   * @param written members of the objects whose keys are not in the order of reading
   */
  constructor(
    file: string,
    value: unknown,
    marks: Int32Array,
    written?: ReadonlyMap<object, readonly WrittenMember[]>,
  ) {
    this.file = file;
    this.#value = value;
    this.#marks = marks;
    this.#written = written;
  }

  get line(): number {
    return this.#marks[0] ?? 1;
  }

  detached(): SourceDocument {
    // Members in another order are found by the objects themselves, so these must stay.
    if (this.#written && this.#written.size > 0) return this;
    return new MarkedDocument(this.file, outline(this.#value), this.#marks);
  }

  /** The place of a value, or of the last one on the way to it that exists. Marks are a line and a column for each value read. */
  locate(path: Path): Location {
    let node = this.#value;
    let slot = 0;
    for (const step of path) {
      const next = this.#descend(node, step);
      if (!next) break;
      node = next.value;
      slot += next.skipped;
    }
    return { file: this.file, line: this.#marks[slot * 2] ?? 1, column: this.#marks[slot * 2 + 1] ?? 1 };
  }

  /** The child at `step`, and how many nodes after its parent it was read. */
  #descend(parent: unknown, step: string | number): { value: unknown; skipped: number } | undefined {
    if (Array.isArray(parent)) {
      if (typeof step !== 'number' || step < 0 || step >= parent.length) return undefined;
      return { value: parent[step], skipped: 1 + this.#beforeItem(parent, step) };
    }
    if (!isObject(parent) || typeof step !== 'string' || !Object.hasOwn(parent, step)) return undefined;
    return { value: parent[step], skipped: 1 + this.#beforeMember(parent, step) };
  }

  /** How many nodes of a list were read before an item. A few are counted anew each time; for more, the sums are kept. */
  #beforeItem(items: readonly unknown[], step: number): number {
    const known = this.#items?.get(items);
    if (!known) {
      let nodes = 0;
      let i = 0;
      while (i < step && nodes <= FEW) nodes += this.#count(items[i++]);
      if (i === step) return nodes;
    }
    this.#items ??= new Map();
    const before = known ?? [0];
    this.#items.set(items, before);
    for (let i = before.length; i <= step; i++) before.push((before[i - 1] ?? 0) + this.#count(items[i - 1]));
    return before[step] ?? 0;
  }

  /** How many nodes of an object were read before the value of a key; of a duplicate key, the last counts. */
  #beforeMember(object: Readonly<Record<string, unknown>>, step: string): number {
    // Before the loop: it lists all keys of a large object before its first step.
    if (this.#written?.has(object) || this.#members?.has(object))
      return this.#beforeMembers(object).get(step) ?? 0;
    let nodes = 0;
    for (const key in object) {
      if (nodes > FEW) return this.#beforeMembers(object).get(step) ?? 0;
      if (key === step) break;
      nodes += this.#count(object[key]);
    }
    return nodes;
  }

  /** For each member of an object, how many values stand before it in the object. Marks are numbered in that order. */
  #beforeMembers(object: Readonly<Record<string, unknown>>): ReadonlyMap<string, number> {
    const known = this.#members?.get(object);
    if (known) return known;
    const before = new Map<string, number>();
    let nodes = 0;
    for (const { key, nodes: own } of this.#written?.get(object) ?? this.#membersOf(object)) {
      before.set(key, nodes);
      nodes += own;
    }
    this.#members ??= new Map();
    this.#members.set(object, before);
    return before;
  }

  *#membersOf(object: Readonly<Record<string, unknown>>): Generator<WrittenMember> {
    for (const key in object) yield { key, nodes: this.#count(object[key]) };
  }

  /** How many values a value has in all, itself included. */
  #count(value: unknown): number {
    if (typeof value !== 'object' || value === null) return 1;
    let count = 1;
    if (Array.isArray(value)) {
      for (const item of value) count += this.#count(item);
      return count;
    }
    const written = this.#written?.get(value);
    if (written) {
      for (const { nodes } of written) count += nodes;
      return count;
    }
    const members = value as Readonly<Record<string, unknown>>;
    for (const key in members) count += this.#count(members[key]);
    return count;
  }
}

/** Collections and their keys, with nothing in the places of scalars: all that places are found by. */
function outline(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(outline);
  if (!isObject(value)) return null;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, outline(member)]));
}

/**
 * A document that keeps the locations of only a few paths; other paths have the location of the document.
 *
 * @param paths paths in the document
 * @param keys the same paths as they are asked for, their steps joined by dots
 */
export function keepPlaces(
  document: SourceDocument,
  paths: readonly Path[],
  keys: readonly string[] = paths.map((path) => path.join('.')),
): SourceDocument {
  const marks: number[] = [];
  for (const path of [[], ...paths]) {
    const { line, column } = document.locate(path);
    marks.push(line, column);
  }
  return new KeptPlaces(document.file, keys, marks);
}

/** Not made of functions: a function keeps alive all that stood in the scope it was made in. */
class KeptPlaces implements SourceDocument {
  readonly file: string;
  readonly #keys: readonly string[];
  /** A line and a column of the document's beginning, then of each key. */
  readonly #marks: readonly number[];

  constructor(file: string, keys: readonly string[], marks: readonly number[]) {
    this.file = file;
    this.#keys = keys;
    this.#marks = marks;
  }

  get line(): number {
    return this.#marks[0] ?? 1;
  }

  locate(path: Path): Location {
    const at = 2 * (this.#keys.indexOf(path.join('.')) + 1);
    return { file: this.file, line: this.#marks[at] ?? 1, column: this.#marks[at + 1] ?? 1 };
  }

  detached(): SourceDocument {
    return this;
  }
}

/** The document as one of another file with the same content: equal files are read only once. */
export function inFile(document: SourceDocument, file: string): SourceDocument {
  return {
    file,
    line: document.line,
    locate: (path) => ({ ...document.locate(path), file }),
    detached: () => inFile(document.detached(), file),
  };
}

/** The document as one of another file, in which it begins `lines` lines further down. */
export function movedDocument(document: SourceDocument, file: string, lines: number): SourceDocument {
  return new MovedDocument(document, file, lines);
}

/** Not made of functions, as {@link KeptPlaces}. */
class MovedDocument implements SourceDocument {
  readonly file: string;
  readonly #document: SourceDocument;
  readonly #lines: number;

  constructor(document: SourceDocument, file: string, lines: number) {
    this.file = file;
    this.#document = document;
    this.#lines = lines;
  }

  get line(): number {
    return this.#document.line + this.#lines;
  }

  locate(path: Path): Location {
    const { line, column } = this.#document.locate(path);
    return { file: this.file, line: line + this.#lines, column };
  }

  detached(): SourceDocument {
    return new MovedDocument(this.#document.detached(), this.file, this.#lines);
  }
}

/** A document whose places are found by offset in its text. */
export class OffsetDocument implements SourceDocument {
  readonly file: string;
  readonly line: number;
  readonly #offset: (path: Path) => number;
  readonly #lines: LineMap;

  /** @param line where the document begins, if not with the text */
  constructor(
    file: string,
    text: string,
    firstLine: number,
    offset: (path: Path) => number,
    line: number = firstLine,
  ) {
    this.file = file;
    this.line = line;
    this.#offset = offset;
    this.#lines = new LineMap(text, firstLine);
  }

  locate(path: Path): Location {
    return this.place(this.#offset(path));
  }

  detached(): SourceDocument {
    return this;
  }

  /** Place of an offset in the document's text. */
  place(offset: number): Location {
    return { file: this.file, ...this.#lines.place(offset) };
  }
}

/** Turns offsets in a text into lines and columns. Keeps the line starts, not the text. */
export class LineMap {
  readonly #starts: number[] = [0];
  readonly #firstLine: number;

  constructor(text: string, firstLine: number) {
    this.#firstLine = firstLine;
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) this.#starts.push(at + 1);
  }

  /** The line and column of an offset, found by halves among the beginnings of lines. */
  place(offset: number): { line: number; column: number } {
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: this.#firstLine + low, column: offset - (this.#starts[low] ?? 0) + 1 };
  }
}

/**
 * From a file's bytes to its documents: JSON or YAML by what it holds and not by its name,
 * one value after another. What cannot be read is a finding, and reading goes on behind it
 * where that is possible.
 *
 * @see https://github.com/kubernetes/apimachinery/blob/v0.36.3/pkg/util/yaml/decoder.go
 */
import type { Finding, Location } from '../finding.ts';
import { JsonError, JsonReader, type JsonValue, TooLong } from '../go/json.ts';
import { isObject, type Path } from '../go/shape.ts';
import { GO_SPACE, ownText } from '../go/text.ts';
import { DocumentTooLarge, type FilePieces, LARGEST_DOCUMENT, type TextPiece } from '../source.ts';
import { compose } from '../yaml/compose.ts';
import { type FastDocument, type FastPiece, readFast, readFastPiece } from '../yaml/fast.ts';
import { closeText, isUsualText, UNUSUAL } from '../yaml/fast-text.ts';
import { marksOf } from '../yaml/marks.ts';
import { readTree } from '../yaml/parser.ts';
import { isPlainBytes } from '../yaml/plain-bytes.ts';
import { YamlError } from '../yaml/tree.ts';
import { MarkedDocument, movedDocument, OffsetDocument, type SourceDocument } from './document.ts';
import { ignoreHint } from './ignore.ts';
import { type BadSeparator, type Piece, splitDocuments, startsLikeJson } from './split.ts';

export interface ReadDocument {
  /** JSON. */
  readonly value: unknown;
  readonly document: SourceDocument;
  /** How many values it has, itself among them. */
  readonly values: number;
}

/** What is said of files with more values than are read of them. */
type Excess = Required<Pick<Finding, 'message' | 'hint'>>;

const EXCESS: Excess = {
  message: 'the files have more values than are read of them',
  hint: 'split the pull request',
};

export interface DocumentLimits {
  /** Deepest nesting of collections. */
  readonly depth: number;
  /** Most aliases in one document; any number when left out. */
  readonly aliases?: number;
  /** Most values in the documents of a file; any number when left out. */
  readonly nodes?: number;
  /** How many values may still be read, of this file and others; any number when left out. */
  readonly total?: { left: number; readonly excess?: Excess };
}

/**
 * Documents of YAML that were read before, by their text. Whoever reads the same text again gets the same
 * value, which nobody may change.
 */
export interface KnownDocuments {
  /** The document of a text, read if it is not known; undefined for what cannot be read, which nobody keeps. */
  find(text: string, read: () => ReadDocument | undefined): ReadDocument | undefined;
}

/** Where findings go, what a file may ask of the machine, and which documents need not be read again. */
interface ReadOptions {
  readonly limits: DocumentLimits;
  /**
   * Where to put what could not be read, or is read otherwise than written. What the caller finds in a document goes there,
   * too, before the next one is asked for.
   */
  readonly findings: Finding[];
  readonly known?: KnownDocuments | undefined;
}

/**
 * The documents of one file, read as they are asked for.
 *
 * @param content all bytes of the file, or its pieces as {@link FilePieces} has them
 */
export function readDocuments(
  path: string,
  content: Uint8Array | FilePieces['pieces'],
  options: ReadOptions,
): Generator<ReadDocument> {
  return new FileReader(path, options).documents(content instanceof Uint8Array ? [content] : content);
}

/** Where reading goes on: an offset in the text, and its line. */
interface ReadingStart {
  readonly offset: number;
  readonly line: number;
}

class FileReader {
  readonly #path: string;
  readonly #limits: DocumentLimits;
  /** How many values the file may still have; never more than all files may, as it starts with the less of both. */
  #left: number;
  /** How many values all files of its reader may still have. */
  readonly #total: NonNullable<DocumentLimits['total']>;
  readonly #findings: Finding[];
  readonly #known: KnownDocuments | undefined;
  /** Whether the file has more values than are read. */
  #isFull = false;
  /** Whether the file was said not to be UTF-8. */
  #isBroken = false;
  /** Offset of the last invalid bytes in the text of a file that begins like JSON, -1 when there are none. */
  #lastInvalid = -1;

  constructor(path: string, { limits, findings, known }: ReadOptions) {
    this.#path = path;
    this.#total = limits.total ?? { left: Number.MAX_SAFE_INTEGER };
    this.#left = Math.min(limits.nodes ?? Number.MAX_SAFE_INTEGER, this.#total.left);
    this.#limits = limits;
    this.#findings = findings;
    this.#known = known;
  }

  /**
   * The documents of a file, piece by piece. A file that begins like JSON is read whole: its end decides how opm reads
   * it.
   */
  *documents(pieces: FilePieces['pieces']): Generator<ReadDocument> {
    let line = 1;
    let isFirst = true;
    let json: string | undefined;
    for (const piece of this.#whole(pieces, () => line)) {
      const read = piece instanceof Uint8Array ? decode(piece) : { ...piece, isUtf8: true };
      if (json !== undefined || (isFirst && startsLikeJson(read.text))) {
        json ??= '';
        if (piece instanceof Uint8Array && !read.isUtf8) {
          this.#lastInvalid = json.length + lastInvalid(read.text, piece);
        }
        json += read.text;
      } else {
        if (piece instanceof Uint8Array && !read.isUtf8) this.#notUtf8(piece, line);
        line = yield* this.#yamlStream(read, line);
        if (this.#isFull) return;
      }
      isFirst = false;
    }
    if (json !== undefined) yield* this.#jsonStream(json);
  }

  /** Pieces up to a document that is too large. */
  *#whole(pieces: FilePieces['pieces'], line: () => number): FilePieces['pieces'] {
    try {
      yield* pieces;
    } catch (error) {
      if (!(error instanceof DocumentTooLarge)) throw error;
      this.#tooLarge(line() + error.lines);
    }
  }

  #tooLarge(line: number): void {
    const message = `a document has more than ${LARGEST_DOCUMENT / 2 ** 20} MiB, and OLM cannot take it`;
    this.#find('fbc/limits', message, { file: this.#path, line, column: 1 }, 'split the document');
  }

  /** Takes values that are read from both budgets. @returns whether that goes beyond one of them, which is a finding */
  #goesBeyond(values: number, line: number): boolean {
    this.#left -= values;
    this.#total.left -= values;
    if (this.#left >= 0) return false;
    this.#isFull = true;
    const { message, hint } = this.#total.excess ?? EXCESS;
    this.#find('fbc/limits', message, { file: this.#path, line, column: 1 }, hint);
    return true;
  }

  #find(rule: string, message: string, location: Location, hint?: string): void {
    this.#findings.push({
      rule,
      severity: 'error',
      message,
      location,
      ...(hint === undefined ? {} : { hint }),
    });
  }

  #warn(rule: string, message: string, location: Location, hint: string): void {
    this.#findings.push({ rule, severity: 'warning', message, location, hint });
  }

  /** Reports bytes that are not UTF-8. Go's JSON reader replaces them by U+FFFD, its YAML reader refuses the document. */
  #notUtf8(bytes: Uint8Array, firstLine: number): void {
    if (this.#isBroken) return;
    this.#isBroken = true;
    const { line, column } = firstInvalid(bytes);
    this.#find(
      'fbc/yaml',
      'the file is not UTF-8',
      { file: this.#path, line: firstLine + line - 1, column },
      'save the file as UTF-8',
    );
  }

  /** The documents of a JSON stream. The first may turn out to be YAML, which is then read instead. */
  *#jsonStream(text: string): Generator<ReadDocument> {
    const reader = new JsonReader(text, this.#limits.depth, LARGEST_DOCUMENT);
    for (let count = 0; ; count++) {
      const from = { offset: reader.offset, line: reader.line };
      try {
        const read = reader.next();
        if (!read) return;
        const document = this.#jsonDocument(read);
        if (this.#goesBeyond(document.values, from.line)) return;
        // Behind two values, Go does not try YAML any more.
        if (count > 1 || read.value === null || isObject(read.value)) yield document;
        else {
          // Text that begins with a scalar or a list may be YAML; where it is not, what was read is not an object.
          if (yield* this.#asYaml(text, from)) return;
          yield document;
        }
      } catch (error) {
        if (error instanceof TooLong) return this.#tooLarge(from.line);
        if (!(error instanceof JsonError)) throw error;
        yield* this.#brokenJson(text, { from, error, count });
        return;
      }
    }
  }

  #jsonDocument(read: JsonValue): ReadDocument {
    for (const { key, line, column } of read.duplicates) {
      this.#repeatedKey(key, { file: this.#path, line, column });
    }
    return markedDocument(this.#path, read);
  }

  /**
   * With no more than one object read, Go tries the rest as YAML: so comments, single
   * quotes and trailing commas pass in a file of one object.
   */
  *#brokenJson(
    text: string,
    { from, error, count }: { from: ReadingStart; error: JsonError; count: number },
  ): Generator<ReadDocument> {
    if (count <= 1 && (yield* this.#asYaml(text, from))) return;
    // As JSON was meant, what JSON says is the better help.
    const { line, column } = placeOf(text, error.offset);
    this.#find('fbc/json', `not JSON: ${error.message}`, { file: this.#path, line, column });
  }

  /**
   * The rest of a file that began like JSON. @returns whether it could be read; what was found to be wrong
   * with it is forgotten otherwise
   */
  *#asYaml(text: string, from: ReadingStart): Generator<ReadDocument, boolean> {
    const findings = this.#findings.length;
    const rest = afterFirstBreak(text, from.offset);
    if (!rest || this.#lastInvalid >= rest.offset) return false;
    const line = from.line + (rest.brokeLine ? 1 : 0);
    yield* this.#yamlStream({ text: text.slice(rest.offset), isPlain: false }, line);
    if (this.#findings.slice(findings).every(({ severity }) => severity !== 'error')) return true;
    this.#findings.length = findings;
    return false;
  }

  /** Reads the documents of a YAML text. @returns the 1-based line behind the text */
  *#yamlStream(written: TextPiece, firstLine: number): Generator<ReadDocument, number> {
    const isUsual = isUsualText(written);
    const text = isUsual ? written.text : normalBreaks(written.text);
    let fast: FastDocument | undefined;
    const readPiece = (from: number, line: number): FastPiece | undefined => {
      const piece = readFastPiece(text, from, line, this.#limits.depth);
      fast = piece;
      return piece;
    };
    // The fast reader finds where a document ends while it reads it. Where documents are known, they are split first.
    const readsAhead = isUsual && !this.#known && text.length <= LARGEST_DOCUMENT;
    const pieces = splitDocuments(text, firstLine, readsAhead ? readPiece : undefined);
    try {
      for (;;) {
        const { value: piece, done } = pieces.next();
        if (done) return piece;
        if ('rest' in piece) {
          this.#badSeparator(piece);
          continue;
        }
        if (piece.to - piece.from > LARGEST_DOCUMENT) {
          this.#tooLarge(piece.line);
          continue;
        }
        if (!isPlainlyOpened(text, piece)) fast = undefined;
        else if (!readsAhead && !this.#known)
          fast = readFast(text, piece.from, piece.to, piece.line, this.#limits.depth);
        const read = fast ? markedDocument(this.#path, fast) : this.#slowDocument(text, piece);
        fast = undefined;
        if (read && !this.#goesBeyond(read.values, piece.line)) yield read;
        if (this.#isFull) return piece.line;
      }
    } finally {
      closeText();
    }
  }

  /** A document that the fast reader did not read: one that is known by its text, or else by the complete reader. */
  #slowDocument(text: string, piece: Piece): ReadDocument | undefined {
    return this.#known && isPlainlyOpened(text, piece)
      ? this.#knownDocument(this.#known, text, piece)
      : this.#fullYaml(text, piece);
  }

  #badSeparator({ rest, line, column }: BadSeparator): void {
    const message = `a line that starts with --- separates documents, but contains "${rest}"`;
    const hint = 'write the separator on a separate line';
    this.#find('fbc/yaml', message, { file: this.#path, line, column }, hint);
  }

  /** A document with a text that was read before; otherwise it is read, and kept if nothing was found in it. */
  #knownDocument(
    known: KnownDocuments,
    text: string,
    { from, to, opened, line }: Piece,
  ): ReadDocument | undefined {
    const own = ownText(text.slice(from, to));
    // What has findings, or needs all of its tree, is read for this place only.
    let notKept: ReadDocument | undefined;
    const read = known.find(own, () => {
      const fast = readAlone(own, this.#limits.depth);
      if (fast) return fast;
      const findings = this.#findings.length;
      const start = opened < from ? SEPARATOR.length : 0;
      const alone = { from: start, to: start + own.length, opened: 0, line };
      notKept = this.#fullYaml(`${SEPARATOR.slice(0, start)}${own}`, alone);
      if (!notKept || this.#findings.length > findings) return undefined;
      const { document } = notKept;
      // The places of other documents keep all of their trees.
      return document instanceof MarkedDocument
        ? { ...notKept, document: movedDocument(document, '', 1 - line) }
        : undefined;
    });
    return read ? { ...read, document: movedDocument(read.document, this.#path, line - 1) } : notKept;
  }

  /**
   * Reads a YAML document by the complete reader, which finds every defect; undefined, with a finding, if it cannot be
   * read.
   */
  #fullYaml(all: string, { from, to, opened, line: firstLine }: Piece): ReadDocument | undefined {
    const text = all.slice(opened, to);
    // The separator that opened the document is a line of its text.
    const line = opened < from ? firstLine - 1 : firstLine;
    const nodes = { left: this.#left };
    try {
      const tree = readTree(text, { ...this.#limits, nodes });
      const { value, duplicates, locate } = compose(tree.root);
      // A document without any text has its place behind the separator.
      const place = (path: Path): number => Math.max(locate(path), Math.min(from, to) - opened);
      const document = new OffsetDocument(this.#path, text, line, place, firstLine);
      const isInOrder = tree.root && tree.root.kind !== 'scalar' && duplicates.length === 0;
      const marks = isInOrder ? marksOf(tree.root, (offset) => document.place(offset)) : undefined;
      for (const { key, again } of duplicates) this.#repeatedKey(key, document.place(again));
      if (tree.ignoredFrom >= 0) {
        const message = "OLM's tools ignore this text, because the document ends before it";
        this.#warn(
          'fbc/ignored-content',
          message,
          document.place(tree.ignoredFrom),
          'add a line with --- before it',
        );
      }
      return {
        value,
        // Marks take a hundredth of the memory of a tree.
        document: marks ? new MarkedDocument(this.#path, value, marks) : document,
        values: this.#left - nodes.left,
      };
    } catch (error) {
      if (!(error instanceof YamlError)) throw error;
      if (this.#goesBeyond(this.#left - nodes.left, firstLine)) return undefined;
      const document = new OffsetDocument(this.#path, text, line, () => 0);
      this.#find(
        'fbc/yaml',
        `not valid YAML for OLM's tools: ${error.message}`,
        document.place(error.offset),
        ignoreHint(this.#path),
      );
      return undefined;
    }
  }

  #repeatedKey(key: string, location: Location): void {
    this.#warn(
      'fbc/repeated-key',
      `duplicate key "${key}"; readers keep only the last one`,
      location,
      'remove one of them',
    );
  }
}

/** A document as if it were a file of its own; undefined for what takes the full reader. */
function readAlone(text: string, depth: number): ReadDocument | undefined {
  const read = readFast(text, 0, text.length, 1, depth);
  return read && markedDocument('', read);
}

/** A document whose reader marked where each of its values stands. */
function markedDocument(
  path: string,
  { value, marks, written }: FastDocument & Partial<Pick<JsonValue, 'written'>>,
): ReadDocument {
  return { value, document: new MarkedDocument(path, value, marks, written), values: marks.length / 2 };
}

const SEPARATOR = '---\n';
const PLAIN_SEPARATOR = /^---(?:[ \t]+#.*|[ \t]*)$/;

/** Whether the separator that opened a piece means nothing but a document's beginning. */
function isPlainlyOpened(text: string, { from, opened }: Piece): boolean {
  if (opened === from) return true;
  const line = text.slice(opened, from).replace(/\n$/, '');
  return PLAIN_SEPARATOR.test(line) && !UNUSUAL.test(line);
}

const SPACE = new RegExp(`[${GO_SPACE}]`);

/** Go drops the carriage return before a line feed. */
export function normalBreaks(text: string): string {
  return text.includes('\r\n') ? text.replaceAll('\r\n', '\n') : text;
}

/** How many bytes Go takes at once to find a character in them. */
const RUNE_BYTES = 4;

/**
 * Where YAML begins behind a JSON value: Go drops white space, up to and with the first line break.
 *
 * @returns undefined where Go does not get there, and stays with what JSON said: it meets U+FFFD, or has fewer
 *   bytes than it takes at once
 */
export function afterFirstBreak(
  text: string,
  from: number,
): { offset: number; brokeLine: boolean } | undefined {
  for (let at = from; ; at++) {
    const character = text.charAt(at);
    const ahead = new TextEncoder().encode(text.slice(at, at + RUNE_BYTES));
    if (ahead.length < RUNE_BYTES || character === '\ufffd') return undefined;
    if (!SPACE.test(character)) return { offset: at, brokeLine: false };
    if (character === '\n') return { offset: at + 1, brokeLine: true };
  }
}

/** The line and column of an offset, both from 1. */
function placeOf(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset);
  const lastBreak = before.lastIndexOf('\n');
  return { line: before.split('\n').length, column: offset - lastBreak };
}

/** Decodes bytes as UTF-8, with U+FFFD for invalid bytes. */
function decode(bytes: Uint8Array): TextPiece & { readonly isUtf8: boolean } {
  const isPlain = isPlainBytes(bytes);
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return { text, isPlain, isUtf8: true };
  } catch {
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
    return { text, isPlain, isUtf8: false };
  }
}

/** Offset in the text of the last bytes that are not UTF-8, for which U+FFFD stands there; -1 when all are. */
export function lastInvalid(text: string, bytes: Uint8Array): number {
  let behind = text.length;
  let to = bytes.length;
  for (;;) {
    const at = behind === 0 ? -1 : text.lastIndexOf('\ufffd', behind - 1);
    if (at < 0) return -1;
    to -= new TextEncoder().encode(text.slice(at + 1, behind)).length;
    // Bytes that spell U+FFFD are UTF-8.
    if (bytes[to - 3] !== 0xef || bytes[to - 2] !== 0xbf || bytes[to - 1] !== 0xbd) return at;
    to -= 3;
    behind = at;
  }
}

/** Place of the first byte that is not UTF-8: a 1-based line, and a 1-based column in UTF-16 units. */
function firstInvalid(bytes: Uint8Array): { line: number; column: number } {
  let line = 1;
  // No character of several bytes contains a line feed, so each line can be decoded by itself.
  for (let from = 0; ; line++) {
    const found = bytes.indexOf(10, from);
    const to = found < 0 ? bytes.length : found;
    try {
      new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(from, to));
    } catch {
      const text = new TextDecoder().decode(bytes.subarray(from, to));
      return { line, column: text.indexOf('\ufffd') + 1 };
    }
    if (found < 0) return { line, column: 1 };
    from = found + 1;
  }
}

/**
 * Loading: from files to blobs. Everything that keeps a blob from being read is a
 * finding with its place; loading goes on with the next document.
 *
 * @see https://github.com/operator-framework/operator-registry/blob/master/alpha/declcfg/load.go
 */
import { decodeBlob } from './blob.ts';
import { MarkedDocument, OffsetDocument, type SourceDocument } from './document.ts';
import type { Finding, Location } from './finding.ts';
import { IGNORE_FILE, ignoreMatcher } from './ignore.ts';
import { JsonError, JsonReader, type JsonValue } from './json.ts';
import type { Blob, Blobs, Bundle, Channel, Deprecations, PackageBlob } from './model.ts';
import { type CatalogSource, compareWalk, type SourceFile } from './source.ts';
import { splitDocuments } from './split.ts';
import { compose } from './yaml/compose.ts';
import { readFast } from './yaml/fast.ts';
import { readTree } from './yaml/parser.ts';
import { YamlError } from './yaml/tree.ts';

/** What a catalog may ask of the machine that reads it. */
export interface LoadLimits {
  /** Largest file, in bytes. */
  readonly fileBytes: number;
  /** Deepest nesting of collections. */
  readonly depth: number;
  /** Most documents in all files together. */
  readonly documents: number;
  /** Most aliases in one document; any number when left out. */
  readonly aliases?: number;
}

export const DEFAULT_LIMITS: LoadLimits = { fileBytes: 512 * 1024 * 1024, depth: 1000, documents: 1_000_000 };

export interface Loaded {
  readonly blobs: Blobs;
  /** What could not be read, or was read otherwise than written. */
  readonly findings: readonly Finding[];
}

/** What is done with each blob as it is read; what comes back is kept in its place. */
export interface EachBlob {
  readonly package?: (blob: PackageBlob) => PackageBlob;
  readonly deprecations?: (deprecations: Deprecations) => Deprecations;
  readonly bundle?: (bundle: Bundle) => Bundle;
  readonly channel?: (channel: Channel) => Channel;
  readonly other?: (blob: Blob) => Blob;
}

/**
 * Reads every blob of a catalog, file by file in the order of walking the tree.
 */
export async function load(
  source: CatalogSource,
  limits: LoadLimits = DEFAULT_LIMITS,
  each: EachBlob = {},
): Promise<Loaded> {
  const loader = new Loader(limits, each);
  const files = await catalogFiles(source, (file, why) => loader.unreadable(file, why));
  for (const file of files) await loader.file(file);
  return loader.loaded();
}

/** The files that hold blobs, in the order of walking the tree: all but ignore files and what these ignore. */
export async function catalogFiles(
  source: CatalogSource,
  unreadable: (ignoreFile: SourceFile, why: string) => void,
): Promise<SourceFile[]> {
  const files = [...(await source.files())].sort((a, b) => compareWalk(a.path, b.path));
  const isIgnoreFile = (file: SourceFile): boolean => file.path.split('/').at(-1) === IGNORE_FILE;
  const ignoreFiles: [string, string][] = [];
  for (const file of files.filter(isIgnoreFile)) {
    if (file.unreadable !== undefined) unreadable(file, file.unreadable);
    else ignoreFiles.push([file.path, new TextDecoder().decode(await file.read())]);
  }
  const ignored = ignoreMatcher(ignoreFiles);
  return files.filter((file) => !isIgnoreFile(file) && !ignored(file.path));
}

/** How far into a file Go looks for the brace that says JSON. */
const SNIFF = 4096;

class Loader {
  readonly #limits: LoadLimits;
  readonly #each: EachBlob;
  readonly #findings: Finding[] = [];
  readonly #packages: PackageBlob[] = [];
  readonly #channels: Channel[] = [];
  readonly #bundles: Bundle[] = [];
  readonly #deprecations: Deprecations[] = [];
  readonly #others: Blob[] = [];
  #documents = 0;

  constructor(limits: LoadLimits, each: EachBlob) {
    this.#limits = limits;
    this.#each = each;
  }

  loaded(): Loaded {
    return {
      blobs: {
        packages: this.#packages,
        channels: this.#channels,
        bundles: this.#bundles,
        deprecations: this.#deprecations,
        others: this.#others,
      },
      findings: this.#findings,
    };
  }

  async file(file: SourceFile): Promise<void> {
    if (file.unreadable !== undefined) {
      this.unreadable(file, file.unreadable);
      return;
    }
    const bytes = await file.read();
    if (bytes.length > this.#limits.fileBytes) {
      const message = `the file has ${bytes.length} bytes, the limit is ${this.#limits.fileBytes}`;
      this.#find(
        'fbc/limits',
        message,
        start(file.path),
        'split the file, or raise limits.fileBytes in the policy',
      );
      return;
    }
    this.#text(file.path, this.#decode(file.path, bytes));
  }

  unreadable(file: SourceFile, why: string): void {
    this.#find(
      'fbc/unreadable',
      why,
      start(file.path),
      'every file of a catalog must be a regular file, or a link to one',
    );
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

  #decode(path: string, bytes: Uint8Array): string {
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
      const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
      // Go's JSON reader puts U+FFFD where UTF-8 is broken; its YAML reader refuses the document.
      if (!startsLikeJson(text)) {
        const { line, column } = firstInvalid(bytes);
        this.#find(
          'fbc/yaml',
          'the file is not UTF-8',
          { file: path, line, column },
          'save the file as UTF-8',
        );
      }
      return text;
    }
  }

  #text(path: string, text: string): void {
    if (startsLikeJson(text)) this.#jsonStream(path, text);
    else this.#yamlStream(path, normalBreaks(text), 0, 1);
  }

  #jsonStream(path: string, text: string): void {
    const reader = new JsonReader(text, this.#limits.depth);
    let count = 0;
    for (;;) {
      try {
        const read = reader.next();
        if (!read) return;
        count++;
        this.#jsonDocument(path, read);
      } catch (error) {
        if (!(error instanceof JsonError)) throw error;
        this.#brokenJson(path, text, reader, error, count);
        return;
      }
    }
  }

  #jsonDocument(path: string, read: JsonValue): void {
    const document = new MarkedDocument(path, read.value, read.marks, read.written);
    for (const { key, line, column } of read.duplicates) {
      this.#repeatedKey(key, { file: path, line, column });
    }
    this.#document(read.value, document);
  }

  /**
   * With no more than one object read, Go tries the rest as YAML: so comments, single
   * quotes and trailing commas pass in a file of one object.
   */
  #brokenJson(path: string, text: string, reader: JsonReader, error: JsonError, count: number): void {
    const findings = this.#findings.length;
    if (count <= 1) {
      const rest = afterFirstBreak(text, reader.offset);
      const line = reader.line + (rest.brokeLine ? 1 : 0);
      this.#yamlStream(path, normalBreaks(text), rest.offset, line);
      if (this.#findings.length === findings) return;
    }
    // As JSON was meant, what JSON says is the better help.
    this.#findings.length = findings;
    const { line, column } = placeOf(text, error.offset);
    this.#find('fbc/json', `not JSON: ${error.message}`, { file: path, line, column });
  }

  #yamlStream(path: string, text: string, from: number, firstLine: number): void {
    for (const piece of splitDocuments(text, from, firstLine)) {
      if ('rest' in piece) {
        const message = `a line that begins with --- separates documents, but "${piece.rest}" follows on it`;
        this.#find(
          'fbc/yaml',
          message,
          { file: path, line: piece.line, column: piece.column },
          'write the separator on a line of its own',
        );
        continue;
      }
      const fast = readFast(text, piece.from, piece.to, piece.line);
      if (fast) this.#document(fast.value, new MarkedDocument(path, fast.value, fast.marks));
      else this.#fullYaml(path, text.slice(piece.from, piece.to), piece.line);
    }
  }

  #fullYaml(path: string, text: string, line: number): void {
    try {
      const tree = readTree(text, this.#limits);
      const { value, duplicates, locate } = compose(tree.root);
      const document = new OffsetDocument(path, text, line, locate);
      for (const { key, again } of duplicates) this.#repeatedKey(key, document.place(again));
      if (tree.ignoredFrom >= 0) {
        const message = 'the tools never read this text: the document ends before it';
        this.#warn(
          'fbc/ignored-content',
          message,
          document.place(tree.ignoredFrom),
          'put a line with --- before it',
        );
      }
      this.#document(value, document);
    } catch (error) {
      if (!(error instanceof YamlError)) throw error;
      const document = new OffsetDocument(path, text, line, () => 0);
      this.#find('fbc/yaml', `not YAML as the tools read it: ${error.message}`, document.place(error.offset));
    }
  }

  #repeatedKey(key: string, location: Location): void {
    this.#warn(
      'fbc/repeated-key',
      `the key "${key}" stands twice; only the last counts`,
      location,
      'remove one of them',
    );
  }

  #document(value: unknown, document: SourceDocument): void {
    if (++this.#documents > this.#limits.documents) {
      if (this.#documents === this.#limits.documents + 1) {
        const message = `more than ${this.#limits.documents} documents`;
        this.#find('fbc/limits', message, document.locate([]), 'raise limits.documents in the policy');
      }
      return;
    }
    const decoded = decodeBlob(value, document, this.#findings);
    switch (decoded?.kind) {
      case 'package':
        this.#packages.push(this.#each.package?.(decoded.blob) ?? decoded.blob);
        break;
      case 'channel':
        this.#channels.push(this.#each.channel?.(decoded.blob) ?? decoded.blob);
        break;
      case 'bundle':
        this.#bundles.push(this.#each.bundle?.(decoded.blob) ?? decoded.blob);
        break;
      case 'deprecations':
        this.#deprecations.push(this.#each.deprecations?.(decoded.blob) ?? decoded.blob);
        break;
      case 'other':
        this.#others.push(this.#each.other?.(decoded.blob) ?? decoded.blob);
        break;
    }
  }
}

function start(file: string): Location {
  return { file, line: 1, column: 1 };
}

/** Go's white space is that of `\s` with U+0085 and without the byte-order mark. */
const LIKE_JSON = /^(?:(?!\ufeff)[\s\u0085])*\{/;

function startsLikeJson(text: string): boolean {
  return LIKE_JSON.test(text.slice(0, SNIFF));
}

/** Go drops the carriage return before a line feed. */
function normalBreaks(text: string): string {
  return text.includes('\r\n') ? text.replaceAll('\r\n', '\n') : text;
}

/** Go drops white space behind a JSON value, up to and with the first line break. */
function afterFirstBreak(text: string, from: number): { offset: number; brokeLine: boolean } {
  let at = from;
  while (at < text.length && /\s/.test(text.charAt(at))) {
    if (text.charAt(at++) === '\n') return { offset: at, brokeLine: true };
  }
  return { offset: at, brokeLine: false };
}

function placeOf(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset);
  const lastBreak = before.lastIndexOf('\n');
  return { line: before.split('\n').length, column: offset - lastBreak };
}

/** Place of the first byte that is not UTF-8. */
function firstInvalid(bytes: Uint8Array): { line: number; column: number } {
  let line = 1;
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

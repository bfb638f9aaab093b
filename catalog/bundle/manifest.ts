/**
 * One file of a bundle: its documents, as Kubernetes' readers see them, each with the
 * places of its parts.
 *
 * @see https://github.com/kubernetes/apimachinery/blob/v0.36.3/pkg/util/yaml/decoder.go
 */
import { MarkedDocument, OffsetDocument, type SourceDocument } from '../fbc/document.ts';
import { splitDocuments, startsLikeJson } from '../fbc/split.ts';
import type { Location } from '../finding.ts';
import { JsonError, JsonReader } from '../go/json.ts';
import { jsonEnd } from '../go/json-text.ts';
import { onceFor } from '../go/once.ts';
import { isObject } from '../go/shape.ts';
import { LARGEST_DOCUMENT } from '../source.ts';
import { compose } from '../yaml/compose.ts';
import { readFast } from '../yaml/fast.ts';
import { readTree } from '../yaml/parser.ts';
import { YamlError, type YamlNode } from '../yaml/tree.ts';

/** Bytes of a file in which the readers of manifests look for the brace that says JSON. */
const SNIFF = 30;

/** A document that was read, or why it could not be. */
type FileDocument =
  | {
      readonly kind: 'value';
      /** JSON; integers that a float would round are bigint. */
      readonly value: unknown;
      readonly document: SourceDocument;
      /** The tree of YAML nodes, made when it is asked for; undefined for what is JSON and not YAML. */
      readonly tree: () => YamlNode | undefined;
      /** What is written, where a reader takes it for JSON and not for YAML. */
      readonly json?: string;
    }
  | {
      readonly kind: 'unread';
      /** What is wrong, for people. */
      readonly message: string;
      /** What Go says of it. */
      readonly go: string;
      readonly location: Location;
    };

export interface ManifestFile {
  /** Path in the bundle, with forward slashes. */
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly documents: readonly FileDocument[];
}

/** No cluster takes objects of that size, and their values take twenty times as much memory. */
export const TOO_LARGE: string = `too large: it has more than ${LARGEST_DOCUMENT / 2 ** 20} MiB`;

/**
 * Reads all documents of a file. A file without any text has none; one of more than `most` bytes has one that could not be read.
 */
export function readManifestFile(
  path: string,
  bytes: Uint8Array,
  most: number = LARGEST_DOCUMENT,
): ManifestFile {
  if (bytes.length > most) {
    const message = `the file is ${TOO_LARGE}`;
    const location = { file: path, line: 1, column: 1 };
    return { path, bytes, documents: [{ kind: 'unread', message, go: message, location }] };
  }
  const text = decodeFile(bytes);
  const documents = [
    ...(startsLikeJson(text, SNIFF) ? jsonDocuments(path, text) : yamlDocuments(path, text)),
  ];
  return { path, bytes, documents };
}

/** Stands for bytes that are not UTF-8: half of a surrogate pair, which no UTF-8 decodes to. */
const INVALID = '\udc00';
const LONE = /\p{Surrogate}/gu;

/** The text of a file, with `INVALID` for what is not UTF-8. */
function decodeFile(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return decodeByLine(bytes);
  }
}

/** Decodes line by line: on lines that are UTF-8, a U+FFFD is one that somebody wrote, and stays. */
function decodeByLine(bytes: Uint8Array): string {
  const lines: string[] = [];
  for (let from = 0; from <= bytes.length; ) {
    const found = bytes.indexOf(10, from);
    const to = found < 0 ? bytes.length : found;
    lines.push(decodeLine(bytes.subarray(from, to)));
    from = to + 1;
  }
  return lines.join('\n');
}

/** The text of a line. If it is not UTF-8, every U+FFFD in it becomes `INVALID`, also one that somebody wrote. */
function decodeLine(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
    return text.replaceAll('\ufffd', INVALID);
  }
}

/** A document that was read. */
export type ReadValue = Extract<FileDocument, { kind: 'value' }>;

/** The first document as JSON; undefined when it cannot be read or is not there. */
export function firstValue(file: ManifestFile): ReadValue | undefined {
  const [first] = file.documents;
  return first?.kind === 'value' ? first : undefined;
}

/** Half of a surrogate pair as an escape of JSON, which YAML does not have. */
const ESCAPED_SURROGATE = /\\u[dD][89a-fA-F]/;

/** Whether a file has JSON that is not YAML: some tools read it only as YAML. The answer is kept, and not the tree. */
export const isJsonAlone: (file: ManifestFile) => boolean = onceFor((file: ManifestFile) => {
  const first = firstValue(file);
  return first?.json !== undefined && !first.tree();
});

/** Whether what keeps JSON from being YAML are surrogate pairs as escapes, which opm does not read either. */
export function hasEscapedSurrogates(file: ManifestFile): boolean {
  return isJsonAlone(file) && ESCAPED_SURROGATE.test(new TextDecoder().decode(file.bytes));
}

/**
 * The documents of a file that begins like JSON. If the first is not JSON, Go's readers try the whole file as YAML; later
 * ones then end the file.
 */
function* jsonDocuments(path: string, written: string): Generator<FileDocument> {
  // Go's reader of JSON accepts bytes that are not UTF-8 in texts.
  const text = written.includes(INVALID) ? written.replaceAll(LONE, '\ufffd') : written;
  const reader = new JsonReader(text);
  for (let count = 0; ; count++) {
    try {
      const read = reader.next();
      if (!read) return;
      // Looked for once: a large first document may have many small ones behind it.
      const first = count === 0 ? jsonAt(text, text.length - text.trimStart().length) : undefined;
      const json = first ? { json: first.json } : {};
      // A float would round the integer: the reader of YAML keeps it.
      const exact =
        first && hasRoundedInteger(read.value) ? readYaml(path, text.slice(0, first.end), 1) : undefined;
      if (exact?.kind === 'value') {
        yield { ...exact, ...json };
        continue;
      }
      const document = new MarkedDocument(path, read.value, read.marks, read.written);
      // What does not fit as JSON is tried as YAML, too, unless something was read before it.
      const tree = count === 0 ? () => tryTree(text) : () => undefined;
      yield { kind: 'value', value: read.value, document, tree, ...json };
    } catch (error) {
      if (!(error instanceof JsonError)) throw error;
      // With nothing read, the readers try the text as YAML.
      const asYaml = count === 0 ? [...yamlDocuments(path, written)] : [];
      if (asYaml[0]?.kind === 'value') yield* asYaml;
      else yield jsonUnread(path, text, error);
      return;
    }
  }
}

/** The JSON that begins at an offset, and where it ends. */
function jsonAt(text: string, start: number): { readonly json: string; readonly end: number } {
  const end = jsonEnd(text, start);
  return { json: text.slice(start, end), end };
}

/** What takes the place of a document that is neither JSON nor YAML. */
function jsonUnread(path: string, text: string, error: JsonError): FileDocument {
  const place = new OffsetDocument(path, text, 1, () => error.offset).locate([]);
  return { kind: 'unread', message: `not JSON: ${error.message}`, go: error.message, location: place };
}

/**
 * The documents of a YAML file, those that cannot be read included. A separator with text behind it ends the file, as for
 * Go's splitter.
 */
function* yamlDocuments(path: string, text: string): Generator<FileDocument> {
  const normal = text.includes('\r\n') ? text.replaceAll('\r\n', '\n') : text;
  const hasInvalid = normal.includes(INVALID);
  for (const piece of splitDocuments(normal)) {
    if ('rest' in piece) {
      const message = `a line that starts with --- separates documents, but contains "${piece.rest}"`;
      const location = { file: path, line: piece.line, column: piece.column };
      yield { kind: 'unread', message, go: `invalid Yaml document separator: ${piece.rest}`, location };
      return;
    }
    const broken = hasInvalid ? notUtf8(path, normal.slice(piece.from, piece.to), piece.line) : undefined;
    if (broken) {
      yield broken;
      continue;
    }
    const fast = readFast(normal, piece.from, piece.to, piece.line);
    if (fast && !hasRoundedInteger(fast.value)) {
      const document = new MarkedDocument(path, fast.value, fast.marks);
      const source = normal.slice(piece.from, piece.to);
      yield { kind: 'value', value: fast.value, document, tree: () => treeOf(source) };
    } else yield readYaml(path, normal.slice(piece.from, piece.to), piece.line);
  }
}

/** What Go says of a document with bytes that are not UTF-8; undefined for a document without such bytes. */
function notUtf8(path: string, text: string, line: number): FileDocument | undefined {
  const offset = text.search(LONE);
  if (offset < 0) return undefined;
  const location = new OffsetDocument(path, text, line, () => offset).locate([]);
  const go = 'error converting YAML to JSON: yaml: invalid leading UTF-8 octet';
  return { kind: 'unread', message: 'the text is not UTF-8', go, location };
}

function treeOf(text: string): YamlNode | undefined {
  return readTree(text).root;
}

/** The tree of a text; undefined if it is not YAML. */
function tryTree(text: string): YamlNode | undefined {
  try {
    return treeOf(text);
  } catch (error) {
    if (error instanceof YamlError) return undefined;
    throw error;
  }
}

/** Reads a document with the full reader, which also keeps integers that a float would round. */
function readYaml(path: string, text: string, line: number): FileDocument {
  try {
    const { root } = readTree(text);
    const { value, locate } = compose(root, { exactIntegers: true });
    return { kind: 'value', value, document: new OffsetDocument(path, text, line, locate), tree: () => root };
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    const location = new OffsetDocument(path, text, line, () => error.offset).locate([]);
    const go = `error converting YAML to JSON: ${error.original ?? error.message}`;
    return { kind: 'unread', message: `not valid YAML for OLM's tools: ${error.message}`, go, location };
  }
}

/** Whether a number stands somewhere that may have been written with more digits than a float keeps. */
function hasRoundedInteger(value: unknown): boolean {
  if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value);
  if (typeof value !== 'object' || value === null) return false;
  for (const member of Object.values(value)) if (hasRoundedInteger(member)) return true;
  return false;
}

const MAX_INT64 = 2n ** 63n - 1n;

/**
 * JSON as Kubernetes keeps an object: integers of 64 bits as they are, larger ones as
 * floats, no negative zero.
 */
export function objectNumbers(value: unknown): unknown {
  // Integers below an int64 come as floats: go-yaml reads them so.
  if (typeof value === 'bigint') return value > MAX_INT64 ? Number(value) : value;
  if (Object.is(value, -0)) return 0;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return keepSame(value, value.map(objectNumbers));
  const entries = Object.entries(value);
  const changed = entries.map(([key, member]) => [key, objectNumbers(member)] as const);
  return changed.every(([, member], i) => Object.is(member, entries[i]?.[1]))
    ? value
    : Object.fromEntries(changed);
}

/** The list from before if no item changed, so that the callers above see that nothing did. */
function keepSame(before: readonly unknown[], after: readonly unknown[]): readonly unknown[] {
  return after.every((item, i) => Object.is(item, before[i])) ? before : after;
}

/**
 * The group and version of an object's `apiVersion`, and its kind; undefined without a kind, or for an `apiVersion` of
 * several slashes.
 */
export function kindOf(value: unknown): { group: string; version: string; kind: string } | undefined {
  if (!isObject(value) || typeof value['kind'] !== 'string' || value['kind'] === '') return undefined;
  const apiVersion = typeof value['apiVersion'] === 'string' ? value['apiVersion'] : '';
  // Kubernetes reads both as no group and no version.
  const parts = apiVersion === '' || apiVersion === '/' ? [''] : apiVersion.split('/');
  if (parts.length > 2) return undefined;
  const version = parts.at(-1) ?? '';
  return { group: parts.length === 2 ? (parts[0] ?? '') : '', version, kind: value['kind'] };
}

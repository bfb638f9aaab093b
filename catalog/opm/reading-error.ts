/**
 * Why opm cannot read a file: the first reason, in opm's words. Opm names no file, and
 * counts the lines of YAML from where its document begins.
 *
 * @see https://github.com/kubernetes/apimachinery/blob/v0.36.3/pkg/util/yaml/decoder.go
 */
import { type Fields, foldKey, shapeOf } from '../fbc/blob.ts';
import { afterFirstBreak, lastInvalid, normalBreaks } from '../fbc/documents.ts';
import { PROPERTY_SHAPES } from '../fbc/property.ts';
import { splitDocuments, startsLikeJson } from '../fbc/split.ts';
import { appendToGroup } from '../go/grouped.ts';
import { JsonError, JsonReader, TooDeep } from '../go/json.ts';
import { escapeHtml } from '../go/json-marshal.ts';
import { compactJson, indentedJson, RawJson } from '../go/json-text.ts';
import { fitStruct, isObject, type Misfit } from '../go/shape.ts';
import { compareText, goQuoted } from '../go/text.ts';
import { compose } from '../yaml/compose.ts';
import { readTree } from '../yaml/parser.ts';
import { formatG } from '../yaml/scalar.ts';
import { YamlError } from '../yaml/tree.ts';

/**
 * What opm says of a file that it cannot read.
 *
 * @returns undefined when the file can be read, or when it is not known what opm says
 */
export function readingError(bytes: Uint8Array): string | undefined {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  // JSON's reader names the invalid byte, and counts it: the text has neither.
  if (startsLikeJson(text)) return lastInvalid(text, bytes) < 0 ? jsonStreamError(text) : undefined;
  const broken = text.includes('\ufffd') ? octetError(bytes) : undefined;
  if (!broken) return yamlStreamError(normalBreaks(text));
  // What is wrong before the octets is met first.
  const end = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(0, broken.at));
  const before = end.lastIndexOf('\n---') < 0 ? '' : end.slice(0, end.lastIndexOf('\n---') + 1);
  return yamlStreamError(normalBreaks(before)) ?? `error converting YAML to JSON: yaml: ${broken.problem}`;
}

/** Where go-yaml finds that bytes are not UTF-8, and what it says. */
function octetError(bytes: Uint8Array): { at: number; problem: string } | undefined {
  for (let at = 0; at < bytes.length; ) {
    const lead = bytes[at] ?? 0;
    // A character has as many bytes as its first one has leading ones; ASCII has none. Other first bytes have the width 0.
    const ones = Math.clz32((~lead & 0xff) << 24);
    const width = ones === 0 ? 1 : ones >= 2 && ones <= 4 ? ones : 0;
    if (width === 0) return { at, problem: 'invalid leading UTF-8 octet' };
    const trail = bytes.subarray(at + 1, at + width);
    // Lines reach go-yaml with a line feed behind them: a character is never cut off by the end.
    const isCut = trail.length < width - 1 || trail.some((octet) => (octet & 0xc0) !== 0x80);
    if (isCut) return { at, problem: 'invalid trailing UTF-8 octet' };
    const value = trail.reduce((sum, octet) => (sum << 6) + (octet & 0x3f), lead & (0xff >> (width + 1)));
    const least = [0, 0, 0x80, 0x800, 0x10000][width] ?? 0;
    if (width > 1 && value < least) return { at, problem: 'invalid length of a UTF-8 sequence' };
    if ((value >= 0xd800 && value <= 0xdfff) || value > 0x10ffff) {
      return { at, problem: 'invalid Unicode character' };
    }
    at += width;
  }
  return undefined;
}

/**
 * The first error of a file that begins as JSON. If decoding the first or the second value fails, the decoder tries the rest
 * as YAML; from the third on, it stays with JSON.
 *
 * Opm takes schema, package and name (`metaError`) while it decodes a value. It parses the blob (`blobError`) after that, so
 * an error there is final.
 */
function jsonStreamError(text: string): string | undefined {
  const reader = new JsonReader(text);
  for (let count = 0; ; count++) {
    const from = reader.offset;
    const { value, refusal } = nextJson(reader, text);
    // The end, or values nested so deeply that only Go reads on.
    if (refusal === undefined && value === undefined) return undefined;
    // What was refused while decoding: the text, or its value.
    const why = refusal ?? (value && metaError(value.value, value.raw));
    if (why !== undefined) return count > 1 ? why.bare : yamlAfterJson(text, from, why.first);
    // Opm shows a `null` of JSON, but nothing for a `null` of YAML.
    const unfit = value && blobError(value.value, 'null\n');
    if (unfit !== undefined) return unfit;
  }
}

/** What opm says of a value in a JSON stream. */
interface Refusal {
  /** Where only JSON is tried. */
  readonly bare: string;
  /** Where reading the rest as YAML failed, too. */
  readonly first: string;
}

/** The next value of a JSON stream with its text, nothing at the end, or opm's message about what is not JSON. Nothing for what is too deep. */
function nextJson(
  reader: JsonReader,
  text: string,
): { value?: { readonly value: unknown; readonly raw: string }; refusal?: Refusal } {
  const from = reader.offset;
  try {
    const read = reader.next();
    return read ? { value: { value: read.value, raw: text.slice(from, reader.offset).trim() } } : {};
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    if (error instanceof TooDeep) return {};
    const { message } = error;
    if (message === 'unexpected EOF') return { refusal: { bare: message, first: message } };
    const read = new TextEncoder().encode(text.slice(0, error.offset)).length + 1;
    const words = inBytes(message, text.codePointAt(error.offset) ?? 0);
    return { refusal: { bare: words, first: `json: offset ${read}: ${words}` } };
  }
}

/** Go reads bytes: it names the first one of a character as if it were a character of its own. */
function inBytes(message: string, character: number): string {
  if (character < 0x80) return message;
  const [byte = 0] = new TextEncoder().encode(String.fromCodePoint(character));
  const context = message.slice(message.lastIndexOf("' ") + 2);
  return `invalid character '${goQuoted(String.fromCharCode(byte)).slice(1, -1)}' ${context}`;
}

/** The rest of a file that began as JSON; where its first document is not YAML either, opm says what JSON said. */
function yamlAfterJson(text: string, from: number, said: string): string | undefined {
  const rest = afterFirstBreak(text, from);
  return rest ? yamlStreamError(normalBreaks(text.slice(rest.offset)), said) : said;
}

/**
 * The first error of YAML documents.
 *
 * @param said the message if the first document is wrong, because JSON was tried before
 */
function yamlStreamError(text: string, said?: string): string | undefined {
  let instead = said;
  for (const piece of splitDocuments(text)) {
    if ('rest' in piece) return instead ?? `invalid Yaml document separator: ${piece.rest}`;
    const { value, refusal } = yamlValue(text.slice(piece.opened, piece.to));
    if (refusal) return instead ?? (refusal.original && `error converting YAML to JSON: ${refusal.original}`);
    const why = value === null ? undefined : metaError(value, escapeHtml(compactJson(value)));
    if (why) return instead ?? `error unmarshaling JSON: while decoding JSON: ${why.bare}`;
    const unfit = blobError(value, '');
    if (unfit !== undefined) return unfit;
    instead = undefined;
  }
  return undefined;
}

/** The value of a text of YAML, or go-yaml's error. */
function yamlValue(text: string): { value?: unknown; refusal?: YamlError } {
  try {
    // Lines reach go-yaml with a line feed behind them.
    return { value: compose(readTree(text.endsWith('\n') ? text : `${text}\n`).root).value };
  } catch (error) {
    if (error instanceof YamlError) return { refusal: error };
    throw error;
  }
}

/** What keeps a value from having a schema, a package and a name. @param raw the value as Go was given it */
function metaError(value: unknown, raw: string): Refusal | undefined {
  const why = value === null ? undefined : isObject(value) ? keyError(value) : rootError(value, raw);
  return why === undefined ? undefined : { bare: why, first: why };
}

/** What opm says of a document that is not a mapping. It shows the whole value, and marks where it stopped. */
function rootError(value: unknown, raw: string): string {
  const misfit = 'into Go value of type map[string]interface {} at offset';
  const marker = '(indicated by <==)\n';
  if (Array.isArray(value)) {
    const text = indentedJson(new RawJson(raw));
    return `json: cannot unmarshal array ${misfit} 1 ${marker}[ <== ${text.slice(1)}`;
  }
  const found = typeof value === 'boolean' ? 'bool' : typeof value;
  return `json: cannot unmarshal ${found} ${misfit} ${new TextEncoder().encode(raw).length} ${marker}${raw} <==`;
}

/**
 * What opm says of keys that differ in case only, or of a schema, package or name that is not a text: it prints the value
 * with `%t`, which is for booleans, so that the words of all others begin with Go's complaint.
 */
function keyError(value: Fields): string | undefined {
  const keys = new Map<string, string[]>();
  for (const key of Object.keys(value)) {
    appendToGroup(keys, foldKey(key), key);
  }
  const doubles = [...keys]
    .filter(([, found]) => found.length > 1)
    .sort(([a], [b]) => compareText(a, b))
    .map(
      ([folded, found]) =>
        `duplicate keys for key ${goQuoted(folded)}: [${found.sort(compareText).join(' ')}]`,
    );
  if (doubles.length > 0) return doubles.length === 1 ? doubles[0] : `[${doubles.join(', ')}]`;
  for (const field of ['schema', 'package', 'name']) {
    const [key] = keys.get(field) ?? [];
    const found = key === undefined ? '' : value[key];
    if (typeof found !== 'string') {
      return `expected value for key ${goQuoted(key ?? '')} to be a string, got ${found === null ? '%!t(<nil>)' : goValue(found, asTruthValue)}: ${goValue(found)}`;
    }
  }
  return undefined;
}

/** A value as Go's `%v` prints it, its parts as `part` does. */
function goValue(value: unknown, part: (text: string, value: unknown) => string = (text) => text): string {
  if (Array.isArray(value)) return `[${value.map((item) => goValue(item, part)).join(' ')}]`;
  if (!isObject(value)) {
    const text = value === null ? '<nil>' : typeof value === 'number' ? formatG(value) : String(value);
    return part(text, value);
  }
  const members = Object.keys(value)
    .sort(compareText)
    .map((key) => `${part(key, key)}:${goValue(value[key], part)}`);
  return `map[${members.join(' ')}]`;
}

/** A part as Go's `%t` prints it: only true and false fit. */
function asTruthValue(text: string, value: unknown): string {
  if (typeof value === 'boolean' || value === null) return text;
  return `%!t(${typeof value === 'number' ? 'float64' : 'string'}=${text})`;
}

/** What opm calls the blobs of OLM's schemas in its messages. */
const WORDS: ReadonlyMap<string, string> = new Map([
  ['olm.package', 'package'],
  ['olm.channel', 'channel'],
  ['olm.bundle', 'bundle'],
  ['olm.deprecations', 'deprecation'],
]);

/** What keeps a value from being a blob. @param nothing what Go is left with of `null` */
function blobError(value: unknown, nothing: string): string | undefined {
  const fields = isObject(value) ? value : {};
  const schemaKey = Object.keys(fields).find((key) => foldKey(key) === 'schema');
  const schema = schemaKey === undefined ? '' : String(fields[schemaKey]);
  if (schema === '') {
    return `object '${value === null ? nothing : `${compactJson(value)}\n`}' is missing root schema field`;
  }
  const shape = shapeOf(schema);
  if (!shape) return undefined;
  const { value: known, misfits } = fitStruct(value, shape);
  const misfit = firstMisfit(misfits);
  if (misfit) return `parse ${WORDS.get(schema)}: ${misfit.go}`;
  return schema === 'olm.bundle' ? objectError(known) : undefined;
}

/** The misfit that Go meets first: it reads keys in byte order. */
function firstMisfit(misfits: readonly Misfit[]): Misfit | undefined {
  const [first] = [...misfits].sort(({ path: a }, { path: b }) => {
    const at = a.findIndex((step, i) => step !== b[i]);
    const [x, y] = [a[at], b[at]];
    return typeof x === 'number' && typeof y === 'number' ? x - y : compareText(String(x), String(y));
  });
  return first;
}

/** What opm says of the first bundle object that it cannot read. */
function objectError(bundle: Fields): string | undefined {
  const shape = PROPERTY_SHAPES.get('olm.bundle.object');
  const properties = Array.isArray(bundle['properties']) ? bundle['properties'] : [];
  for (const [i, property] of properties.entries()) {
    if (!shape || !isObject(property) || property['type'] !== 'olm.bundle.object') continue;
    const where = `read bundle objects: package ${quotedField(bundle, 'package')}, bundle ${quotedField(bundle, 'name')}:`;
    const { value: object, misfits } = fitStruct(property['value'] ?? {}, shape);
    const unfit = property['value'] === undefined ? 'unexpected end of JSON input' : firstMisfit(misfits)?.go;
    if (unfit !== undefined) return `${where} parse property at index ${i} as bundle object: ${unfit}`;
    const why = manifestError(typeof object['data'] === 'string' ? object['data'] : '');
    if (why !== undefined) return `${where} convert bundle object property at index ${i} to JSON: ${why}`;
  }
  return undefined;
}

function quotedField(bundle: Fields, field: string): string {
  return goQuoted(typeof bundle[field] === 'string' ? bundle[field] : '');
}

/**
 * What opm says of a manifest that is not YAML. It copies JSON without reading it.
 *
 * @param base64 the manifest, which was seen to be base64
 */
function manifestError(base64: string): string | undefined {
  const raw = Uint8Array.from(atob(base64.replaceAll(/[\r\n]/g, '')), (c) => c.charCodeAt(0));
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(raw);
  return startsLikeJson(text, text.length) ? undefined : yamlValue(text).refusal?.original;
}

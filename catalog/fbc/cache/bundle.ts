/**
 * A bundle as opm's registry API gives it (`api.Bundle`), in JSON: one file of the
 * cache for each entry of a channel.
 *
 * @see https://github.com/operator-framework/operator-registry/blob/master/pkg/api/model_to_api.go
 */
import { decodeBase64 } from '../../go/base64.ts';
import { ByteWriter, escapeHtml, goList, goObject, goString } from '../../go/json-marshal.ts';
import { compactJson, stringEnd } from '../../go/json-text.ts';
import { fitStruct, isObject, textOf } from '../../go/shape.ts';
import { parseJson } from '../../json.ts';
import { compose } from '../../yaml/compose.ts';
import { readTree } from '../../yaml/parser.ts';
import { fieldsOf } from '../blob.ts';
import { objectData, tryReadYaml } from '../bundle-object.ts';
import type { Bundle, Channel, Entry, Package } from '../model.ts';
import { PROPERTY_SHAPES } from '../property.ts';
import { startsLikeJson } from '../split.ts';
import { inventedCsv } from './csv.ts';

/** What the files of one bundle have in common, whatever the channel. */
export interface BundleParts {
  /** Members from `csvJson` to `version`, each with a comma before it. */
  readonly manifests: Uint8Array;
  /** The members `dependencies` and `properties`, written so. */
  readonly properties: Uint8Array;
}

const encoder = new TextEncoder();

/** Writes what does not depend on the channel. It is the costly part. */
export function bundleParts(pkg: Package, bundle: Bundle): BundleParts {
  const properties = bundle.properties.map(
    ({ type, value }): Property => ({ type, fields: valueFields(type, value), value }),
  );
  const version = textOf(properties.find(({ type }) => type === 'olm.package')?.fields['version']);
  // 16 KiB hold most bundles; the writer grows for others.
  const writer = new ByteWriter(1 << 14);
  writeManifests(writer, { pkg, bundle, version });
  writer.text(
    members([
      ['bundlePath', optional(bundle.image)],
      ['providedApis', apisJson(properties, 'olm.gvk')],
      ['requiredApis', apisJson(properties, 'olm.gvk.required')],
      ['version', optional(version)],
    ]),
  );
  // Manifests are in `csvJson` and `object`, not among the properties.
  const otherProperties = properties.filter(({ type }) => !MANIFEST_TYPES.has(type));
  const described = members([
    ['dependencies', goList(properties.flatMap(dependency))],
    ['properties', goList(otherProperties.map(({ type, value }) => typedJson(type, jsonText(value))))],
  ]);
  return { manifests: writer.finish(), properties: encoder.encode(described) };
}

/** The whole file of an entry: one line of JSON without a line break. */
export function bundleJson(
  channel: Channel,
  entry: Entry,
  { manifests, properties, deprecation }: BundleParts & { readonly deprecation: string | undefined },
): Uint8Array {
  const head = goObject([
    ['csvName', optional(entry.name)],
    ['packageName', optional(channel.package)],
    ['channelName', optional(channel.name)],
  ]);
  const tail = members([
    ['replaces', optional(entry.replaces)],
    ['skips', goList(entry.skips.map(goString))],
    ['deprecation', deprecation === undefined ? undefined : goObject([['message', optional(deprecation)]])],
  ]);
  // A kibibyte holds names and edges in most cases.
  const writer = new ByteWriter(manifests.length + properties.length + 1024);
  // The members of one object, of which the closing brace comes last.
  writer.text(head.slice(0, -1)).bytes(manifests);
  writer.text(members([['skipRange', optional(entry.skipRange)]])).bytes(properties);
  return writer.text(`${tail}}`).finish();
}

interface Property {
  readonly type: string;
  /** The value's fields under their proper names, where OLM knows the type. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly value: unknown;
}

const MANIFEST_TYPES: ReadonlySet<string> = new Set(['olm.bundle.object', 'olm.csv.metadata']);

/** The fields of a property's value as its type has them; empty for manifests, and for types that nobody knows. */
function valueFields(type: string, value: unknown): Readonly<Record<string, unknown>> {
  // Manifests and metadata are long, and read where they are needed.
  const shape = MANIFEST_TYPES.has(type) ? undefined : PROPERTY_SHAPES.get(type);
  return shape ? fitStruct(value, shape).value : {};
}

/** The manifests in the bundle, and the first of them that is a ClusterServiceVersion. */
function writeManifests(
  writer: ByteWriter,
  { pkg, bundle, version }: { pkg: Package; bundle: Bundle; version: string },
): void {
  const objects = bundle.properties
    .filter(({ type }) => type === 'olm.bundle.object')
    .map(({ value }) => manifestJson(objectData(value) ?? ''));
  const found = objects.find(isCsv);
  const metadata = bundle.properties.filter(({ type }) => type === 'olm.csv.metadata');
  // opm makes up a ClusterServiceVersion only where there is one property with its metadata.
  const [only] = metadata;
  const csv =
    found ??
    (metadata.length === 1 && only
      ? encoder.encode(inventedCsv(pkg, bundle, only.value, version))
      : undefined);
  if (csv) writer.text(',"csvJson":').quoted(csv);
  const listed = objects.length > 0 || !csv ? objects : [csv];
  for (const [i, object] of listed.entries()) writer.text(i === 0 ? ',"object":[' : ',').quoted(object);
  if (listed.length > 0) writer.text(']');
}

/** The ClusterServiceVersion among the manifests that a bundle holds; undefined when it holds none. */
export function csvOf(bundle: Bundle): Readonly<Record<string, unknown>> | undefined {
  const text = csvTextOf(bundle);
  const object = text === undefined ? undefined : parsedAsOpm(text);
  return isObject(object) ? object : undefined;
}

/** The text of a bundle's ClusterServiceVersion. As for opm, it begins like JSON, and need not be valid JSON. */
export function csvTextOf(bundle: Bundle): string | undefined {
  for (const { type, value } of bundle.properties) {
    if (type !== 'olm.bundle.object') continue;
    const manifest = manifestJson(objectData(value) ?? '');
    if (isCsv(manifest)) return new TextDecoder().decode(manifest);
  }
  return undefined;
}

/** A manifest as opm stores it: JSON unchanged, YAML converted to JSON. */
function manifestJson(base64: string): Uint8Array {
  const manifest = decodeBase64(base64);
  // Most manifests are JSON from their first byte on, and need not be decoded.
  if (manifest[0] === BRACE) return manifest;
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(manifest);
  if (startsLikeJson(text, text.length)) return manifest;
  return encoder.encode(escapeHtml(compactJson(compose(readTree(text).root).value)));
}

const BRACE = 0x7b;

const CSV_KIND = 'ClusterServiceVersion';

/** Whether a manifest is a ClusterServiceVersion, of whatever group: opm asks for a group and a version only. */
function isCsv(manifest: Uint8Array): boolean {
  const text = new TextDecoder().decode(manifest);
  // Few manifests name the kind at all; only those are parsed. An escape could hide it.
  if (!text.includes(CSV_KIND) && !text.includes('\\u')) return false;
  const object = parsedAsOpm(text);
  return isObject(object) && object['kind'] === CSV_KIND && isGroupVersion(object['apiVersion']);
}

/**
 * JSON that opm's YAML reader, which it reads manifests with, may refuse or read otherwise:
 * control characters, line separators, escapes that YAML lacks.
 */
const NOT_YAML = /^[\n\r ]*\t|[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]|\\\/|\\u[dD][89a-fA-F]|"<<"/;

/** Shorter than YAML's limit, which ends at the colon. */
const LONG_KEY = 1000;

/** Whether JSON holds a key that YAML's limit may refuse. */
function hasLongKey(text: string): boolean {
  for (let open = text.indexOf('"'); open >= 0; ) {
    const end = stringEnd(text, open);
    if (end - open > LONG_KEY && text.slice(end).trimStart().startsWith(':')) return true;
    open = text.indexOf('"', end);
  }
  return false;
}

/** A manifest as opm reads it, which is as YAML; undefined if it is not YAML. JSON that YAML reads alike is parsed as JSON: faster. */
function parsedAsOpm(text: string): unknown {
  if (NOT_YAML.test(text) || hasLongKey(text)) return tryReadYaml(text);
  try {
    return parseJson(text);
  } catch {
    return tryReadYaml(text);
  }
}

/** Kubernetes knows no kind of an object whose apiVersion has more than one slash. */
function isGroupVersion(apiVersion: unknown): boolean {
  return typeof apiVersion !== 'string' || apiVersion.split('/').length <= 2;
}

/** The APIs that properties of a type name, as JSON; undefined where there are none. */
function apisJson(properties: readonly Property[], type: string): string | undefined {
  const found = properties.filter((property) => property.type === type);
  return goList(
    found.map(({ fields }) =>
      goObject([
        ['group', optional(fields['group'])],
        ['version', optional(fields['version'])],
        ['kind', optional(fields['kind'])],
      ]),
    ),
  );
}

/** The API names a dependency as the `dependencies.yaml` of a bundle does; opm writes only these two types. */
function dependency({ type, fields, value }: Property): string[] {
  if (type === 'olm.gvk.required') return [typedJson('olm.gvk', jsonText(value))];
  if (type !== 'olm.package.required') return [];
  const wanted = { packageName: textOf(fields['packageName']), version: textOf(fields['versionRange']) };
  return [typedJson('olm.package', compactJson(wanted))];
}

/** A `Property` or `Dependency` of the API: its value is JSON in a string. */
function typedJson(type: string, json: string): string {
  return goObject([
    ['type', optional(type)],
    ['value', optional(json)],
  ]);
}

function jsonText(value: unknown): string {
  return compactJson(value ?? null);
}

/** Members of an object, each with a comma before it; without those that have no value. */
function members(list: readonly (readonly [key: string, json: string | undefined])[]): string {
  return list.flatMap(([key, json]) => (json === undefined ? [] : [`,"${key}":${json}`])).join('');
}

function optional(text: unknown): string | undefined {
  return typeof text === 'string' && text !== '' ? goString(text) : undefined;
}

/** The `skips` of each entry of a channel, null where an entry has none: Go writes an absent list as null. */
export function writtenSkips(channel: Channel): readonly (readonly string[] | null)[] {
  const entries = fieldsOf(channel)?.['entries'];
  if (!Array.isArray(entries)) return [];
  return entries.map((entry) => {
    const skips = isObject(entry) ? entry['skips'] : undefined;
    return Array.isArray(skips) ? skips.map(textOf) : null;
  });
}

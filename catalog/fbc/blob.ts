/**
 * From a document to a blob: the fields that every blob has, then the type that its
 * schema stands for.
 *
 * @see https://github.com/operator-framework/operator-registry/blob/master/alpha/declcfg/declcfg.go
 */
import { addFinding, type Finding } from '../finding.ts';
import {
  any,
  bytes,
  fitStruct,
  isObject,
  listOf,
  type Path,
  type StructShape,
  structShape,
  text,
  textOf,
} from '../go/shape.ts';
import { goTrimmed } from '../go/text.ts';
import { tryParseVersion } from '../version/version.ts';
import { compose } from '../yaml/compose.ts';
import { readTree } from '../yaml/parser.ts';
import { YamlError } from '../yaml/tree.ts';
import type { SourceDocument } from './document.ts';
import { ignoreHint } from './ignore.ts';
import type {
  Blob,
  Bundle,
  Channel,
  DeprecationEntry,
  Deprecations,
  Entry,
  PackageBlob,
  Property,
  RelatedImage,
} from './model.ts';
import { PROPERTY_SHAPES, packageProperty } from './property.ts';

export type Decoded =
  | { readonly kind: 'package'; readonly blob: PackageBlob }
  | { readonly kind: 'channel'; readonly blob: Channel }
  | { readonly kind: 'bundle'; readonly blob: Bundle }
  | { readonly kind: 'deprecations'; readonly blob: Deprecations }
  | { readonly kind: 'other'; readonly blob: Blob };

const PROPERTIES = listOf(structShape('property.Property', { type: text, value: any }));
const META = { schema: text, name: text, package: text };

const PACKAGE = structShape('declcfg.Package', {
  schema: text,
  name: text,
  defaultChannel: text,
  icon: structShape('declcfg.Icon', { base64data: bytes, mediatype: text }),
  description: text,
  properties: PROPERTIES,
});
const CHANNEL = structShape('declcfg.Channel', {
  ...META,
  entries: listOf(
    structShape('declcfg.ChannelEntry', { name: text, replaces: text, skips: listOf(text), skipRange: text }),
  ),
  properties: PROPERTIES,
});
const BUNDLE = structShape('declcfg.Bundle', {
  ...META,
  image: text,
  properties: PROPERTIES,
  relatedImages: listOf(structShape('declcfg.RelatedImage', { name: text, image: text })),
});
const DEPRECATIONS = structShape('declcfg.Deprecation', {
  schema: text,
  package: text,
  entries: listOf(
    structShape('declcfg.DeprecationEntry', {
      reference: structShape('declcfg.PackageScopedReference', { schema: text, name: text }),
      message: text,
    }),
  ),
});

/**
 * Reads a document as a blob, or says in `findings` why it is none.
 */
export function decodeBlob(
  value: unknown,
  document: SourceDocument,
  findings: Finding[],
): Decoded | undefined {
  const report = reportTo(document, findings);
  const meta = readMeta(value, report);
  if (!meta) return undefined;
  if (meta.schema === '') {
    report('fbc/schema-missing', 'the object has no schema', [], 'schema: olm.bundle');
    return undefined;
  }
  return decodeSchema({ ...meta, document }, reportTo(document, findings, packageOfMeta(meta)));
}

/** The package that a blob belongs to, or empty. */
function packageOfMeta({ schema, package: packageName, name }: Meta): string {
  return schema === 'olm.package' ? name : packageName;
}

/**
 * Reads no more of a document than what every blob has; a schema need not be there.
 * If it is not a valid blob, `findings` says why.
 */
export function decodeMeta(
  value: unknown,
  document: SourceDocument,
  findings: Finding[],
): (Meta & Pick<Blob, 'value'>) | undefined {
  return readMeta(value, reportTo(document, findings));
}

/**
 * Gives a function that adds findings about a document.
 *
 * @param ofPackage the package that alone is concerned; empty where nobody knows
 */
function reportTo(document: SourceDocument, findings: Finding[], ofPackage = ''): Report {
  return (rule, message, path, hint) => {
    const location = document.locate(path);
    // A file without objects may not be meant as a part of the catalog.
    const fix = (rule === 'fbc/object' ? ignoreHint(location.file) : undefined) ?? hint;
    addFinding(findings, {
      rule,
      severity: 'error',
      message,
      location,
      ...(fix === undefined ? {} : { hint: fix }),
      ...(ofPackage === '' ? {} : { package: ofPackage }),
    });
  };
}

/** The schema, package and name of a document; undefined, with a finding, for what opm does not accept as a blob. */
function readMeta(value: unknown, report: Report): (Meta & Pick<Blob, 'value'>) | undefined {
  if (value === null) {
    report(
      'fbc/schema-missing',
      'an empty document without an object',
      [],
      'remove the extra --- or the lone comment',
    );
    return undefined;
  }
  if (!isObject(value)) {
    const found = Array.isArray(value) ? 'a list' : `the ${typeof value} ${JSON.stringify(value)}`;
    report(
      'fbc/object',
      `expected an object, found ${found}`,
      [],
      'every document must be a mapping with a schema',
    );
    return undefined;
  }
  const meta = metaOf(value, report);
  return meta && { ...meta, value };
}

type Report = (rule: string, message: string, path: Path, hint?: string) => void;

/** What every blob has. */
export interface Meta {
  readonly schema: string;
  readonly package: string;
  readonly name: string;
}

/** The fields that every blob has, found whatever the case of their keys. */
function metaOf(value: Readonly<Record<string, unknown>>, report: Report): Meta | undefined {
  const { keys, isUnique } = foldedKeys(value, report);
  let sound = isUnique;
  const fields = { schema: '', package: '', name: '' };
  for (const field of ['schema', 'package', 'name'] as const) {
    const key = keys.get(field);
    if (key === undefined) continue;
    const found = value[key];
    if (typeof found === 'string') fields[field] = found;
    else {
      report(
        'fbc/field-type',
        `"${key}" must be a string, found ${JSON.stringify(found)}`,
        [key],
        `${key}: "${String(found)}"`,
      );
      sound = false;
    }
  }
  return sound ? fields : undefined;
}

/** The keys of an object by their folded spelling. Reports keys that differ only by case: opm refuses them. */
function foldedKeys(
  value: Readonly<Record<string, unknown>>,
  report: Report,
): { readonly keys: ReadonlyMap<string, string>; readonly isUnique: boolean } {
  const keys = new Map<string, string>();
  let isUnique = true;
  for (const key of Object.keys(value)) {
    const folded = foldKey(key);
    const other = keys.get(folded);
    if (other !== undefined) {
      report(
        'fbc/duplicate-key',
        `the keys "${other}" and "${key}" differ only by case`,
        [key],
        'keep one of them',
      );
      isUnique = false;
    }
    keys.set(folded, key);
  }
  return { keys, isUnique };
}

/**
 * Unicode's full case folding, by which opm finds keys that stand twice: ß and ẞ fold to ss, and the final ς to σ. Fields of its
 * structs are found by `foldCase` instead.
 *
 * @see https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/declcfg/declcfg.go
 */
export function foldKey(key: string): string {
  return key.toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ');
}

/** A blob decoded by its schema; undefined, with findings, if its fields do not fit. */
function decodeSchema(blob: Blob, report: Report): Decoded | undefined {
  switch (blob.schema) {
    case 'olm.package': {
      const fields = fittedFields(blob, PACKAGE, report);
      return fields && { kind: 'package', blob: packageOf(blob, fields) };
    }
    case 'olm.channel': {
      const fields = fittedFields(blob, CHANNEL, report);
      return fields && { kind: 'channel', blob: channelOf(blob, fields) };
    }
    case 'olm.bundle': {
      const fields = fittedFields(blob, BUNDLE, report);
      if (!fields) return undefined;
      const bundle = bundleOf(blob, fields);
      return { kind: 'bundle', blob: objectsRead(bundle, report) ? bundle : withoutObjects(bundle) };
    }
    case 'olm.deprecations': {
      const fields = fittedFields(blob, DEPRECATIONS, report);
      return fields && { kind: 'deprecations', blob: deprecationsOf(blob, fields) };
    }
    default:
      return { kind: 'other', blob };
  }
}

/** The fields of an object, by name. */
export type Fields = Readonly<Record<string, unknown>>;

const SHAPES: ReadonlyMap<string, StructShape> = new Map([
  ['olm.package', PACKAGE],
  ['olm.channel', CHANNEL],
  ['olm.bundle', BUNDLE],
  ['olm.deprecations', DEPRECATIONS],
]);

/** What OLM expects of the blobs of a schema; undefined for schemas that are not OLM's. */
export function shapeOf(schema: string): StructShape | undefined {
  return SHAPES.get(schema);
}

/** The fields that OLM knows of a blob, under their proper names; undefined for schemas that are not OLM's. */
export function fieldsOf(blob: Blob): Fields | undefined {
  const shape = SHAPES.get(blob.schema);
  return shape && fitStruct(blob.value, shape).value;
}

/**
 * The fields of a blob by its schema, as Go decodes them; undefined for other schemas. Reports invalid fields in
 * `findings`.
 */
export function readFields(blob: Blob, findings: Finding[]): Fields | undefined {
  const shape = SHAPES.get(blob.schema);
  return shape && fittedFields(blob, shape, reportTo(blob.document, findings));
}

/** The fields of a blob as Go decodes them; undefined, with findings, if one has another type. */
function fittedFields(blob: Blob, shape: StructShape, report: Report): Fields | undefined {
  const { value, misfits } = fitStruct(blob.value, shape);
  for (const { path, found, expected } of misfits) {
    report('fbc/field-type', `${pathText(path)} must be ${expected}, found ${foundText(found)}`, path);
  }
  return misfits.length === 0 ? value : undefined;
}

/** `entries[3].replaces`. */
export function pathText(path: Path): string {
  const steps = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`));
  return steps.join('').replace(/^\./, '');
}

/** A type of Go's JSON reader in words for a user. */
function foundText(found: string): string {
  switch (found) {
    case 'bool':
      return 'true or false (quote it to make it a string)';
    case 'number':
      return 'a number (quote it to make it a string)';
    case 'array':
      return 'a list';
    case 'object':
      return 'a mapping';
    case 'string':
      return 'text';
    default:
      return found;
  }
}

function listOfObjects(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map((item) => (isObject(item) ? item : {})) : [];
}

function propertiesOf(value: unknown): Property[] {
  return listOfObjects(value).map((property) => ({
    type: textOf(property['type']),
    value: property['value'],
  }));
}

/** A package out of the fields of its blob. A field of another type counts as empty. */
function packageOf(blob: Blob, fields: Fields): PackageBlob {
  const icon = fields['icon'];
  return {
    ...blob,
    defaultChannel: textOf(fields['defaultChannel']),
    description: textOf(fields['description']),
    properties: propertiesOf(fields['properties']),
    ...(isObject(icon)
      ? { icon: { base64data: textOf(icon['base64data']), mediatype: textOf(icon['mediatype']) } }
      : {}),
  };
}

/** An `olm.channel` blob from its decoded fields. */
function channelOf(blob: Blob, fields: Fields): Channel {
  // Entries name each other again and again: one string for each name is compared faster, and takes less memory.
  const names = new Map<string, string>();
  const nameOf = (value: unknown): string => {
    const text = textOf(value);
    const known = names.get(text);
    if (known === undefined) names.set(text, text);
    return known ?? text;
  };
  const entries = listOfObjects(fields['entries']).map(
    (entry, index): Entry => ({
      name: nameOf(entry['name']),
      replaces: nameOf(entry['replaces']),
      skips: Array.isArray(entry['skips']) ? entry['skips'].map(nameOf) : [],
      skipRange: textOf(entry['skipRange']),
      index,
    }),
  );
  return { ...blob, entries, properties: propertiesOf(fields['properties']) };
}

/** An `olm.bundle` blob from its decoded fields. */
function bundleOf(blob: Blob, fields: Fields): Bundle {
  const properties = propertiesOf(fields['properties']);
  const own = packageProperty(properties.find(({ type }) => type === 'olm.package')?.value);
  const relatedImages = listOfObjects(fields['relatedImages']).map(
    (image): RelatedImage => ({ name: textOf(image['name']), image: textOf(image['image']) }),
  );
  return {
    ...blob,
    image: textOf(fields['image']),
    properties,
    relatedImages,
    version: tryParseVersion(own.version ?? ''),
    release: own.release ?? '',
  };
}

/** Deprecations out of the fields of their blob, each entry with its place in the list. */
function deprecationsOf(blob: Blob, fields: Fields): Deprecations {
  const entries = listOfObjects(fields['entries']).map((entry, index): DeprecationEntry => {
    const reference = isObject(entry['reference']) ? entry['reference'] : {};
    return {
      schema: textOf(reference['schema']),
      name: textOf(reference['name']),
      message: textOf(entry['message']),
      index,
    };
  });
  return { ...blob, entries };
}

const BUNDLE_OBJECT = PROPERTY_SHAPES.get('olm.bundle.object');

/** Whether the manifests inside of a bundle can be read, as opm reads them while loading. */
function objectsRead(bundle: Bundle, report: Report): boolean {
  let sound = true;
  for (const [i, property] of bundle.properties.entries()) {
    if (property.type !== 'olm.bundle.object') continue;
    const defect = objectDefect(property.value);
    if (defect === undefined) continue;
    const message = `bundle "${bundle.name}": the olm.bundle.object at properties[${i}] ${defect}`;
    report('fbc/bundle-object', message, ['properties', i, 'value']);
    sound = false;
  }
  return sound;
}

/** A bundle whose manifests nobody knows; all the rest of it is known. */
function withoutObjects(bundle: Bundle): Bundle {
  const known = (one: Property): Property =>
    one.type === 'olm.bundle.object' ? { ...one, value: null } : one;
  return { ...bundle, properties: bundle.properties.map(known) };
}

/** What keeps a bundle object from being read: it must be a struct whose `data` is YAML. Undefined if it is sound. */
function objectDefect(value: unknown): string | undefined {
  if (value === undefined) return 'has no value';
  // Go decodes null into an empty object.
  if (!BUNDLE_OBJECT || value === null) return undefined;
  const { value: object, misfits } = fitStruct(value, BUNDLE_OBJECT);
  const [misfit] = misfits;
  if (misfit) return `must be ${misfit.expected}, found ${foundText(misfit.found)}`;
  const data = textOf(object['data']);
  // Most objects are JSON. In base64, `{"` begins with "ey": such an object is not decoded to be sure.
  if (data.startsWith('ey')) return undefined;
  return yamlDefect(data);
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/** Why opm cannot read a manifest in a bundle object; undefined if it can. */
function yamlDefect(base64: string): string | undefined {
  const raw = Uint8Array.from(atob(base64.replaceAll(/[\r\n]/g, '')), (c) => c.charCodeAt(0));
  const manifest = new TextDecoder('utf-8', { ignoreBOM: true }).decode(raw);
  // opm copies JSON without reading it.
  if (goTrimmed(manifest).startsWith('{')) return undefined;
  if (manifest.includes('\ufffd') && !isUtf8(raw)) return 'is not UTF-8';
  try {
    compose(readTree(manifest).root);
    return undefined;
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    return `is not YAML: ${error.message}`;
  }
}

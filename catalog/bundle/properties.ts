/**
 * The properties that opm gives a bundle in a catalog: those it was given, and those
 * that follow from its manifests.
 *
 * @see https://github.com/operator-framework/operator-registry/blob/master/pkg/registry/registry_to_model.go
 */

import { PROPERTY_SHAPES } from '../fbc/property.ts';
import { encodeBase64 } from '../go/base64.ts';
import { tryReadJson } from '../go/json.ts';
import { escapeHtml } from '../go/json-marshal.ts';
import { compactJson, jsonString, rawItems } from '../go/json-text.ts';
import { fitStruct, foldCase, isObject, textOf } from '../go/shape.ts';
import { compareText } from '../go/text.ts';
import { formatG } from '../yaml/scalar.ts';
import { type Api, checkOwned, providedApis, requiredApis } from './api.ts';
import { BundleRefusal, foldedMember, type RegistryBundle, type WrittenProperty } from './registry-bundle.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A property as it is written into a catalog. */
export interface RenderedProperty {
  readonly type: string;
  /** JSON text. */
  readonly json: string;
}

/**
 * Properties in opm's order: by type, then by the text of the value.
 *
 * @throws BundleRefusal
 */
export function renderedProperties(bundle: RegistryBundle): RenderedProperty[] {
  checkOwned(bundle);
  const given = givenProperties(bundle);
  const gvks = new Set(providedApis(bundle).map(gvkJson));
  const required = new Set(requiredApis(bundle).map(gvkJson));
  let packageValue = packageJson(bundle, bundle.package);
  const others: RenderedProperty[] = [];
  for (const property of given) {
    if (property.type === 'olm.gvk') gvks.add(gvkJson(fieldsOf(property)));
    // As in opm, the last one counts.
    else if (property.type === 'olm.package') packageValue = packageText(fieldsOf(property));
    else others.push({ type: property.type, json: property.json });
  }
  for (const dependency of bundle.dependencies) {
    if (dependency.type === 'olm.gvk') required.add(gvkJson(fieldsOf(dependency)));
    else if (dependency.type === 'olm.package') others.push(packageRequired(fieldsOf(dependency)));
    else others.push({ type: dependency.type, json: dependency.json });
  }
  const objects = bundle.objects.map(({ value }) => escapeHtml(compactJson(value)));
  return (
    [
      ...objects.map((json) => ({ type: 'olm.bundle.object', json: `{"data":"${base64Of(json)}"}` })),
      { type: 'olm.package', json: packageValue },
      ...[...gvks].map((json) => ({ type: 'olm.gvk', json })),
      ...[...required].map((json) => ({ type: 'olm.gvk.required', json })),
      ...others,
    ]
      .sort((a, b) => compareText(a.type, b.type) || compareText(a.json, b.json))
      // A property without a value has null in JSON.
      .map(({ type, json }) => ({ type, json: json === '' ? 'null' : json }))
  );
}

/** The version of the first `olm.package` that the bundle states: what opm puts into the template of an image. */
export function templateVersion(bundle: RegistryBundle): string {
  const [first] = givenProperties(bundle).filter(({ type }) => type === 'olm.package');
  return first ? textOf(fieldsOf(first)['version']) : '';
}

/**
 * The properties that a bundle states, each text once: those of `properties.yaml`, then the `olm.package` that follows
 * from its package and version, then those of its annotations.
 */
function givenProperties(bundle: RegistryBundle): WrittenProperty[] {
  const location = bundle.csv.document.locate(['metadata', 'annotations', 'olm.properties']);
  const own: WrittenProperty[] =
    bundle.package === ''
      ? []
      : [{ type: 'olm.package', json: packageJson(bundle, bundle.package), location }];
  const all = [
    ...bundle.properties,
    ...own,
    ...annotatedProperties(bundle.csv.value).map((p) => ({ ...p, location })),
  ];
  const seen = new Set<string>();
  return all.filter(({ type, json }) => {
    const text = `type: ${type}, value: ${json}`;
    return seen.has(text) ? false : seen.add(text);
  });
}

/**
 * The properties in the annotation `olm.properties`; empty if it is not a JSON list. An item that is not an object becomes
 * a property without type and value: Go's reader notes the error, keeps the empty item and reads on.
 */
export function annotatedProperties(csv: Fields): RenderedProperty[] {
  // opm reads these keys in any case.
  const metadata = foldedMember(csv, 'metadata');
  const found = isObject(metadata) ? foldedMember(metadata, 'annotations') : undefined;
  const annotations = isObject(found) ? found : {};
  const text = textOf(annotations['olm.properties']).trim();
  if (!Array.isArray(tryReadJson(text))) return [];
  return rawItems(text).map(({ text: item }) => {
    // Go takes the last of equal keys, in any case. `type` is text there, and `value` raw JSON: it keeps whatever is written.
    const written = item.startsWith('{') ? rawItems(item) : [];
    const lastOf = (name: string, isWanted: (json: string) => boolean): string | undefined =>
      written.findLast(
        ({ key = '', text: json }) => foldCase(textOf(tryReadJson(key))) === name && isWanted(json),
      )?.text;
    const type = lastOf('type', (json) => json.startsWith('"')) ?? '';
    return { type: textOf(tryReadJson(type)), json: lastOf('value', () => true) ?? '' };
  });
}

/** The fields of a property of a known type. @throws BundleRefusal */
function fieldsOf({ type, json, location }: WrittenProperty): Fields {
  const shape = PROPERTY_SHAPES.get(type);
  const value = json === '' ? undefined : tryReadJson(json);
  // Go leaves a struct as it was for null.
  if (value === null) return {};
  const { value: fields, misfits } = shape ? fitStruct(value, shape) : { value: {}, misfits: [] };
  const [first] = misfits;
  if (first || value === undefined) {
    // The path is empty where the value is not an object.
    const found = first
      ? `${first.path.join('.') || 'the value'} must be ${first.expected}`
      : 'the value is missing';
    throw new BundleRefusal('bundle/property', `property ${JSON.stringify(type)}: ${found}`, location);
  }
  return fields;
}

/** The JSON of an API without its plural, in one order of fields: equal ones are found by their text. */
function gvkJson(gvk: Fields | Api): string {
  const { group, kind, version } = gvk as Fields;
  return `{"group":${quote(group)},"kind":${quote(kind)},"version":${quote(version)}}`;
}

function quote(value: unknown): string {
  return jsonString(textOf(value));
}

/** The JSON of an `olm.package`, its fields in Go's order; an empty release is left out. */
function packageText({ packageName, version, release }: Fields): string {
  const tail = textOf(release) === '' ? '' : `,"release":${quote(release)}`;
  return `{"packageName":${quote(packageName)},"version":${quote(version)}${tail}}`;
}

function packageRequired({ packageName, version }: Fields): RenderedProperty {
  const json = `{"packageName":${quote(packageName)},"versionRange":${quote(version)}}`;
  return { type: 'olm.package.required', json };
}

function packageJson(bundle: RegistryBundle, packageName: string): string {
  const { version, release } = versionOf(bundle);
  return packageText({ packageName, version, release });
}

/** The version and the release that the ClusterServiceVersion gives, as written. @throws BundleRefusal */
export function versionOf({ csv }: Pick<RegistryBundle, 'csv'>): { version: string; release: string } {
  const spec = isObject(csv.value['spec']) ? csv.value['spec'] : {};
  const version = spec['version'] ?? '';
  const release = spec['release'] ?? '';
  const refuse = (field: string, expected: string, found: unknown): never => {
    const message = `${JSON.stringify(csv.name)}: spec.${field} must be ${expected}, found ${compactJson(found)}`;
    throw new BundleRefusal('csv/type', message, csv.document.locate(['spec', field]));
  };
  if (typeof version !== 'string') return refuse('version', 'text', version);
  if (typeof release === 'string') return { version, release };
  if (typeof release !== 'number' && typeof release !== 'bigint') {
    return refuse('release', 'a string or a number', release);
  }
  return { version, release: releaseText(Number(release)) };
}

/** A release that is a number, as opm writes it: whole if it fits an int64, else as Go's %g. */
function releaseText(release: number): string {
  const isInt64 = Number.isInteger(release) && release >= -(2 ** 63) && release < 2 ** 63;
  return isInt64 ? String(BigInt(release)) : formatG(release);
}

function base64Of(json: string): string {
  return encodeBase64(new TextEncoder().encode(json));
}

/**
 * Rendering: blobs to bytes, in opm's order and with opm's fields.
 *
 * @see https://github.com/operator-framework/operator-registry/blob/master/alpha/declcfg/write.go
 */

import { indentedJson, indentMembers, jsonString, RawJson } from '../go/json-text.ts';
import { isObject, textOf } from '../go/shape.ts';
import { sortAsGo } from '../go/sort.ts';
import { compareText } from '../go/text.ts';
import { emitYaml } from '../yaml/emit.ts';
import type { Json } from '../yaml/scalar.ts';
import { fieldsOf } from './blob.ts';
import { inByteOrder, indentedGoJson } from './engine-json.ts';
import type { Blob, ByKind } from './model.ts';

export type RenderFormat = 'json' | 'yaml';

/** Members of a blob in the order in which Go's struct has them; a member that is left out is undefined. */
type Members = readonly (readonly [key: string, value: unknown])[];

/**
 * The blobs in the order in which opm writes them: package by package, and in each its
 * package blob, channels and bundles by name, other blobs by schema, deprecations; at
 * the end what belongs to no package. Blobs of OLM's schemas without a package are lost,
 * as in opm (the rules report them).
 */
export function renderOrder<T extends Named>(blobs: ByKind<T>): T[] {
  const { packages, rest } = renderGroups(blobs);
  return [...packages.flatMap(([, group]) => group), ...rest];
}

/** What the order goes by. */
type Named = Pick<Blob, 'schema' | 'package' | 'name'>;

/**
 * The blobs in the order of `opm render`, in groups: each package by name with its blobs, then the blobs of no package.
 */
export function renderGroups<T extends Named>(
  blobs: ByKind<T>,
): {
  readonly packages: readonly (readonly [name: string, blobs: readonly T[]])[];
  readonly rest: readonly T[];
} {
  const packages = new Map<string, Group<T>>();
  const packageNamed = (name: string): Group<T> => {
    let found = packages.get(name);
    if (!found) {
      found = { packages: [], channels: [], bundles: [], others: [], deprecations: [] };
      packages.set(name, found);
    }
    return found;
  };
  for (const blob of blobs.packages) if (blob.name !== '') packageNamed(blob.name).packages.push(blob);
  for (const blob of blobs.channels) if (blob.package !== '') packageNamed(blob.package).channels.push(blob);
  for (const blob of blobs.bundles) if (blob.package !== '') packageNamed(blob.package).bundles.push(blob);
  for (const blob of blobs.others) if (blob.package !== '') packageNamed(blob.package).others.push(blob);
  for (const blob of blobs.deprecations)
    if (blob.package !== '') packageNamed(blob.package).deprecations.push(blob);
  return {
    packages: [...packages]
      .sort(([a], [b]) => compareText(a, b))
      .map(([name, group]) => [name, packageOrder(group)]),
    rest: blobs.others.filter((blob) => blob.package === ''),
  };
}

type Group<T> = { readonly [Kind in keyof ByKind<T>]: T[] };

/** The blobs of a package in the order in which opm writes them. */
function packageOrder<T extends Named>(group: Group<T>): T[] {
  return [
    ...group.packages,
    ...sortAsGo(group.channels, byName),
    ...sortAsGo(group.bundles, byName),
    ...group.others.sort((a, b) => compareText(a.schema, b.schema)),
    ...group.deprecations,
  ];
}

function byName(a: Named, b: Named): boolean {
  return compareText(a.name, b.name) < 0;
}

/**
 * The fields of a blob that opm writes, in its order: unknown fields of OLM's own
 * schemas are left out, related images are sorted, manifests stand last among the
 * properties. Blobs of other schemas are written whole.
 */
function membersOf(blob: Blob): Members | undefined {
  const fields = fieldsOf(blob);
  if (!fields) return undefined;
  switch (blob.schema) {
    case 'olm.package':
      return [
        ['schema', blob.schema],
        ['name', textOf(fields['name'])],
        ['defaultChannel', textOf(fields['defaultChannel'])],
        ['icon', isObject(fields['icon']) ? iconMembers(fields['icon']) : undefined],
        ['description', textOf(fields['description']) || undefined],
        ['properties', propertyList(fields['properties'])],
      ];
    case 'olm.channel':
      return [
        ['schema', blob.schema],
        ['name', textOf(fields['name'])],
        ['package', textOf(fields['package'])],
        ['entries', list(fields['entries'])?.map(entryMembers) ?? null],
        ['properties', propertyList(fields['properties'])],
      ];
    case 'olm.bundle':
      return [
        ['schema', blob.schema],
        ['name', textOf(fields['name']) || undefined],
        ['package', textOf(fields['package']) || undefined],
        ['image', textOf(fields['image'])],
        ['properties', propertyList(manifestsLast(list(fields['properties'])))],
        ['relatedImages', relatedImageList(list(fields['relatedImages']))],
      ];
    default:
      return [
        ['schema', blob.schema],
        ['package', textOf(fields['package'])],
        ['entries', list(fields['entries'])?.map(deprecationMembers) ?? null],
      ];
  }
}

/** A list of members, as opposed to a list of plain values. */
class Struct {
  readonly members: Members;
  constructor(members: Members) {
    this.members = members.filter(([, value]) => value !== undefined);
  }
}

type Fields = Readonly<Record<string, unknown>>;

function list(value: unknown): readonly Fields[] | undefined {
  return Array.isArray(value) ? value.map((item) => (isObject(item) ? item : {})) : undefined;
}

/** Go's decoder of base64 passes over line ends, and its encoder writes none. */
function iconMembers(icon: Fields): Struct {
  const data = icon['base64data'];
  return new Struct([
    ['base64data', typeof data === 'string' ? data.replaceAll(/[\r\n]/g, '') : null],
    ['mediatype', textOf(icon['mediatype'])],
  ]);
}

/** An entry of a channel in the order in which opm writes its fields; those that are empty are left out. */
function entryMembers(entry: Fields): Struct {
  const skips = entry['skips'];
  return new Struct([
    ['name', textOf(entry['name'])],
    ['replaces', textOf(entry['replaces']) || undefined],
    ['skips', Array.isArray(skips) && skips.length > 0 ? skips.map(textOf) : undefined],
    ['skipRange', textOf(entry['skipRange']) || undefined],
  ]);
}

/** An entry of `olm.deprecations` in the order in which opm writes its fields. */
function deprecationMembers(entry: Fields): Struct {
  const reference = isObject(entry['reference']) ? entry['reference'] : {};
  return new Struct([
    [
      'reference',
      new Struct([
        ['schema', textOf(reference['schema'])],
        ['name', textOf(reference['name']) || undefined],
      ]),
    ],
    ['message', textOf(entry['message'])],
  ]);
}

const MANIFESTS: ReadonlySet<string> = new Set(['olm.bundle.object', 'olm.csv.metadata']);

/** Properties with the manifests behind all others. */
function manifestsLast(properties: readonly Fields[] | undefined): readonly Fields[] | undefined {
  if (!properties) return undefined;
  const isManifest = (property: Fields): boolean => MANIFESTS.has(textOf(property['type']));
  return [...properties.filter((property) => !isManifest(property)), ...properties.filter(isManifest)];
}

/** Properties in the order in which opm writes their fields; undefined for an empty list. */
function propertyList(value: unknown): readonly Struct[] | undefined {
  const properties = list(value);
  if (!properties || properties.length === 0) return undefined;
  return properties.map(
    (property) =>
      new Struct([
        ['type', textOf(property['type'])],
        ['value', property['value'] ?? null],
      ]),
  );
}

/** Related images in opm's order, which goes by image. Go's sort need not keep the order of equal ones. */
function relatedImageList(images: readonly Fields[] | undefined): readonly Struct[] | undefined {
  if (!images || images.length === 0) return undefined;
  const named = images.map((image) => ({ name: textOf(image['name']), image: textOf(image['image']) }));
  return sortAsGo(named, (a, b) => compareText(a.image, b.image) < 0).map(
    ({ name, image }) =>
      new Struct([
        ['name', name],
        ['image', image],
      ]),
  );
}

/**
 * One blob as opm writes it.
 *
 * @throws EmitError for what YAML cannot hold
 */
export function renderBlob(blob: Blob, format: RenderFormat): string {
  return format === 'json' ? renderJson(blob) : renderYaml(blob);
}

/**
 * One blob as opm writes it in YAML, with the separator before it.
 *
 * @throws EmitError for control characters, keys of over 1024 bytes
 */
export function renderYaml(blob: Blob): string {
  const members = membersOf(blob);
  return `---\n${emitYaml(plainJson(members ? new Struct(members) : blob.value))}`;
}

/** JSON without structs, and without what JSON cannot hold: Go writes halves of surrogate pairs as U+FFFD. */
function plainJson(value: unknown): Json {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  if (typeof value !== 'object' || value === null) return null;
  if (value instanceof RawJson) return plainJson(value.value);
  if (Array.isArray(value)) return value.map(plainJson);
  const members = value instanceof Struct ? value.members : Object.entries(value);
  return Object.fromEntries(members.map(([key, member]) => [key.toWellFormed(), plainJson(member)]));
}

/** One blob as opm writes it in JSON, with the line break behind it. */
export function renderJson(blob: Blob): string {
  const members = membersOf(blob);
  const value = members ? new Struct(members) : blob.value;
  const plain = plainInOrder(value);
  const json = plain === undefined ? undefined : indentedGoJson(plain);
  if (json !== undefined) return `${json}\n`;
  const parts: string[] = [];
  writeJson(value, 0, parts);
  parts.push('\n');
  return parts.join('');
}

/**
 * A value for the engine's JSON writer: structs as objects with their fields in order, all else in byte order.
 *
 * @returns undefined if the engine would write a part of it otherwise than Go, as a negative zero
 */
function plainInOrder(value: unknown): unknown {
  if (Array.isArray(value) && value[0] instanceof Struct) {
    const items = value.map(plainInOrder);
    return items.includes(undefined) ? undefined : items;
  }
  if (!(value instanceof Struct)) return inByteOrder(value);
  const object: Record<string, unknown> = {};
  for (const [key, member] of value.members) {
    const plain = plainInOrder(member);
    if (plain === undefined) return undefined;
    object[key] = plain;
  }
  return object;
}

/** Writes what the engine's own writer would write otherwise than Go. */
function writeJson(value: unknown, level: number, parts: string[]): void {
  if (value instanceof Struct) {
    indentMembers(value.members.length, level, '{}', parts, (i) => {
      const [key, member] = value.members[i] ?? ['', null];
      parts.push(jsonString(key), ': ');
      writeJson(member, level + 1, parts);
    });
  } else if (Array.isArray(value) && value[0] instanceof Struct) {
    indentMembers(value.length, level, '[]', parts, (i) => writeJson(value[i], level + 1, parts));
  } else parts.push(indentedJson(value, level));
}

/**
 * A bundle as opm and OLM's package server read it: the first document of each file,
 * the first ClusterServiceVersion, the first files of metadata that hold what is looked
 * for.
 *
 * @see https://github.com/operator-framework/operator-registry/blob/master/pkg/registry/parse.go
 */
import { partOfDocument, type SourceDocument } from '../fbc/document.ts';
import { type Finding, type Location, startOf } from '../finding.ts';
import { escapeHtml } from '../go/json-marshal.ts';
import { compactJson, rawItems } from '../go/json-text.ts';
import { CRD_V1, CRD_V1BETA1 } from '../go/kubernetes-types.ts';
import {
  any,
  fitStruct,
  foldCase,
  isObject,
  listOf,
  nameLike,
  type Path,
  type StructShape,
  structShape,
  text,
} from '../go/shape.ts';
import { compareText } from '../go/text.ts';
import { parsedJson } from '../json.ts';
import { type CatalogSource, SKIPPED_LINKS } from '../source.ts';
import { asText } from '../yaml/resolve.ts';
import { CSV_META } from './csv-shape.ts';
import { firstValue, kindOf, type ManifestFile, objectNumbers, type ReadValue } from './manifest.ts';
import { type BundleFiles, fileName, isDirect, readBundleFiles } from './read.ts';

type Fields = Readonly<Record<string, unknown>>;

/** An object that a bundle installs on the cluster. */
export interface BundleObject {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly name: string;
  readonly value: Fields;
  readonly document: SourceDocument;
}

/** A property or dependency with its value as it is spelled. */
export interface WrittenProperty {
  readonly type: string;
  /** JSON text. */
  readonly json: string;
  readonly location: Location;
}

export interface RegistryBundle {
  readonly name: string;
  /** From the annotations; may be empty. */
  readonly package: string;
  readonly channels: readonly string[];
  readonly defaultChannel: string;
  readonly csv: BundleObject;
  /** In the order of their files' names, the ClusterServiceVersion among them. */
  readonly objects: readonly BundleObject[];
  readonly properties: readonly WrittenProperty[];
  readonly dependencies: readonly WrittenProperty[];
}

export interface ReadBundle {
  /** Undefined when opm would refuse it. */
  readonly bundle: RegistryBundle | undefined;
  readonly findings: readonly Finding[];
}

/** Why a bundle cannot be read, with the rule that it breaks. */
export class BundleRefusal extends Error {
  readonly rule: string;
  readonly location: Location;

  constructor(rule: string, message: string, location: Location) {
    super(message);
    this.name = 'BundleRefusal';
    this.rule = rule;
    this.location = location;
  }
}

/** Reads a bundle as opm does. What opm passes over in silence is not reported here. */
export async function readBundle(source: CatalogSource): Promise<ReadBundle> {
  return bundleOf(await readBundleFiles(source));
}

/** The files of a bundle as opm reads them. */
export function bundleOf(files: BundleFiles): ReadBundle {
  try {
    return { bundle: registryBundle(files), findings: [] };
  } catch (error) {
    if (!(error instanceof BundleRefusal)) throw error;
    const { rule, message, location } = error;
    return { bundle: undefined, findings: [{ rule, severity: 'error', message, location }] };
  }
}

/**
 * A bundle's directory as opm's registry reads it: the objects of the manifests, and the metadata.
 *
 * @throws BundleRefusal
 */
function registryBundle(files: BundleFiles): RegistryBundle {
  for (const { path, why } of files.unreadable) {
    if (SKIPPED_LINKS.includes(why)) continue;
    throw new BundleRefusal('manifest/unreadable', `${path} is ${why}`, startOf(path));
  }
  const objects = bundleObjects(files.manifests.filter(isDirect));
  if (objects.length === 0)
    throw new BundleRefusal('manifest/csv-missing', 'no manifests', startOf('manifests'));
  const csv = objects.find(({ kind }) => kind === 'ClusterServiceVersion');
  if (!csv) throw new BundleRefusal('manifest/csv-missing', 'no ClusterServiceVersion', startOf('manifests'));
  const { metadata } = fitObject(csv, CSV_META);
  const name = isObject(metadata) && typeof metadata['name'] === 'string' ? metadata['name'] : '';
  // opm keeps the spec as it is written: null passes, and a missing one does not.
  if (!('spec' in csv.value)) throw refusalAt(csv, [], 'the ClusterServiceVersion has no spec');
  for (const crd of objects) checkCrd(crd);
  return { csv, objects, name, ...metadataOf(files.metadata.filter(isDirect)) };
}

function refusalAt(object: BundleObject, path: Path, message: string): BundleRefusal {
  const rule = object.kind === 'CustomResourceDefinition' ? 'crd/type' : 'csv/type';
  return new BundleRefusal(rule, message, object.document.locate(path));
}

/** The fields of an object that a Go type has. @throws BundleRefusal when it does not fit */
export function fitObject(object: BundleObject, shape: StructShape, value: unknown = object.value): Fields {
  const { value: fitted, misfits } = fitStruct(value, shape);
  const [first] = misfits;
  if (first) {
    const message = `${object.kind} ${JSON.stringify(object.name)}: ${first.path.join('.') || 'it'} must be ${first.expected}, found ${first.found}`;
    throw refusalAt(object, first.path, message);
  }
  return fitted;
}

/**
 * Checks that a CRD fits its type, into which opm decodes it.
 *
 * @throws BundleRefusal
 */
function checkCrd(object: BundleObject): void {
  if (object.kind !== 'CustomResourceDefinition') return;
  // opm decodes only these two.
  if (object.version !== 'v1' && object.version !== 'v1beta1') return;
  if (object.group !== 'apiextensions.k8s.io') {
    throw refusalAt(object, ['apiVersion'], `a CustomResourceDefinition of the group "${object.group}"`);
  }
  fitObject(object, object.version === 'v1' ? CRD_V1 : CRD_V1BETA1);
}

/** The first document of each file; opm passes over hidden files and further ClusterServiceVersions. */
function bundleObjects(files: readonly ManifestFile[]): BundleObject[] {
  const objects: BundleObject[] = [];
  let hasCsv = false;
  for (const file of files) {
    if (fileName(file).startsWith('.')) continue;
    const object = objectIn(file);
    if (!object) continue;
    if (object.kind === 'ClusterServiceVersion') {
      if (hasCsv) continue;
      hasCsv = true;
    }
    objects.push(object);
  }
  return objects;
}

/** The object in a file's first document; undefined when there is none. */
export function objectIn(file: ManifestFile): BundleObject | undefined {
  const first = firstValue(file);
  return first && objectOf(first);
}

/** The objects in all of a file's documents, and of lists in them. */
export function objectsIn(file: ManifestFile): BundleObject[] {
  return file.documents.flatMap((document) => {
    const object = document.kind === 'value' ? objectOf(document) : undefined;
    return object ? (itemsOf(object) ?? object) : [];
  });
}

/** The objects in a list; undefined for an object that is not a list. */
export function itemsOf({ kind, value, document }: BundleObject): BundleObject[] | undefined {
  const items = value['items'];
  if (!kind.endsWith('List') || !Array.isArray(items)) return undefined;
  return items.flatMap(
    (item: unknown, i) => objectOf({ value: item, document: partOfDocument(document, ['items', i]) }) ?? [],
  );
}

/** The object of a document, its numbers as Kubernetes keeps them; undefined if it has no kind. */
function objectOf(first: { value: unknown; document: SourceDocument }): BundleObject | undefined {
  const kind = kindOf(first.value);
  if (!kind || !isObject(first.value)) return undefined;
  const value = objectNumbers(first.value) as Fields;
  const metadata = value['metadata'];
  const name = isObject(metadata) && typeof metadata['name'] === 'string' ? metadata['name'] : '';
  return { ...kind, name, value, document: first.document };
}

const PREFIX = 'operators.operatorframework.io.bundle.';
const ANNOTATIONS = structShape('registry.AnnotationsFile', {
  annotations: structShape('registry.Annotations', {
    [`${PREFIX}package.v1`]: text,
    [`${PREFIX}channels.v1`]: text,
    [`${PREFIX}channel.default.v1`]: text,
  }),
});

type Metadata = Pick<
  RegistryBundle,
  'package' | 'channels' | 'defaultChannel' | 'properties' | 'dependencies'
>;

/** What opm's registry reads of `metadata/`. @throws BundleRefusal if no file has annotations */
function metadataOf(files: readonly ManifestFile[]): Metadata {
  const annotations = firstAnnotations(files)?.annotations;
  if (!annotations) {
    const message = 'metadata/ has no file with the annotations of a bundle';
    throw new BundleRefusal('annotations/missing', message, startOf('metadata'));
  }
  const channels = annotations[`${PREFIX}channels.v1`] ?? '';
  return {
    package: annotations[`${PREFIX}package.v1`] ?? '',
    channels: channels === '' ? [] : channels.split(','),
    defaultChannel: annotations[`${PREFIX}channel.default.v1`] ?? '',
    dependencies: firstFilled(files, 'dependencies'),
    properties: firstFilled(files, 'properties'),
  };
}

/**
 * A file's annotations of a bundle; undefined if it has none, or if they are not text: then opm looks into the next
 * file.
 */
function annotationsIn(file: ManifestFile): Readonly<Record<string, string>> | undefined {
  const first = firstValue(file);
  const { value, misfits } = fitStruct(first && readInto(ANNOTATIONS, first), ANNOTATIONS);
  const found = value['annotations'];
  if (misfits.length > 0 || !isObject(found)) return undefined;
  return Object.values(found).some((annotation) => annotation !== '')
    ? (found as Readonly<Record<string, string>>)
    : undefined;
}

interface Annotated {
  readonly annotations: Readonly<Record<string, string>>;
  readonly file: ManifestFile;
}

/** The annotations that count: those of the first file that has any. */
function firstAnnotations(files: readonly ManifestFile[]): Annotated | undefined {
  for (const file of files) {
    const annotations = annotationsIn(file);
    if (annotations) return { annotations, file };
  }
  return undefined;
}

/**
 * The package that the annotations in `metadata/` name, and where; undefined when no file there holds annotations of a
 * bundle, or those name no package.
 */
export function packageNamedIn(
  files: readonly ManifestFile[],
): { name: string; location: Location } | undefined {
  const { annotations, file } = firstAnnotations(files) ?? {};
  const name = annotations?.[`${PREFIX}package.v1`] ?? '';
  const document = file && firstValue(file)?.document;
  return name === '' || !document
    ? undefined
    : { name, location: document.locate(['annotations', `${PREFIX}package.v1`]) };
}

/** A document's value as Go reads it into a type: of YAML, scalars become the text that is wanted. */
export function readInto(shape: StructShape, { value, tree }: ReadValue): unknown {
  const root = fitStruct(value, shape).misfits.length > 0 ? tree() : undefined;
  return root ? asText(value, shape, root) : value;
}

/** The properties or dependencies of the first file that has any. */
function firstFilled(files: readonly ManifestFile[], key: 'dependencies' | 'properties'): WrittenProperty[] {
  for (const file of files) {
    const found = propertiesIn(file, key);
    if (found && found.length > 0) return found;
  }
  return [];
}

const PROPERTIES = listOf(structShape('registry.Property', { type: text, value: any }));

/** The entries of a list of properties; undefined when the file does not hold such a list. */
export function propertiesIn(
  file: ManifestFile,
  key: 'dependencies' | 'properties',
): WrittenProperty[] | undefined {
  const first = firstValue(file);
  if (!first || !isObject(first.value)) return undefined;
  const shape = structShape('registry.PropertiesFile', { [key]: PROPERTIES });
  const fields = readInto(shape, first);
  // Go reads the members in byte order; the last one counts.
  const [name, list] = Object.entries(isObject(fields) ? fields : {})
    .filter(([member]) => foldCase(member) === key)
    .sort(([a], [b]) => compareText(a, b))
    .at(-1) ?? [key, undefined];
  if (!Array.isArray(list)) return undefined;
  const written = first.json === undefined ? undefined : valuesAsSpelled(first.json, key);
  const entries: WrittenProperty[] = [];
  for (const [i, item] of list.entries()) {
    const property = isObject(item) ? item : {};
    const type = foldedMember(property, 'type') ?? '';
    if (typeof type !== 'string' || (item !== null && !isObject(item))) return undefined;
    const value = foldedMember(property, 'value');
    const json = written?.[i] ?? (value === undefined ? '' : escapeHtml(compactJson(value)));
    entries.push({ type, json, location: first.document.locate([name, i]) });
  }
  return entries;
}

/**
 * The member `value` of each item of a list, as the JSON text spells it: opm passes on this spelling. Empty for an item
 * without one. As in Go, the case of a key does not matter, and the last of equal keys counts.
 */
function valuesAsSpelled(json: string, key: string): string[] {
  const lastOf = (text: string, name: string): string =>
    rawItems(text).findLast((one) => foldCase(String(parsedJson(one.key ?? ''))) === name)?.text ?? '';
  return rawItems(lastOf(json, key)).map(({ text: item }) =>
    item.startsWith('{') ? lastOf(item, 'value') : '',
  );
}

/** A member whatever the case of its key. */
export function foldedMember(object: Fields, name: string): unknown {
  if (Object.hasOwn(object, name)) return object[name];
  const key = nameLike(Object.keys(object), name);
  return key === undefined ? undefined : object[key];
}

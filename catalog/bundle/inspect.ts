/**
 * A bundle as the rules see it: every file, whatever is wrong with the others, and the
 * ClusterServiceVersion under its Go type.
 */
import { type Cel, loadCel } from '../fbc/cel/cel.ts';
import type { SourceDocument } from '../fbc/document.ts';
import type { Location } from '../finding.ts';
import { withFoldedKeys } from '../go/kubernetes-readers.ts';
import { CRD_V1, CRD_V1BETA1, JSON_SCHEMA } from '../go/kubernetes-types.ts';
import {
  fieldName,
  fitStruct,
  isObject,
  type Misfit,
  mapOf,
  nameLike,
  type Path,
  type Shape,
  type StructShape,
  structShape,
  textOf,
  text as textShape,
} from '../go/shape.ts';
import type { CatalogSource } from '../source.ts';
import { textOfScalar } from '../yaml/resolve.ts';
import { CSV } from './csv-shape.ts';
import { firstValue, type ManifestFile } from './manifest.ts';
import { type BundleFiles, isDirect, readBundleFiles } from './read.ts';
import { type BundleObject, objectIn, objectsIn, readInto } from './registry-bundle.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** What a rule may need to know beside the bundle. */
export interface InspectOptions {
  /** The version of Kubernetes to check for, such as `1.25`; as typed. */
  readonly kubernetesVersion?: string;
  /** Whether the bundle is for certification, which takes the version of Kubernetes from the annotation for OpenShift. */
  readonly isCertified?: boolean;
  /** The Dockerfile of the bundle's image: its text and its path; without a text, why there is none. */
  readonly dockerfile?: { readonly path: string; readonly text?: string };
  /** The labels of the bundle's image. */
  readonly labels?: ReadonlyMap<string, string>;
  /** The only categories that are allowed, as JSON text `{"categories": […]}`. */
  readonly categories?: string;
  /** How many bytes gzip makes of a file's; without it the size of the bundle is not checked. */
  readonly gzipLength?: (bytes: Uint8Array) => number;
  /** Platforms of images such as `linux/amd64`, by reference; unknown where an image is missing. */
  readonly platforms?: ReadonlyMap<string, readonly string[]>;
}

/** The ClusterServiceVersion under its type. */
export interface TypedCsv {
  readonly name: string;
  /** As written. */
  readonly object: BundleObject;
  readonly metadata: Fields;
  readonly annotations: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly spec: Fields;
  readonly misfits: readonly Misfit[];
  /** Where a number or a boolean stands in the place of text. */
  readonly unquoted: readonly Path[];
  /** Where a key is spelled in another case than the field that it stands for. */
  readonly miscased: readonly { readonly path: Path; readonly field: string }[];
  at(...path: Path): Location;
}

/** A key that is spelled in another case than the field that it stands for. */
interface MiscasedKey {
  readonly path: Path;
  readonly field: string;
}

export interface InspectedCrd extends BundleObject {
  /** Keys outside of its schemas that clusters ignore for their case. */
  readonly miscased: readonly MiscasedKey[];
  /** Where a number or a boolean stands in the place of text, outside of its schemas. */
  readonly unquoted: readonly Path[];
  /** With every key as it is spelled. */
  readonly written: Fields;
}

/** A file of `metadata/` with annotations. */
export interface AnnotationsFile {
  /** As Go reads them from YAML: numbers, true and false are text, null is empty. */
  readonly values: Fields;
  readonly document: SourceDocument;
  /** The key of the annotations, in the case in which it is written. */
  readonly key: string;
  /** Keys of annotations that are lists or mappings: for these, opm and operator-sdk cannot read the file. */
  readonly misfits: readonly string[];
  readonly path: string;
}

export interface Inspected {
  readonly files: BundleFiles;
  /** Files of `manifests/` itself. */
  readonly manifests: readonly ManifestFile[];
  /** The object of the first document of each file. */
  readonly objects: readonly BundleObject[];
  /** The objects of all documents, which only OLM v1 sees. */
  readonly allObjects: readonly BundleObject[];
  readonly csv: TypedCsv | undefined;
  /** The ClusterServiceVersions of later files, of which there should be none. */
  readonly laterCsvs: readonly TypedCsv[];
  /** CRDs of `apiextensions.k8s.io`, v1 and v1beta1, with the keys that the tools read in any case as Kubernetes spells them. */
  readonly crds: readonly InspectedCrd[];
  /** The first file of `metadata/` with annotations that are all text; without one, the first with annotations. */
  readonly annotations: AnnotationsFile | undefined;
  /** As annotated; may be empty. */
  readonly package: string;
  readonly channels: readonly string[];
  readonly cel: Cel | undefined;
  readonly options: InspectOptions;
}

/** Reads a bundle for the rules. */
export async function inspectedBundle(
  source: CatalogSource,
  options: InspectOptions = {},
): Promise<Inspected> {
  return inspectedFiles(await readBundleFiles(source), options);
}

/** The files of a bundle for the rules. */
export async function inspectedFiles(files: BundleFiles, options: InspectOptions): Promise<Inspected> {
  const manifests = files.manifests.filter(isDirect);
  const objects = manifests.flatMap((file) => objectIn(file) ?? []);
  const [csv, ...laterCsvs] = objects.filter(({ kind }) => kind === 'ClusterServiceVersion');
  const annotations = annotationsOf(files);
  // Only metadata can have a rule in CEL, and few do.
  const usesCel = files.metadata.some(({ bytes }) => new TextDecoder().decode(bytes).includes('cel'));
  const channels = textOf(annotations?.values[`${PREFIX}channels.v1`]);
  return {
    files,
    manifests,
    objects,
    allObjects: manifests.flatMap(objectsIn),
    csv: csv && typedCsv(csv),
    laterCsvs: laterCsvs.map(typedCsv),
    crds: objects
      .filter(({ kind, group }) => kind === 'CustomResourceDefinition' && group === 'apiextensions.k8s.io')
      .map(inspectedCrd),
    annotations,
    package: textOf(annotations?.values[`${PREFIX}package.v1`]),
    channels: channels.split(',').map((channel) => channel.trim()),
    cel: usesCel ? await loadCel() : undefined,
    options,
  };
}

export const PREFIX = 'operators.operatorframework.io.bundle.';

const ANNOTATIONS = structShape('bundle.AnnotationMetadata', { annotations: mapOf(textShape) });

/** The files of `metadata/` with annotations, by name. */
export function annotationsFiles(files: BundleFiles): AnnotationsFile[] {
  return files.metadata.filter(isDirect).flatMap((file) => {
    const first = firstValue(file);
    const read = first && readInto(ANNOTATIONS, first);
    if (!first || !isObject(read)) return [];
    const spelled = Object.keys(read).filter((name) => fieldName(ANNOTATIONS, name) !== undefined);
    // Go cannot read the file if any of them is something else.
    if (spelled.some((name) => read[name] !== null && !isObject(read[name]))) return [];
    // JSON that fits is read in its own order, all else in byte order.
    const isJson = read === first.value && /^\s*\{/.test(new TextDecoder().decode(file.bytes));
    const found = mergedIn(read, isJson ? spelled : spelled.sort());
    if (!found) return [];
    const values = mapValues(found, (value) => value ?? '');
    const misfits = Object.keys(values).filter((name) => typeof values[name] !== 'string');
    const key = nameLike(Object.keys(read), 'annotations') ?? 'annotations';
    return { values, document: first.document, key, misfits, path: file.path };
  });
}

/** What Go reads of one map under several keys, in their order: mappings add to it, and null empties it. */
function mergedIn(object: Fields, keys: readonly string[]): Fields | undefined {
  let merged: [string, unknown][] | undefined;
  for (const key of keys) {
    const value = object[key];
    merged = isObject(value) ? [...(merged ?? []), ...Object.entries(value)] : undefined;
  }
  return merged && Object.fromEntries(merged);
}

/** The annotations that count: of the first file in which all are text, or else of the first file that has any. */
function annotationsOf(files: BundleFiles): AnnotationsFile | undefined {
  const found = annotationsFiles(files);
  return found.find(({ misfits }) => misfits.length === 0) ?? found[0];
}

/** A ClusterServiceVersion as Go's typed readers see it. Notes the values and keys that only loose readers accept. */
function typedCsv(object: BundleObject): TypedCsv {
  const found: LoosenedScalars = { unquoted: [], miscased: [] };
  const { value, misfits } = fitStruct(loosenedValue(object.value, CSV, [], found), CSV);
  const metadata = isObject(value['metadata']) ? value['metadata'] : {};
  return {
    // In another case, only the typed readers find it.
    name: object.name === '' ? textOf(metadata['name']) : object.name,
    object,
    metadata,
    annotations: textMap(metadata['annotations']),
    labels: textMap(metadata['labels']),
    spec: isObject(value['spec']) ? value['spec'] : {},
    misfits,
    ...found,
    at: (...path) => object.document.locate(path),
  };
}

const FOLDED_V1 = withFoldedKeys(CRD_V1, JSON_SCHEMA);
const FOLDED_V1BETA1 = withFoldedKeys(CRD_V1BETA1, JSON_SCHEMA);

/** A CRD as operator-framework/api and opm's validation decode it: keys count in any case. */
export function crdShape({ version }: Pick<BundleObject, 'version'>): StructShape {
  return version === 'v1beta1' ? FOLDED_V1BETA1 : FOLDED_V1;
}

/** A CRD with its keys as its type spells them, and with the places where they are spelled in another case. */
function inspectedCrd(object: BundleObject): InspectedCrd {
  const found: LoosenedScalars = { unquoted: [], miscased: [] };
  const read = loosenedValue(object.value, crdShape(object), [], found);
  const written = isObject(read) ? read : {};
  const value = foldedKeys(written, crdShape(object));
  if (!isObject(value)) return { ...object, written, ...found };
  const name = object.name === '' ? memberText(memberObject(value, 'metadata'), 'name') : object.name;
  return { ...object, value, name, written, ...found };
}

/** A value with a type's keys as the type spells them; schemas stay as they are. */
function foldedKeys(value: unknown, shape: Shape): unknown {
  if (shape.kind === 'list' && Array.isArray(value))
    return value.map((item) => foldedKeys(item, shape.items));
  if (shape.kind !== 'struct' || shape === JSON_SCHEMA || !isObject(value)) return value;
  const result: Record<string, unknown> = {};
  for (const key of keysOf(value)) {
    const field = fieldName(shape, key);
    const type = field === undefined ? undefined : shape.fields[field];
    result[field ?? key] = type ? foldedKeys(value[key], type) : value[key];
  }
  return result;
}

/** Keys in the order in which Go reads them: where two name one field, the last one counts. */
function keysOf(value: Fields): string[] {
  return Object.keys(value).sort();
}

/** The texts of a map; an empty map for another kind of value. */
function textMap(value: unknown): Readonly<Record<string, string>> {
  // Go reads null as the empty text.
  const texts = isObject(value) ? mapValues(value, (item) => item ?? '') : {};
  return texts as Readonly<Record<string, string>>;
}

interface LoosenedScalars {
  readonly unquoted: Path[];
  readonly miscased: { path: Path; field: string }[];
}

/** A value of YAML with scalars made text where the type wants text, as Go's typed reader does. */
function loosenedValue(value: unknown, shape: Shape, path: Path, found: LoosenedScalars): unknown {
  switch (shape.kind) {
    case 'string':
      if (!['number', 'boolean', 'bigint'].includes(typeof value)) return value;
      found.unquoted.push(path);
      return textOfScalar(value);
    case 'list':
      return Array.isArray(value)
        ? value.map((item, i) => loosenedValue(item, shape.items, [...path, i], found))
        : value;
    case 'map':
      return isObject(value)
        ? mapValues(value, (item, key) => loosenedValue(item, shape.values, [...path, key], found))
        : value;
    case 'struct':
      return isObject(value) && shape !== JSON_SCHEMA
        ? mapValues(value, (item, key) => loosenedField(item, shape, [...path, key], found))
        : value;
    default:
      return value;
  }
}

/** Fields that Go's types have from a type embedded in them: the typed reader makes no text of their scalars. */
const EMBEDDED: Readonly<Record<string, readonly string[]>> = {
  'v1alpha1.ClusterServiceVersion': ['apiVersion', 'kind'],
  'v1.CustomResourceDefinition': ['apiVersion', 'kind'],
  'v1beta1.CustomResourceDefinition': ['apiVersion', 'kind'],
  'v1.RuleWithOperations': ['apiGroups', 'apiVersions', 'resources', 'scope'],
  'v1.ConfigMapEnvSource': ['name'],
  'v1.ConfigMapKeySelector': ['name'],
  'v1.ConfigMapProjection': ['name'],
  'v1.ConfigMapVolumeSource': ['name'],
  'v1.SecretEnvSource': ['name'],
  'v1.SecretKeySelector': ['name'],
  'v1.SecretProjection': ['name'],
};

function isEmbedded({ name }: StructShape, field: string): boolean {
  return EMBEDDED[name]?.includes(field) === true;
}

/** A member of a struct, loosened as its field says; notes a key that is spelled in another case. */
function loosenedField(value: unknown, shape: StructShape, path: Path, found: LoosenedScalars): unknown {
  const key = String(path.at(-1));
  const field = fieldName(shape, key);
  if (field !== undefined && field !== key) found.miscased.push({ path, field });
  const inner = field === undefined || isEmbedded(shape, field) ? undefined : shape.fields[field];
  return inner ? loosenedValue(value, inner, path, found) : value;
}

function mapValues(object: Fields, change: (value: unknown, key: string) => unknown): Fields {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value, key)]));
}

/** The object at a path; an empty one if another kind of value, or nothing, is there. */
export function memberObject(value: unknown, ...path: readonly string[]): Fields {
  let at: unknown = value;
  for (const key of path) at = isObject(at) ? at[key] : undefined;
  return isObject(at) ? at : {};
}

/**
 * The list of objects at a path; an empty one if there is no list. An item that is not an object becomes an empty one.
 */
export function memberObjects(value: unknown, ...path: readonly string[]): readonly Fields[] {
  const last = path.at(-1);
  const found = last === undefined ? value : memberObject(value, ...path.slice(0, -1))[last];
  return Array.isArray(found) ? found.map((item) => (isObject(item) ? item : {})) : [];
}

/** A member that is text; the empty text for another kind of value. */
export function memberText(value: Fields, key: string): string {
  return textOf(value[key]);
}

/** A member that is a list of texts. */
export function memberTexts(value: Fields, key: string): readonly string[] {
  const found = value[key];
  return Array.isArray(found) ? found.map(textOf) : [];
}

/** The deployments that a ClusterServiceVersion installs, with their places. */
export function deploymentsOf({ spec }: TypedCsv): { readonly value: Fields; readonly path: Path }[] {
  return memberObjects(spec, 'install', 'spec', 'deployments').map((value, i) => ({
    value,
    path: ['spec', 'install', 'spec', 'deployments', i],
  }));
}

/**
 * The ClusterServiceVersion that opm makes up for a bundle of which it only knows the
 * metadata (`olm.csv.metadata`), for the package server of OLM v0 to read.
 *
 * @see https://github.com/operator-framework/operator-registry/blob/master/pkg/api/model_to_api.go
 */
import { normalBase64 } from '../../go/base64.ts';
import { escapeHtml, goList, goObject, goString } from '../../go/json-marshal.ts';
import { compactJson, RawJson } from '../../go/json-text.ts';
import { fitStruct, isObject } from '../../go/shape.ts';
import { compareText } from '../../go/text.ts';
import type { Bundle, Package } from '../model.ts';
import { PROPERTY_SHAPES } from '../property.ts';

type Fields = Readonly<Record<string, unknown>>;

const WRITE = csvWriters(goString);
const METADATA_SHAPE = PROPERTY_SHAPES.get('olm.csv.metadata');

/**
 * The ClusterServiceVersion that opm makes up for a bundle that has only its metadata.
 *
 * @param metadata value of the bundle's `olm.csv.metadata` property
 * @param version the bundle's version as its `olm.package` property writes it
 * @returns JSON text
 */
export function inventedCsv(pkg: Package, bundle: Bundle, metadata: unknown, version: string): string {
  const fields: Fields = METADATA_SHAPE ? fitStruct(metadata, METADATA_SHAPE).value : {};
  return goObject([
    ['kind', '"ClusterServiceVersion"'],
    ['apiVersion', '"operators.coreos.com/v1alpha1"'],
    [
      'metadata',
      goObject([
        ['name', WRITE.optional(bundle.name)],
        ['labels', WRITE.textMap(fields['labels'])],
        ['annotations', WRITE.textMap(fields['annotations'])],
      ]),
    ],
    ['spec', specOf(pkg, bundle, fields, version)],
    ['status', '{"cleanup":{}}'],
  ]);
}

/** The `spec` of the ClusterServiceVersion that opm makes of a bundle's `olm.csv.metadata`, as JSON. */
function specOf(pkg: Package, bundle: Bundle, fields: Fields, version: string): string {
  const icon = pkg.blob?.icon;
  return goObject([
    // OLM's package server panics where there is no strategy.
    ['install', '{"strategy":"deployment","spec":{"deployments":null}}'],
    ['version', goString(version)],
    ['maturity', WRITE.optional(fields['maturity'])],
    ['customresourcedefinitions', WRITE.crds(fields['crdDescriptions'])],
    ['apiservicedefinitions', WRITE.apiServices(fields['apiServiceDefinitions'])],
    ['nativeAPIs', WRITE.gvks(fields['nativeAPIs'])],
    ['minKubeVersion', WRITE.optional(fields['minKubeVersion'])],
    ['displayName', WRITE.text(fields['displayName'])],
    ['description', WRITE.optional(fields['description']) ?? WRITE.optional(pkg.blob?.description)],
    ['keywords', WRITE.texts(fields['keywords'])],
    ['maintainers', WRITE.maintainers(fields['maintainers'])],
    ['provider', WRITE.link(fields['provider'])],
    ['links', WRITE.links(fields['links'])],
    ['icon', icon && `[${goIcon(icon.base64data, icon.mediatype)}]`],
    ['installModes', WRITE.installModes(fields['installModes'])],
    ['cleanup', '{"enabled":false}'],
    [
      'relatedImages',
      goList(
        bundle.relatedImages.map(
          ({ name, image }) => `{"name":${goString(name)},"image":${goString(image)}}`,
        ),
      ),
    ],
  ]);
}

/** An icon with its data as Go writes bytes. */
export function goIcon(base64data: string, mediatype: string): string {
  return `{"base64data":"${normalBase64(base64data)}","mediatype":${goString(mediatype)}}`;
}

// Parts of a ClusterServiceVersion as Go writes them: fields in the order of the Go
// structs, whatever their order was.
//
// @see https://github.com/operator-framework/api/blob/master/pkg/operators/v1alpha1/clusterserviceversion_types.go

/** Writes a value as JSON; undefined where Go leaves an empty one out. */
type Write = (value: unknown) => string | undefined;

type GoField = readonly [key: string, write: Write];

/** One writer for each kind of value; what they are given has passed the shape of its Go type. */
interface CsvWriters {
  readonly text: (value: unknown) => string;
  /** Text, left out when it is empty. */
  readonly optional: Write;
  readonly texts: Write;
  readonly textMap: Write;
  readonly crds: (value: unknown) => string;
  readonly apiServices: (value: unknown) => string;
  readonly gvks: Write;
  readonly link: (value: unknown) => string;
  readonly links: Write;
  readonly maintainers: Write;
  readonly installModes: Write;
}

/**
 * Writers of the parts of a ClusterServiceVersion in Go's field order.
 *
 * @param quote how a text is written: with what HTML minds escaped, or without
 */
export function csvWriters(quote: (text: string) => string): CsvWriters {
  const always = (value: unknown): string => quote(typeof value === 'string' ? value : '');
  const optional: Write = (value) => (typeof value === 'string' && value !== '' ? quote(value) : undefined);
  const textMap: Write = (value) => {
    const keys = isObject(value) ? Object.keys(value).sort(compareText) : [];
    const members = keys.map((key) => `${quote(key)}:${always((value as Fields)[key])}`);
    return members.length === 0 ? undefined : `{${members.join(',')}}`;
  };
  const link = structOf([
    ['name', optional],
    ['url', optional],
  ]);
  return {
    text: always,
    optional,
    textMap,
    link,
    texts: listOf(always),
    ...apiSections(always, optional),
    gvks: listOf(
      structOf([
        ['group', always],
        ['version', always],
        ['kind', always],
      ]),
    ),
    links: listOf(link),
    maintainers: listOf(
      structOf([
        ['name', optional],
        ['email', optional],
      ]),
    ),
    installModes: listOf(
      structOf([
        ['type', always],
        ['supported', (value) => String(value === true)],
      ]),
    ),
  };
}

/** A value that Go keeps as the JSON that it was read from. */
function rawValue(value: unknown): string | undefined {
  if (value instanceof RawJson) return value.text;
  return value === undefined ? undefined : escapeHtml(compactJson(value));
}

/**
 * Writers of the sections about owned and required CRDs and API services.
 *
 * @param always writes a text, empty or not
 * @param optional leaves an empty text out
 */
function apiSections(
  always: (value: unknown) => string,
  optional: Write,
): Pick<CsvWriters, 'crds' | 'apiServices'> {
  const descriptor = structOf([
    ['path', always],
    ['displayName', optional],
    ['description', optional],
    ['x-descriptors', listOf(always)],
    // Raw JSON of a marshalled object, in which HTML is escaped whoever copies it.
    ['value', rawValue],
  ]);
  const resource = structOf([
    ['name', always],
    ['kind', always],
    ['version', always],
  ]);
  const described: readonly GoField[] = [
    ['displayName', optional],
    ['description', optional],
    ['resources', listOf(resource)],
    ['statusDescriptors', listOf(descriptor)],
    ['specDescriptors', listOf(descriptor)],
    ['actionDescriptors', listOf(descriptor)],
  ];
  const crd = structOf([['name', always], ['version', always], ['kind', always], ...described]);
  const apiService = structOf([
    ['name', always],
    ['group', always],
    ['version', always],
    ['kind', always],
    ['deploymentName', optional],
    ['containerPort', (value) => (typeof value === 'number' && value !== 0 ? String(value) : undefined)],
    ...described,
  ]);
  return { crds: ownedJson(crd), apiServices: ownedJson(apiService) };
}

/** Makes a writer of what a ClusterServiceVersion owns and requires. */
function ownedJson(item: (value: unknown) => string): (value: unknown) => string {
  return structOf([
    ['owned', listOf(item)],
    ['required', listOf(item)],
  ]);
}

/** Makes a writer of an object with these fields; a value that is not an object has none of them. */
function structOf(fields: readonly GoField[]): (value: unknown) => string {
  return (value) => {
    const found: Fields = isObject(value) ? value : {};
    return goObject(fields.map(([key, write]) => [key, write(found[key])]));
  };
}

function listOf(write: (value: unknown) => string): Write {
  return (value) => (Array.isArray(value) ? goList(value.map(write)) : undefined);
}

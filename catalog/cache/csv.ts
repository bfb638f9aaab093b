/**
 * The ClusterServiceVersion that opm makes up for a bundle of which it only knows the
 * metadata (`olm.csv.metadata`), for the package server of OLM v0 to read.
 *
 * @see https://github.com/operator-framework/operator-registry/blob/master/pkg/api/model_to_api.go
 */
import { normalBase64 } from '../base64.ts';
import { compareText } from '../finding.ts';
import { compactJson } from '../json-text.ts';
import type { Bundle, Package } from '../model.ts';
import { PROPERTY_SHAPES } from '../property.ts';
import { fitStruct, isObject } from '../shape.ts';
import { escapeHtml, goList, goObject, goString } from './go-json.ts';

type Fields = Readonly<Record<string, unknown>>;

/** How Go writes a field: its key, the value's kind, and whether an empty one is left out. */
interface GoField {
  readonly key: string;
  readonly write: (value: unknown) => string | undefined;
}

function optional(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? goString(value) : undefined;
}

function always(value: unknown): string {
  return goString(typeof value === 'string' ? value : '');
}

function structOf(fields: readonly GoField[]): (value: unknown) => string {
  return (value) => {
    const found: Fields = isObject(value) ? value : {};
    return goObject(fields.map(({ key, write }) => [key, write(found[key])]));
  };
}

function listOf(write: (value: unknown) => string): (value: unknown) => string | undefined {
  return (value) => (Array.isArray(value) ? goList(value.map(write)) : undefined);
}

function textMap(value: unknown): string | undefined {
  if (!isObject(value)) return undefined;
  const keys = Object.keys(value).sort(compareText);
  return keys.length === 0
    ? undefined
    : `{${keys.map((key) => `${goString(key)}:${always(value[key])}`).join(',')}}`;
}

const field = (key: string, write: GoField['write']): GoField => ({ key, write });

const DESCRIPTOR = structOf([
  field('path', always),
  field('displayName', optional),
  field('description', optional),
  field('x-descriptors', listOf(always)),
  field('value', (value) => (value === undefined ? undefined : escapeHtml(compactJson(value)))),
]);

const DESCRIBED: readonly GoField[] = [
  field('displayName', optional),
  field('description', optional),
  field(
    'resources',
    listOf(structOf([field('name', always), field('kind', always), field('version', always)])),
  ),
  field('statusDescriptors', listOf(DESCRIPTOR)),
  field('specDescriptors', listOf(DESCRIPTOR)),
  field('actionDescriptors', listOf(DESCRIPTOR)),
];

const CRD = structOf([field('name', always), field('version', always), field('kind', always), ...DESCRIBED]);

const API_SERVICE = structOf([
  field('name', always),
  field('group', always),
  field('version', always),
  field('kind', always),
  field('deploymentName', optional),
  field('containerPort', (value) => (typeof value === 'number' && value !== 0 ? String(value) : undefined)),
  ...DESCRIBED,
]);

function owned(item: (value: unknown) => string): (value: unknown) => string {
  return structOf([field('owned', listOf(item)), field('required', listOf(item))]);
}

const CRDS = owned(CRD);
const API_SERVICES = owned(API_SERVICE);
const GVKS = listOf(structOf([field('group', always), field('version', always), field('kind', always)]));
const LINK = structOf([field('name', optional), field('url', optional)]);
const LINKS = listOf(LINK);
const MAINTAINERS = listOf(structOf([field('name', optional), field('email', optional)]));
const TEXTS = listOf(always);
const INSTALL_MODES = listOf(
  structOf([field('type', always), field('supported', (value) => String(value === true))]),
);
const METADATA_SHAPE = PROPERTY_SHAPES.get('olm.csv.metadata');

/**
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
        ['name', optional(bundle.name)],
        ['labels', textMap(fields['labels'])],
        ['annotations', textMap(fields['annotations'])],
      ]),
    ],
    ['spec', specOf(pkg, bundle, fields, version)],
    ['status', '{"cleanup":{}}'],
  ]);
}

function specOf(pkg: Package, bundle: Bundle, fields: Fields, version: string): string {
  const icon = pkg.blob?.icon;
  return goObject([
    // OLM's package server panics where there is no strategy.
    ['install', '{"strategy":"deployment","spec":{"deployments":null}}'],
    ['version', goString(version)],
    ['maturity', optional(fields['maturity'])],
    ['customresourcedefinitions', CRDS(fields['crdDescriptions'])],
    ['apiservicedefinitions', API_SERVICES(fields['apiServiceDefinitions'])],
    ['nativeAPIs', GVKS(fields['nativeAPIs'])],
    ['minKubeVersion', optional(fields['minKubeVersion'])],
    ['displayName', always(fields['displayName'])],
    ['description', optional(fields['description']) ?? optional(pkg.blob?.description)],
    ['keywords', TEXTS(fields['keywords'])],
    ['maintainers', MAINTAINERS(fields['maintainers'])],
    ['provider', LINK(fields['provider'])],
    ['links', LINKS(fields['links'])],
    ['icon', icon && `[${goIcon(icon.base64data, icon.mediatype)}]`],
    ['installModes', INSTALL_MODES(fields['installModes'])],
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

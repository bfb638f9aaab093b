/**
 * The ClusterServiceVersion that opm makes up for a bundle of which it only knows the
 * metadata (`olm.csv.metadata`), for the package server of OLM v0 to read.
 *
 * @see https://github.com/operator-framework/operator-registry/blob/master/pkg/api/model_to_api.go
 */
import { normalBase64 } from '../../go/base64.ts';
import { goList, goObject, goString } from '../../go/json-marshal.ts';
import { fitStruct } from '../../go/shape.ts';
import type { Bundle, Package } from '../model.ts';
import { PROPERTY_SHAPES } from '../property.ts';
import { csvWriters } from './csv-json.ts';

type Fields = Readonly<Record<string, unknown>>;

const WRITE = csvWriters(goString);
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
        ['name', WRITE.optional(bundle.name)],
        ['labels', WRITE.textMap(fields['labels'])],
        ['annotations', WRITE.textMap(fields['annotations'])],
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

/**
 * `olm.csv.metadata`: what the package server needs of a ClusterServiceVersion, in the
 * place of all of its manifests.
 *
 * @see https://github.com/operator-framework/operator-registry/blob/master/alpha/property/property.go
 */

import { csvWriters } from '../fbc/cache/csv.ts';
import { goObject } from '../go/json-marshal.ts';
import { jsonString } from '../go/json-text.ts';
import { isObject } from '../go/shape.ts';
import { CSV } from './csv-shape.ts';
import { type BundleObject, fitObject } from './registry-bundle.ts';

const WRITE = csvWriters(jsonString);

/**
 * The value of `olm.csv.metadata` that opm makes from a ClusterServiceVersion, as JSON.
 *
 * @throws BundleRefusal if it does not fit its type
 */
export function csvMetadataJson(csv: BundleObject): string {
  const fields = fitObject(csv, CSV);
  const spec = isObject(fields['spec']) ? fields['spec'] : {};
  const metadata = isObject(fields['metadata']) ? fields['metadata'] : {};
  return goObject([
    ['annotations', WRITE.textMap(metadata['annotations'])],
    ['apiServiceDefinitions', WRITE.apiServices(spec['apiservicedefinitions'])],
    ['crdDescriptions', WRITE.crds(spec['customresourcedefinitions'])],
    ['description', WRITE.optional(spec['description'])],
    ['displayName', WRITE.optional(spec['displayName'])],
    ['installModes', WRITE.installModes(spec['installModes'])],
    ['keywords', WRITE.texts(spec['keywords'])],
    ['labels', WRITE.textMap(metadata['labels'])],
    ['links', WRITE.links(spec['links'])],
    ['maintainers', WRITE.maintainers(spec['maintainers'])],
    ['maturity', WRITE.optional(spec['maturity'])],
    ['minKubeVersion', WRITE.optional(spec['minKubeVersion'])],
    ['nativeAPIs', WRITE.gvks(spec['nativeAPIs'])],
    ['provider', WRITE.link(spec['provider'])],
  ]);
}

/**
 * The images that a catalog lists for a bundle.
 *
 * @see https://github.com/operator-framework/operator-registry/blob/master/alpha/action/render.go
 */
import type { RelatedImage } from '../fbc/model.ts';
import { isObject, listOf, struct, text } from '../go/shape.ts';
import { CSV_DEPLOYMENTS } from './csv-shape.ts';
import { type BundleObject, fitObject } from './registry-bundle.ts';

const RELATED = struct('registry.csvSpec', {
  relatedImages: listOf(struct('declcfg.RelatedImage', { name: text, image: text })),
});

/**
 * What the ClusterServiceVersion lists, the bundle's own image, and what its deployments run.
 *
 * @param image reference of the bundle's image, or the empty string
 * @throws BundleRefusal
 */
export function relatedImagesOf(csv: BundleObject, image: string): RelatedImage[] {
  const spec = isObject(csv.value['spec']) ? csv.value['spec'] : {};
  const listed = fitObject(csv, RELATED, { relatedImages: spec['relatedImages'] ?? [] })['relatedImages'];
  const images = (Array.isArray(listed) ? listed : []).map((item) => ({
    name: String(item?.name ?? ''),
    image: String(item?.image ?? ''),
  }));
  const known = new Set(images.map((related) => related.image));
  // The bundle's own image is not remembered as known, so a deployment that runs it lists it once more.
  if (image !== '' && !known.has(image)) images.push({ name: '', image });
  for (const run of new Set(operatorImages(csv))) {
    if (!known.has(run)) images.push({ name: '', image: run });
  }
  return images;
}

/** Images of the containers that the operator's deployments run, those without an image as empty text. */
function operatorImages(csv: BundleObject): string[] {
  const install = member(fitObject(csv, CSV_DEPLOYMENTS, csv.value['spec'] ?? {}), 'Install');
  if (install['strategy'] !== 'deployment') return [];
  return list(member(install, 'spec')['Deployments']).flatMap((deployment) => {
    const pod = member(member(member(deployment, 'Spec'), 'template'), 'spec');
    const containers = [...list(pod['containers']), ...list(pod['initContainers'])];
    return containers.map((container) => String(container['image'] ?? ''));
  });
}

type Fields = Readonly<Record<string, unknown>>;

function member(value: Fields, key: string): Fields {
  const found = value[key];
  return isObject(found) ? found : {};
}

function list(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map((item) => (isObject(item) ? item : {})) : [];
}

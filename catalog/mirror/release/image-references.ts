/**
 * What an OpenShift release payload says of itself in `release-manifests/`: its version, and the images that it is made of.
 *
 * @see https://github.com/openshift/cluster-version-operator/blob/main/docs/dev/clusteroperator.md
 */
import { isObject } from '../../go/shape.ts';
import { parsedJson } from '../../json.ts';

export interface ReleaseContent {
  /** Such as `4.20.3`. */
  readonly version: string;
  /** In the order of the payload. */
  readonly images: readonly { readonly name: string; readonly reference: string }[];
}

/**
 * Reads `release-manifests/image-references`.
 *
 * @returns a text that says what is wrong where it is not one; it follows the name of the file
 */
export function readImageReferences(text: string): ReleaseContent | string {
  const stream = parsed(text);
  if (!isObject(stream) || stream['kind'] !== 'ImageStream') return 'is not an ImageStream';
  const { metadata, spec } = stream;
  const version = isObject(metadata) ? metadata['name'] : undefined;
  if (typeof version !== 'string' || version === '') return 'has no version in metadata.name';
  if (!PART.test(version)) return 'has a version in metadata.name that cannot be part of a tag';
  const tags: unknown = isObject(spec) ? spec['tags'] : undefined;
  if (!Array.isArray(tags) || tags.length === 0) return 'names no image in spec.tags';
  const images = tags.map(imageOf);
  const wrong = images.indexOf(undefined);
  if (wrong >= 0) return `has no image in spec.tags[${wrong}].from.name`;
  const named = images.filter((image) => image !== undefined);
  const odd = named.findIndex(({ name }) => !PART.test(name));
  if (odd >= 0) return `has a name in spec.tags[${odd}] that cannot be part of a tag`;
  return { version, images: named };
}

/** What tags in the mirror are made of: anything else would go into `mapping.txt` as it is, line breaks included. */
const PART = /^\w[\w.-]{0,127}$/;

function imageOf(tag: unknown): ReleaseContent['images'][number] | undefined {
  if (!isObject(tag) || typeof tag['name'] !== 'string' || !isObject(tag['from'])) return undefined;
  const reference = tag['from']['name'];
  return typeof reference === 'string' && reference !== '' ? { name: tag['name'], reference } : undefined;
}

function parsed(text: string): unknown {
  return parsedJson(text);
}

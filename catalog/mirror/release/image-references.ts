/**
 * What an OpenShift release payload says of itself in `release-manifests/`: its version, and the images that it is made of.
 *
 * @see https://github.com/openshift/cluster-version-operator/blob/main/docs/dev/clusteroperator.md
 */
import { isObject } from '../../go/shape.ts';
import { parsedJson } from '../../json.ts';
import { compose } from '../../yaml/compose.ts';
import { readTree } from '../../yaml/parser.ts';
import { YamlError } from '../../yaml/tree.ts';

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
  const stream = parsedJson(text);
  if (!isObject(stream) || stream['kind'] !== 'ImageStream') return 'is not an ImageStream';
  const { metadata, spec } = stream;
  const version = isObject(metadata) ? metadata['name'] : undefined;
  if (typeof version !== 'string' || version === '') return 'has no version in metadata.name';
  if (!PART.test(version)) return 'has a version in metadata.name that cannot be part of a tag';
  const tags: unknown = isObject(spec) ? spec['tags'] : undefined;
  if (!Array.isArray(tags) || tags.length === 0) return 'names no image in spec.tags';
  const images = tags.map(imageOf);
  const nameless = images.indexOf(undefined);
  if (nameless >= 0) return `has no image in spec.tags[${nameless}].from.name`;
  const named = images.filter((image) => image !== undefined);
  const invalidIndex = named.findIndex(({ name }) => !PART.test(name));
  if (invalidIndex >= 0) return `has a name in spec.tags[${invalidIndex}] that cannot be part of a tag`;
  return { version, images: named };
}

/** What tags in the mirror are made of: anything else would go into `mapping.txt` as it is, line breaks included. */
const PART = /^\w[\w.-]{0,127}$/;

/** The image of a tag of the stream; undefined if it lacks a name or a reference. */
function imageOf(tag: unknown): ReleaseContent['images'][number] | undefined {
  if (!isObject(tag) || typeof tag['name'] !== 'string' || !isObject(tag['from'])) return undefined;
  const reference = tag['from']['name'];
  return typeof reference === 'string' && reference !== '' ? { name: tag['name'], reference } : undefined;
}

/**
 * Reads `release-manifests/release-metadata`: the versions that update to the release.
 *
 * @returns a text that says what is wrong where it is not one; it follows the name of the file
 */
export function readPreviousVersions(text: string): readonly string[] | string {
  const metadata = parsedJson(text);
  const { kind, previous = [] } = isObject(metadata) ? metadata : {};
  if (kind !== 'cincinnati-metadata-v0') return 'is not metadata of a release';
  const versions: unknown[] = Array.isArray(previous) ? previous : [undefined];
  return versions.every((version) => typeof version === 'string') ? versions : 'has no list in previous';
}

/** Architectures of payloads for which there are boot images of OpenShift Virtualization, as the list of boot images names them. */
const VIRTUAL: Readonly<Record<string, string>> = { amd64: 'x86_64', s390x: 's390x' };

/**
 * Reads the boot images of OpenShift Virtualization from `0000_50_installer_coreos-bootimages.yaml`, under the names that
 * oc-mirror gives them.
 *
 * @param architectures those that are wanted; `multi` stands for all
 * @returns a text that says what is wrong where there is none; it follows the name of the file
 */
export function readVirtualImages(
  text: string,
  architectures: readonly string[],
): ReleaseContent['images'] | string {
  const stream = streamIn(text);
  const all = isObject(stream) ? stream['architectures'] : undefined;
  if (!isObject(all)) return 'does not list boot images';
  // oc-mirror always takes the image for x86_64. Portolan takes those of the payload, or all where none is for it.
  const known = architectures.flatMap((one) => VIRTUAL[one] ?? []);
  const wanted = architectures.includes('multi') || known.length === 0 ? Object.values(VIRTUAL) : known;
  const images = wanted.flatMap((architecture) => {
    const reference = memberAt(all, [architecture, 'images', 'kubevirt', 'digest-ref']);
    const name = wanted.length > 1 ? `kube-virt-container-${architecture}` : 'kube-virt-container';
    return typeof reference === 'string' && reference !== '' ? [{ name, reference }] : [];
  });
  return images.length > 0 ? images : `has no image of OpenShift Virtualization for ${wanted.join(', ')}`;
}

/** The list of boot images, as JSON in a config map. */
function streamIn(text: string): unknown {
  try {
    const stream = memberAt(compose(readTree(text).root).value, ['data', 'stream']);
    return typeof stream === 'string' ? parsedJson(stream) : undefined;
  } catch (error) {
    if (error instanceof YamlError) return undefined;
    throw error;
  }
}

function memberAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce((at: unknown, key) => (isObject(at) ? at[key] : undefined), value);
}

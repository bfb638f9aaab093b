/**
 * The image that an index image is built on: for each platform its layers, which are
 * referenced and never rewritten, and its configuration.
 */
import { isObject } from '../../../catalog/go/shape.ts';
import { parseJson } from '../../../catalog/json.ts';
import { PipelineError } from '../../error.ts';
import type { Descriptor, Manifest, Platform } from '../../ports.ts';
import { algorithmOf, digestOf, isDigest } from '../digest.ts';
import { DOCKER_LIST, DOCKER_MANIFEST, OCI_MANIFEST } from '../media-types.ts';

/** The label with the catalog's path in an image. */
export const CONFIGS_LABEL = 'operators.operatorframework.io.index.configs.v1';

/** The history entry of a layer that Portolan adds, with its folder in the image. */
export const MADE_BY = 'portolan';

export type Json = Readonly<Record<string, unknown>>;

export interface BaseImage {
  /** Digest of the manifest list, or of the one manifest. */
  readonly digest: string;
  /** The family of media types of the base, which the index image uses too. */
  readonly family: 'oci' | 'docker';
  readonly platforms: readonly BasePlatform[];
}

interface BasePlatform {
  readonly platform: Platform;
  readonly layers: readonly Descriptor[];
  /** The image's configuration as its author wrote it. */
  readonly config: Json;
}

/** Reads one piece of the base image: a manifest of its list, or a configuration. */
type ReadContent = (descriptor: Descriptor) => Promise<Uint8Array>;

/**
 * Reads a base image.
 *
 * @param manifest what the base's reference names
 * @param name of the image, for messages
 * @throws PipelineError `bad-answer` when it is not an image for any platform, `corrupt` when
 *   content has another digest, `usage` when the base holds a catalog already
 */
export async function readBase(
  manifest: Manifest,
  read: ReadContent,
  name: string = manifest.digest,
): Promise<BaseImage> {
  const json = parse(manifest.bytes, manifest.digest);
  const content = async (descriptor: Descriptor): Promise<Json> => {
    const bytes = await read(descriptor);
    const found = digestOf(bytes, algorithmOf(descriptor.digest));
    if (found !== descriptor.digest) {
      throw new PipelineError(
        'corrupt',
        `digest mismatch of content of the base image ${name}: expected ${descriptor.digest}, got ${found}`,
      );
    }
    return parse(bytes, descriptor.digest);
  };
  const listed = Array.isArray(json['manifests'])
    ? json['manifests'].map((item) => descriptorOf(item))
    : undefined;
  const images = listed?.filter(isRunnable) ?? [];
  const platforms: BasePlatform[] = [];
  if (listed === undefined) platforms.push(await platformOf(json, undefined, content));
  for (const image of images) platforms.push(await platformOf(await content(image), image.platform, content));
  // Without them, no node would find its image in the list that is made.
  const isDeclared = platforms.every(({ platform }) => platform.os !== '' && platform.architecture !== '');
  if (platforms.length === 0 || !isDeclared) {
    throw new PipelineError('bad-answer', `the base image ${manifest.digest} does not declare a platform`);
  }
  // OCI's manifests hold all that Docker's hold, not the other way round: one OCI part makes the image OCI.
  const types = [manifest.mediaType, ...images.map(({ mediaType }) => mediaType)];
  const family = types.every((type) => type === DOCKER_LIST || type === DOCKER_MANIFEST) ? 'docker' : 'oci';
  return { digest: manifest.digest, family, platforms };
}

/** Attestations stand in lists as images of an unknown platform. */
function isRunnable({ mediaType, platform }: Descriptor): boolean {
  const isImage = mediaType === OCI_MANIFEST || mediaType === DOCKER_MANIFEST;
  return (
    isImage && platform !== undefined && platform.os !== 'unknown' && platform.architecture !== 'unknown'
  );
}

/**
 * The base image for one platform.
 *
 * @param listed its platform in the list that names it, which counts before that of its config
 * @throws PipelineError `usage` if it has a catalog already
 */
async function platformOf(
  manifest: Json,
  listed: Platform | undefined,
  content: (descriptor: Descriptor) => Promise<Json>,
): Promise<BasePlatform> {
  const config = await content(descriptorOf(manifest['config']));
  const layers = manifest['layers'];
  if (!Array.isArray(layers))
    throw new PipelineError('bad-answer', 'the base image does not list its layers');
  const inner = isObject(config['config']) ? config['config'] : {};
  if (isObject(inner['Labels']) && Object.hasOwn(inner['Labels'], CONFIGS_LABEL)) {
    throw new PipelineError('usage', 'the base image already contains a catalog', {
      hint: 'use an image with only opm: nodes would download the old catalog, too',
    });
  }
  return {
    platform: listed ?? platformIn(config),
    layers: layers.map((layer) => descriptorOf(layer)),
    config,
  };
}

/** The platform in a configuration or descriptor; empty strings where it does not name one. */
function platformIn(config: Json): Platform {
  const text = (key: string): string => (typeof config[key] === 'string' ? config[key] : '');
  const [variant, osVersion] = [text('variant'), text('os.version')];
  return {
    os: text('os'),
    architecture: text('architecture'),
    ...(variant === '' ? {} : { variant }),
    ...(osVersion === '' ? {} : { osVersion }),
  };
}

/** The JSON object in bytes of the base image. @throws PipelineError `bad-answer` for anything else */
function parse(bytes: Uint8Array, digest: string): Json {
  let json: unknown;
  try {
    json = parseJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    json = undefined;
  }
  if (!isObject(json)) throw new PipelineError('bad-answer', `the content of ${digest} is not a JSON object`);
  return json;
}

/** A descriptor of the base image. @throws PipelineError `bad-answer` without a valid digest and size */
function descriptorOf(value: unknown): Descriptor {
  const { mediaType, digest, size, urls, platform } = (isObject(value) ? value : {}) as Json;
  if (!isDigest(digest) || typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0) {
    throw new PipelineError(
      'bad-answer',
      'the base image references content without a valid digest and size',
    );
  }
  return {
    mediaType: typeof mediaType === 'string' ? mediaType : '',
    digest,
    size,
    ...(Array.isArray(urls) ? { urls: urls.map(String) } : {}),
    ...(isObject(platform) ? { platform: platformIn(platform) } : {}),
  };
}

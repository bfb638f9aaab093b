/**
 * The index image as bytes: manifests for every platform, one list of them, and where the
 * blobs come from. Everything follows from the layers, the base and the settings.
 */

import { isObject } from '../../../catalog/go/shape.ts';
import type { BlobSource, Descriptor, Manifest, Platform } from '../../ports.ts';
import { bytesBlob, digestOf, uniqueByDigest } from '../digest.ts';
import { DOCKER_LIST, DOCKER_MANIFEST, OCI_INDEX, OCI_MANIFEST } from '../media-types.ts';
import { type BaseImage, CONFIGS_LABEL, type Json, MADE_BY } from './base.ts';
import type { LayerFacts } from './layer-piece.ts';

/** OLM's index image. The list is the image; the rest is what it names. */
export interface CatalogImage {
  readonly manifestList: Manifest;
  /** A manifest for each platform, in the order of the list. */
  readonly manifests: readonly Manifest[];
  /** Configurations and our layers, each once. */
  readonly blobs: readonly BlobSource[];
  /** The base's layers, each once: to be mounted or copied from where the base is. */
  readonly baseLayers: readonly Descriptor[];
}

/** A layer and its bytes. */
export interface Layer {
  readonly facts: LayerFacts;
  readonly blob: BlobSource;
  /** The folder of the image that all of it is in, with a slash before it. */
  readonly folder: string;
}

/** Platforms of an image without a base: the architectures of Kubernetes nodes on which OLM is used. */
export const PLATFORMS: readonly Platform[] = ['amd64', 'arm64', 'ppc64le', 's390x'].map((architecture) => ({
  os: 'linux',
  architecture,
}));

const BASE_DIGEST = 'org.opencontainers.image.base.digest';

export interface ImageOptions extends ImageSettings {
  /** Platforms of an image without a base. */
  readonly platforms: readonly Platform[];
}

/** Puts an index image together. @param base the image that it is built on; undefined for one of the catalog alone */
export function catalogImage(
  base: BaseImage | undefined,
  layers: readonly Layer[],
  options: ImageOptions,
): CatalogImage {
  return layeredImage(base, layers, {
    platforms: options.platforms,
    configOf: (config, layered) => imageConfig(config, { ...options, ...layered }),
  });
}

interface LayeredOptions {
  /** Platforms of an image without a base. */
  readonly platforms: readonly Platform[];
  /** The configuration for a platform, from that of the base. */
  readonly configOf: (
    base: Json | undefined,
    layered: Pick<Parameters<typeof imageConfig>[1], 'layers' | 'platform'>,
  ) => Uint8Array;
}

/** Puts an image together from a base and layers above it. */
export function layeredImage(
  base: BaseImage | undefined,
  layers: readonly Layer[],
  { platforms, configOf }: LayeredOptions,
): CatalogImage {
  const family = base?.family ?? 'oci';
  const configured = layers.map(({ facts: { diffId }, folder }) => ({ diffId, folder }));
  const own = layers.map(({ facts }) => layerDescriptor(facts, family));
  const basePlatforms =
    base?.platforms ?? platforms.map((platform) => ({ platform, layers: [], config: {} }));
  const configs: BlobSource[] = [];
  const manifests: Manifest[] = [];
  const listed: Json[] = [];
  for (const { platform, layers: below, config } of basePlatforms) {
    // Without a base there is no configuration to begin with.
    const bytes = configOf(base && config, { layers: configured, platform });
    configs.push(bytesBlob(bytes));
    const manifest = manifestOf({
      config: bytes,
      layers: [...below.map(inFamily(family)), ...own],
      family,
      base,
    });
    manifests.push(manifest);
    listed.push({ ...manifestDescriptor(manifest), platform: platformJson(platform) });
  }
  return {
    manifestList: manifestOfJson(LIST_TYPES[family], { manifests: listed, ...annotations(family, base) }),
    manifests,
    blobs: uniqueByDigest([...configs, ...layers.map(({ blob }) => blob)]),
    baseLayers: uniqueByDigest(base?.platforms.flatMap((platform) => platform.layers) ?? []),
  };
}

type Family = BaseImage['family'];

const LIST_TYPES = { oci: OCI_INDEX, docker: DOCKER_LIST } as const;
export const MANIFEST_TYPES: Readonly<Record<Family, string>> = {
  oci: OCI_MANIFEST,
  docker: DOCKER_MANIFEST,
};
export const CONFIG_TYPES: Readonly<Record<Family, string>> = {
  oci: 'application/vnd.oci.image.config.v1+json',
  docker: 'application/vnd.docker.container.image.v1+json',
};
export const GZIP_TYPES: Readonly<Record<Family, string>> = {
  oci: 'application/vnd.oci.image.layer.v1.tar+gzip',
  docker: 'application/vnd.docker.image.rootfs.diff.tar.gzip',
};
const ZSTD_TYPE = 'application/vnd.oci.image.layer.v1.tar+zstd';

function layerDescriptor({ digest, size, codec }: LayerFacts, family: Family): Descriptor {
  return {
    mediaType: codec === 'zstd' ? ZSTD_TYPE : GZIP_TYPES[family],
    digest,
    size,
  };
}

/**
 * Gives a layer of gzip the media type of the family, as all types in a manifest are of one family. The bytes are the same.
 * Layers of other types, such as zstd, keep theirs.
 */
function inFamily(family: Family): (layer: Descriptor) => Descriptor {
  return (layer) =>
    Object.values(GZIP_TYPES).some((type) => type === layer.mediaType)
      ? { ...layer, mediaType: GZIP_TYPES[family] }
      : layer;
}

/** The manifest of an image, in the format of the base. */
function manifestOf(parts: {
  readonly config: Uint8Array;
  readonly layers: readonly Descriptor[];
  readonly family: Family;
  readonly base: BaseImage | undefined;
}): Manifest {
  const { config, layers, family, base } = parts;
  return manifestOfJson(MANIFEST_TYPES[family], {
    config: { mediaType: CONFIG_TYPES[family], digest: digestOf(config), size: config.length },
    layers,
    ...annotations(family, base),
  });
}

/** The annotation with the digest of the base. Docker's manifests have no annotations. */
function annotations(family: Family, base: BaseImage | undefined): Json {
  return base && family === 'oci' ? { annotations: { [BASE_DIGEST]: base.digest } } : {};
}

function manifestOfJson(mediaType: string, content: Json): Manifest {
  const bytes = new TextEncoder().encode(JSON.stringify({ schemaVersion: 2, mediaType, ...content }));
  return { mediaType, digest: digestOf(bytes), bytes };
}

function manifestDescriptor({ mediaType, digest, bytes }: Manifest): Descriptor {
  return { mediaType, digest, size: bytes.length };
}

function platformJson({ os, architecture, variant, osVersion }: Platform): Json {
  return {
    architecture,
    os,
    ...(osVersion === undefined ? {} : { 'os.version': osVersion }),
    ...(variant === undefined ? {} : { variant }),
  };
}

// The configuration of an index image: the base's, with what `opm generate dockerfile`
// sets. It holds no time of its own.
//
// @see https://github.com/operator-framework/operator-registry/blob/master/alpha/action/generate_dockerfile.go
// @see https://github.com/opencontainers/image-spec/blob/main/config.md

interface ImageSettings {
  /** Labels besides the one with the catalog's path. */
  readonly labels: Readonly<Record<string, string>>;
  /** Whether the image has a cache, which the server then reads and checks. */
  readonly cache: boolean;
}

/** A layer of ours, as the configuration names it. */
interface ConfiguredLayer {
  /** Its digest before compression. */
  readonly diffId: string;
  /** The folder of the image that all of it is in, with a slash before it. */
  readonly folder: string;
}

/** An image has no build time: the same content makes the same image. */
const NO_TIME = '1970-01-01T00:00:00Z';

/** What an image is made of, besides its base. */
interface LayeredSettings {
  /** Ours, the lowest first. */
  readonly layers: readonly ConfiguredLayer[];
  readonly platform: Platform;
}

/**
 * The configuration of a catalog's image.
 *
 * @param base the base's configuration; undefined for an image of nothing but the catalog, which has no server to start
 */
function imageConfig(base: Json | undefined, settings: ImageSettings & LayeredSettings): Uint8Array {
  const inner = objectIn(base ?? {}, 'config');
  return layeredConfig(base, settings, {
    ...(base ? serveCommand(settings.cache) : {}),
    Labels: labelsOf(objectIn(inner, 'Labels'), settings.labels),
  });
}

/**
 * The configuration of a base with more layers and other settings of its containers. The platform is that of
 * the manifest list, which counts before what the base's configuration says.
 */
export function layeredConfig(
  base: Json | undefined,
  { layers, platform: { os, architecture, variant, osVersion } }: LayeredSettings,
  changed: Json,
): Uint8Array {
  const config = base ?? {};
  const text = JSON.stringify({
    // A base's own time replaces it, as every field of the base that is not set below.
    created: NO_TIME,
    ...config,
    architecture,
    os,
    ...(variant === undefined ? {} : { variant }),
    ...(osVersion === undefined ? {} : { 'os.version': osVersion }),
    config: { ...objectIn(config, 'config'), ...changed },
    rootfs: {
      type: 'layers',
      diff_ids: [...listIn(objectIn(config, 'rootfs'), 'diff_ids'), ...layers.map(({ diffId }) => diffId)],
    },
    history: [
      ...listIn(config, 'history'),
      ...layers.map(({ folder }) => ({ created: NO_TIME, created_by: `${MADE_BY} ${folder}` })),
    ],
  });
  return new TextEncoder().encode(text);
}

/**
 * How a container starts opm. `--cache-dir` only if the image has a cache: opm refuses to start on an empty directory, and
 * without the option builds a cache in a directory of its own.
 */
function serveCommand(cache: boolean): Json {
  return {
    Entrypoint: ['/bin/opm'],
    Cmd: ['serve', '/configs', ...(cache ? ['--cache-dir=/tmp/cache'] : [])],
  };
}

/**
 * The base's labels, those of the policy over them, and the catalog's path over all; sorted, so that equal
 * labels make equal bytes.
 */
function labelsOf(base: Json, own: Readonly<Record<string, string>>): Json {
  const labels = { ...base, ...own, [CONFIGS_LABEL]: '/configs' };
  return Object.fromEntries(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The object under a key; empty where there is none. A base's configuration is somebody else's JSON. */
function objectIn(json: Json, key: string): Json {
  const value = Object.hasOwn(json, key) ? json[key] : undefined;
  return isObject(value) ? value : {};
}

/** The list under a key; empty where there is none. */
function listIn(json: Json, key: string): readonly unknown[] {
  const value = Object.hasOwn(json, key) ? json[key] : undefined;
  return Array.isArray(value) ? value : [];
}

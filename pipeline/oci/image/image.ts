/**
 * The index image as bytes: manifests for every platform, one list of them, and where the
 * blobs come from. Everything follows from the layers, the base and the settings.
 */

import type { BlobSource, Descriptor, Manifest, Platform } from '../../ports.ts';
import { digestOf, uniqueByDigest } from '../digest.ts';
import { DOCKER_LIST, DOCKER_MANIFEST, OCI_INDEX, OCI_MANIFEST } from '../media-types.ts';
import type { BaseImage } from './base.ts';
import { type ImageSettings, imageConfig } from './config.ts';
import { bytesBlob } from './content.ts';
import type { LayerFacts } from './layer.ts';

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

type Json = Readonly<Record<string, unknown>>;
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

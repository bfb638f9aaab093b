/**
 * The configuration of an index image: the base's, with what `opm generate dockerfile`
 * sets. It holds no time of its own.
 *
 * @see https://github.com/operator-framework/operator-registry/blob/master/alpha/action/generate_dockerfile.go
 * @see https://github.com/opencontainers/image-spec/blob/main/config.md
 */
import { isObject } from '../../../catalog/go/shape.ts';
import type { Platform } from '../../ports.ts';
import { CONFIGS_LABEL, type Json } from './base.ts';

export interface ImageSettings {
  /** Labels besides the one with the catalog's path. */
  readonly labels: Readonly<Record<string, string>>;
  /** Whether the image has a cache, which the server then reads and checks. */
  readonly cache: boolean;
}

/** The history entry of a layer that Portolan adds, with its folder in the image. */
export const MADE_BY = 'portolan';

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
export function imageConfig(base: Json | undefined, settings: ImageSettings & LayeredSettings): Uint8Array {
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

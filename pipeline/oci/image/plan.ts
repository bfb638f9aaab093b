/**
 * Which package goes into which layer. As long as they fit, each package is a layer of its
 * own; beyond that packages share layers by ranges of a hash of their names, each range cut
 * into halves until what is in it fits. So nothing but the packages decides, and a package
 * that grows cuts its own layer in two at most, which would have been sent again anyway.
 */
import { createHash } from 'node:crypto';
import { compareText } from '../../../catalog/go/text.ts';
import { PipelineError } from '../../error.ts';

/** Layers of an image, the base's among them: runtimes stack about 127, some builders fewer. */
export const MOST_LAYERS = 100;

/** The content that a package adds to the layers of one tree. `size` in bytes, compressed. */
export interface Load {
  readonly name: string;
  readonly size: number;
}

export interface LayerPlan {
  /** The packages of each layer of FBC, sorted by name, the layers by their first; no layer is empty. */
  readonly configs: readonly (readonly string[])[];
  /** The same of the layers of cache. */
  readonly cache: readonly (readonly string[])[];
  /** Bytes up to which packages share a layer of cache, half of it one of FBC; 0 where every package is alone. */
  readonly room: number;
}

interface PlanOptions {
  /** Layers of the base image; the most of all platforms. */
  readonly baseLayers: number;
  /** Layers that do not depend on the packages. */
  readonly fixedLayers: number;
}

/**
 * @param loads of each tree, each package once; none of cache where the image has none
 * @throws PipelineError `too-large` when the base leaves no room
 */
export function planLayers(
  loads: { readonly configs: readonly Load[]; readonly cache: readonly Load[] },
  { baseLayers, fixedLayers }: PlanOptions,
): LayerPlan {
  const most = MOST_LAYERS - baseLayers - fixedLayers;
  if (most < (loads.cache.length === 0 ? 1 : 2)) {
    const message = `the base image has ${baseLayers} layers: the index image would have more than ${MOST_LAYERS}`;
    throw new PipelineError('too-large', message, { hint: 'use a base image with fewer layers' });
  }
  const [configs, cache] = [loads.configs.map(placed), loads.cache.map(placed)];
  for (const room of rooms()) {
    // A bundle is several times larger in the cache than in the FBC: with half the room the layers of both trees
    // together are the smallest for what a change sends.
    const plan = { configs: sharedLayers(configs, room / 2), cache: sharedLayers(cache, room), room };
    if (plan.configs.length + plan.cache.length <= most) return plan;
  }
  throw new Error('there is always a room that holds everything');
}

/** Steps of an eighth, so that room is seldom changed: from every package alone to all in one layer. */
function* rooms(): Generator<number> {
  yield 0;
  for (let power = 2 ** 12; power <= Number.MAX_SAFE_INTEGER; power *= 2) {
    for (let eighths = 8; eighths < 16; eighths++) yield (power / 8) * eighths;
  }
}

interface Placed extends Load {
  /** Where among all names the package stands, in 32 bits. */
  readonly place: number;
}

function placed({ name, size }: Load): Placed {
  return { name, size, place: createHash('sha256').update(name).digest().readUInt32BE(0) };
}

function sharedLayers(loads: readonly Placed[], room: number): string[][] {
  const isLarge = ({ size }: Load): boolean => size > room / 2;
  const layers = [
    ...loads.filter(isLarge).map((load) => [load]),
    ...halved(
      loads.filter((load) => !isLarge(load)),
      room,
    ),
  ];
  return layers
    .map((layer) => layer.map(({ name }) => name).sort(compareText))
    .sort(([a = ''], [b = '']) => compareText(a, b));
}

/** Packages of one range of places, cut until each part fits. @param bit the highest that tells them apart */
function halved(loads: readonly Placed[], room: number, bit = 31): (readonly Placed[])[] {
  if (loads.length === 0) return [];
  const size = loads.reduce((sum, load) => sum + load.size, 0);
  if (size <= room || loads.length === 1 || bit < 0) return [loads];
  const isUpper = ({ place }: Placed): boolean => ((place >>> bit) & 1) === 1;
  return [
    ...halved(
      loads.filter((load) => !isUpper(load)),
      room,
      bit - 1,
    ),
    ...halved(loads.filter(isUpper), room, bit - 1),
  ];
}

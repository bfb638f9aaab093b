/**
 * Which package goes into which layer. As long as they fit, each package is a layer of its
 * own (two with a cache); beyond that packages share layers by a hash of their names, so
 * that a new package moves no other one.
 */
import { createHash } from 'node:crypto';
import { PipelineError } from '../error.ts';

/** Layers of an image, the base's among them: runtimes stack about 127, some builders fewer. */
export const MOST_LAYERS = 100;

export interface LayerPlan {
  /** The packages of each layer, sorted by name; no layer is empty. */
  readonly shards: readonly (readonly string[])[];
  /** Number of hash slots, or `packages` where each package is a layer of its own. */
  readonly slots: number | 'packages';
}

export interface PlanOptions {
  /** Layers of the base image; the most of all platforms. */
  readonly baseLayers: number;
  /** Layers that do not depend on the number of packages. */
  readonly fixedLayers: number;
  /** Layers for each shard: one of FBC, and one of its cache. */
  readonly layersPerShard: 1 | 2;
}

/** Slots come in steps, so that a base with one layer more does not move every package. */
const STEP = 8;

/**
 * @param packages names, each once
 * @throws PipelineError `too-large` when the base leaves no room
 */
export function planLayers(packages: readonly string[], options: PlanOptions): LayerPlan {
  const { baseLayers, fixedLayers, layersPerShard } = options;
  const most = Math.floor((MOST_LAYERS - baseLayers - fixedLayers) / layersPerShard);
  if (most < 1) {
    const message = `the base image has ${baseLayers} layers: with ours there would be more than ${MOST_LAYERS}`;
    throw new PipelineError('too-large', message, { hint: 'use a base image with fewer layers' });
  }
  const sorted = [...packages].sort();
  if (sorted.length <= most) return { shards: sorted.map((name) => [name]), slots: 'packages' };
  const slots = most < STEP ? most : most - (most % STEP);
  const shards: string[][] = Array.from({ length: slots }, () => []);
  for (const name of sorted) shards[slotOf(name, slots)]?.push(name);
  return { shards: shards.filter((shard) => shard.length > 0), slots };
}

function slotOf(name: string, slots: number): number {
  return createHash('sha256').update(name).digest().readUInt32BE(0) % slots;
}

/**
 * The layers of a plan: what is known of them from the memory, else by putting them together
 * from the pieces of their packages.
 */

import { createHash } from 'node:crypto';
import { CACHE, CACHE_FILES, CONFIGS, type Tree } from '../../../catalog/fbc/cache/layout.ts';
import { compareText } from '../../../catalog/go/text.ts';
import { PipelineError } from '../../error.ts';
import { contentKey } from './build-cache.ts';
import { type BuildContext, pieceAtHand, pieceKey } from './build-context.ts';
import type { Layer } from './image.ts';
import {
  type Extent,
  endPiece,
  finishedPiece,
  type LayerFacts,
  layerBlob,
  layerOf,
  openPiece,
  type PieceFacts,
} from './layer-piece.ts';
import { makePackage } from './package.ts';
import { OPAQUE } from './tree.ts';

/** The bytes around the pieces of every layer. */
interface Frame {
  /** The folders that hold a tree's files. */
  readonly heads: Readonly<Record<Tree, Extent>>;
  readonly end: Extent;
}

/** What layers are put together in. */
interface LayerScope {
  readonly context: BuildContext;
  readonly frame: Frame;
}

/** The folders above a tree's files, the outermost first: every layer of the tree has them. */
const ABOVE: Readonly<Record<Tree, readonly string[]>> = { configs: [CONFIGS], cache: [CACHE, CACHE_FILES] };
/** The folder of a tree in the image, for the layer's history. */
const FOLDERS: Readonly<Record<Tree, string>> = { configs: `/${CONFIGS}`, cache: `/${CACHE}` };

/**
 * Makes the bytes around the pieces of every layer: in front the folders of its tree, behind the end of an
 * archive.
 */
export async function makeFrame({ scratch, codec }: BuildContext): Promise<Frame> {
  const head = async (tree: Tree): Promise<Extent> => {
    const piece = await openPiece(scratch, `head-${tree}`, codec);
    for (const path of ABOVE[tree]) await piece.add({ path, kind: 'directory', pieces: [] });
    return extentAt(scratch, await piece.finish());
  };
  const heads = { configs: await head('configs'), cache: await head('cache') };
  return { heads, end: extentAt(scratch, await endPiece(scratch, codec)) };
}

/** Where a piece that was just made stands. */
function extentAt(scratch: string, facts: PieceFacts): Extent {
  const extent = finishedPiece(scratch, facts);
  if (!extent) throw new Error(`the piece ${facts.digest} was made and is not there`);
  return extent;
}

/** A layer of packages, which the memory knows or which is put together now. */
export async function packageLayer(
  tree: Tree,
  names: readonly string[],
  { context, frame }: LayerScope,
): Promise<Layer> {
  const { memory, codec, made } = context;
  const keys = names.map((name) => pieceKey(tree, name, context));
  const key = contentKey('layer', tree, ...keys);
  const pieces = async (): Promise<Extent[]> => {
    const found: Extent[] = [];
    for (const name of names) found.push(await pieceOf(tree, name, context));
    return [frame.heads[tree], ...found, frame.end];
  };
  // The pieces of a known layer are made only if a registry asks for its bytes.
  const knownFacts = memory.layers.get(key);
  if (knownFacts) return { facts: knownFacts, blob: layerBlob(knownFacts, pieces), folder: FOLDERS[tree] };
  const extents = await pieces();
  const facts = await layerOf(extents, codec);
  made.add(facts.digest);
  memory.layers.set(key, facts);
  notePlaces(keys, { facts, extents }, context);
  return { facts, blob: layerBlob(facts, async () => extents), folder: FOLDERS[tree] };
}

/** Where the piece of a package stands. If it is at hand nowhere, the package is made again. */
async function pieceOf(tree: Tree, name: string, context: BuildContext): Promise<Extent> {
  const key = pieceKey(tree, name, context);
  const found = await pieceAtHand(key, context);
  if (found) return found;
  // The layers of both trees may be asked for at once, and one making gives the pieces of both.
  const making = context.remade.get(name) ?? makePackage(name, context);
  context.remade.set(name, making);
  await making;
  const made = await pieceAtHand(key, context);
  if (!made) throw new Error(`the package ${JSON.stringify(name)} has no piece of the ${tree}`);
  return made;
}

/** Records the place of each piece in a layer for the next build. */
function notePlaces(
  keys: readonly string[],
  { facts: { digest, size }, extents }: { readonly facts: LayerFacts; readonly extents: readonly Extent[] },
  { memory }: BuildContext,
): void {
  // The first extent is the head of the layer; the pieces follow in the order of their keys.
  let offset = extents[0]?.size ?? 0;
  for (const key of keys) {
    const piece = memory.pieces.get(key);
    if (!piece) throw new Error(`the piece ${key} of a layer is not known`);
    memory.pieces.set(key, { digest: piece.digest, size: piece.size, layer: { digest, size, offset } });
    offset += piece.size;
  }
}

/** The layer of the cache's index. It needs no head: its piece has the folders itself. */
export async function indexLayer(piece: PieceFacts, { context, frame }: LayerScope): Promise<Layer> {
  const layer = await layerOfPiece(piece, FOLDERS.cache, { context, frame });
  context.made.add(layer.facts.digest);
  return layer;
}

/**
 * The layer directly above a base: it takes away what the base has in the folders of the image's trees. No rule has
 * checked a package there, and opm refuses a cache with files of another one. In a later layer, the whiteouts would
 * also take away what is ours.
 *
 * @param trees that the image has
 */
export async function emptyingLayer(trees: readonly Tree[], { context, frame }: LayerScope): Promise<Layer> {
  const piece = await openPiece(context.scratch, 'emptying', context.codec);
  for (const path of trees.map((tree) => FOLDERS[tree].slice(1))) {
    // The folder comes first: some programs that unpack layers look for it when they meet the whiteout.
    await piece.add({ path, kind: 'directory', pieces: [] });
    await piece.add({ path: `${path}/${OPAQUE}`, kind: 'file', pieces: [] });
  }
  return layerOfPiece(await piece.finish(), '/', { context, frame });
}

/** A layer of one piece, which has the folders itself. */
async function layerOfPiece(
  piece: PieceFacts,
  folder: string,
  { context: { scratch, codec }, frame }: LayerScope,
): Promise<Layer> {
  const extents = [extentAt(scratch, piece), frame.end];
  const facts = await layerOf(extents, codec);
  return { facts, blob: layerBlob(facts, async () => extents), folder };
}

// Which package goes into which layer. As long as they fit, each package is a layer of its
// own; beyond that packages share layers by ranges of a hash of their names, each range cut
// into halves until what is in it fits. So nothing but the packages decides, and a package
// that grows cuts its own layer in two at most, which would have been sent again anyway.

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
 * Divides packages into layers: as many as an image may have, and each as small as possible.
 *
 * @param loads of each tree, each package once; none of cache where the image has none
 * @throws PipelineError `too-large` when the base leaves no room
 */
export function planLayers(
  loads: { readonly configs: readonly Load[]; readonly cache: readonly Load[] },
  { baseLayers, fixedLayers }: PlanOptions,
): LayerPlan {
  const most = MOST_LAYERS - baseLayers - fixedLayers;
  // Each tree needs a layer at least.
  if (most < (loads.cache.length === 0 ? 1 : 2)) {
    const message = `the base image has ${baseLayers} layers: the index image would have more than ${MOST_LAYERS}`;
    throw new PipelineError('too-large', message, { hint: 'use a base image with fewer layers' });
  }
  const [configs, cache] = [loads.configs.map(placedLoad), loads.cache.map(placedLoad)];
  for (const room of roomSteps()) {
    // A bundle is several times larger in the cache than in the FBC: with half the room the layers of both trees
    // together are the smallest for what a change sends.
    const plan = { configs: sharedLayers(configs, room / 2), cache: sharedLayers(cache, room), room };
    if (plan.configs.length + plan.cache.length <= most) return plan;
  }
  throw new Error('there is always a room that holds everything');
}

/** Rooms to try, in bytes: 0 (every package alone), then from 4 KiB in eighths of a power of two, so that room seldom changes. */
function* roomSteps(): Generator<number> {
  yield 0;
  for (let power = 2 ** 12; power <= Number.MAX_SAFE_INTEGER; power *= 2) {
    for (let eighths = 8; eighths < 16; eighths++) yield (power / 8) * eighths;
  }
}

interface PlacedLoad extends Load {
  /** Where among all names the package stands, in 32 bits. */
  readonly place: number;
}

/**
 * A package with its place by a hash of its name: its neighbours stay the same when other packages come or
 * go.
 */
function placedLoad({ name, size }: Load): PlacedLoad {
  return { name, size, place: createHash('sha256').update(name).digest().readUInt32BE(0) };
}

/**
 * The names of the packages in each layer. One of more than half the room is alone, so that no change of a neighbour sends it
 * (docs/adr/0011-layers-by-package.md).
 */
function sharedLayers(loads: readonly PlacedLoad[], room: number): string[][] {
  const isLarge = ({ size }: Load): boolean => size > room / 2;
  const layers = [
    ...loads.filter(isLarge).map((load) => [load]),
    ...halvedLoads(
      loads.filter((load) => !isLarge(load)),
      room,
    ),
  ];
  return layers
    .map((layer) => layer.map(({ name }) => name).sort(compareText))
    .sort(([a = ''], [b = '']) => compareText(a, b));
}

/**
 * Splits the packages of one range of places in two, again and again, until each part fits.
 *
 * @param bit of their places that decides the half: 31 is the highest; below 0 all places are equal, and nothing divides them
 */
function halvedLoads(loads: readonly PlacedLoad[], room: number, bit = 31): (readonly PlacedLoad[])[] {
  if (loads.length === 0) return [];
  const size = loads.reduce((sum, load) => sum + load.size, 0);
  if (size <= room || loads.length === 1 || bit < 0) return [loads];
  const isUpper = ({ place }: PlacedLoad): boolean => ((place >>> bit) & 1) === 1;
  return [
    ...halvedLoads(
      loads.filter((load) => !isUpper(load)),
      room,
      bit - 1,
    ),
    ...halvedLoads(loads.filter(isUpper), room, bit - 1),
  ];
}

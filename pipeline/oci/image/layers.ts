/**
 * The layers of a plan: what is known of them from the memory, else by putting them together
 * from the pieces of their packages.
 */
import { CACHE, CACHE_FILES, CONFIGS, type Tree } from '../../../catalog/fbc/cache/layout.ts';
import { contentKey } from './build-cache.ts';
import { pieceAtHand, pieceKey, type Workshop } from './build-context.ts';
import type { Layer } from './image.ts';
import { type LayerFacts, layerBlob, layerOf } from './layer.ts';
import { type Extent, endPiece, finishedPiece, openPiece, type PieceFacts } from './layer-piece.ts';
import { makePackage } from './package.ts';

/** The bytes around the pieces of every layer. */
interface Frame {
  /** The folders that hold a tree's files. */
  readonly heads: Readonly<Record<Tree, Extent>>;
  readonly end: Extent;
}

const ABOVE: Readonly<Record<Tree, readonly string[]>> = { configs: [CONFIGS], cache: [CACHE, CACHE_FILES] };
const FOLDERS: Readonly<Record<Tree, string>> = { configs: `/${CONFIGS}`, cache: `/${CACHE}` };

export async function makeFrame({ scratch, codec }: Workshop): Promise<Frame> {
  const head = async (tree: Tree): Promise<Extent> => {
    const piece = await openPiece(scratch, `head-${tree}`, codec);
    for (const path of ABOVE[tree]) await piece.add({ path, kind: 'directory', pieces: [] });
    return at(scratch, await piece.finish());
  };
  const heads = { configs: await head('configs'), cache: await head('cache') };
  return { heads, end: at(scratch, await endPiece(scratch, codec)) };
}

function at(scratch: string, facts: PieceFacts): Extent {
  const extent = finishedPiece(scratch, facts);
  if (!extent) throw new Error(`the piece ${facts.digest} was made and is not there`);
  return extent;
}

/** A layer of packages, which the memory knows or which is put together now. */
export async function packageLayer(
  tree: Tree,
  names: readonly string[],
  { workshop, frame }: { readonly workshop: Workshop; readonly frame: Frame },
): Promise<Layer> {
  const { memory, codec, made } = workshop;
  const keys = names.map((name) => pieceKey(tree, name, workshop));
  const key = contentKey('layer', tree, ...keys);
  const pieces = async (): Promise<Extent[]> => {
    const found: Extent[] = [];
    for (const name of names) found.push(await pieceOf(tree, name, workshop));
    return [frame.heads[tree], ...found, frame.end];
  };
  const known = memory.layers.get(key);
  if (known) return { facts: known, blob: layerBlob(known, pieces), folder: FOLDERS[tree] };
  const extents = await pieces();
  const facts = await layerOf(extents, codec);
  made.add(facts.digest);
  memory.layers.set(key, facts);
  notePlaces(keys, { facts, extents }, workshop);
  return { facts, blob: layerBlob(facts, async () => extents), folder: FOLDERS[tree] };
}

async function pieceOf(tree: Tree, name: string, workshop: Workshop): Promise<Extent> {
  const key = pieceKey(tree, name, workshop);
  const found = await pieceAtHand(key, workshop);
  if (found) return found;
  // The layers of both trees may be asked for at once, and one making gives the pieces of both.
  const making = workshop.remade.get(name) ?? makePackage(name, workshop);
  workshop.remade.set(name, making);
  await making;
  const made = await pieceAtHand(key, workshop);
  if (!made) throw new Error(`the package ${JSON.stringify(name)} has no piece of the ${tree}`);
  return made;
}

/** Records the place of each piece in a layer for the next build. */
function notePlaces(
  keys: readonly string[],
  { facts: { digest, size }, extents }: { readonly facts: LayerFacts; readonly extents: readonly Extent[] },
  { memory }: Workshop,
): void {
  let offset = extents[0]?.size ?? 0;
  for (const key of keys) {
    const piece = memory.pieces.get(key);
    if (!piece) throw new Error(`the piece ${key} of a layer is not known`);
    memory.pieces.set(key, { digest: piece.digest, size: piece.size, layer: { digest, size, offset } });
    offset += piece.size;
  }
}

/** The layer of the cache's index. */
export async function indexLayer(
  piece: PieceFacts,
  { workshop, frame }: { readonly workshop: Workshop; readonly frame: Frame },
): Promise<Layer> {
  const extents = [at(workshop.scratch, piece), frame.end];
  const facts = await layerOf(extents, workshop.codec);
  workshop.made.add(facts.digest);
  return { facts, blob: layerBlob(facts, async () => extents), folder: FOLDERS.cache };
}

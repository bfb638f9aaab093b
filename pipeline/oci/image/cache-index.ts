/**
 * The layer on top: what belongs to no single package. Files of blobs of other schemas,
 * packages.json, and the digest that seals the cache.
 */
import { CACHE, CACHE_FILES, type TreePart } from '../../../catalog/fbc/cache/layout.ts';
import { packagesJson } from '../../../catalog/fbc/cache/package-index.ts';
import { compareWalk } from '../../../catalog/source.ts';
import type { PackageFacts, StretchFacts } from './build-cache.ts';
import type { Workshop } from './build-context.ts';
import { openPiece, type PieceFacts } from './layer-piece.ts';
import { put } from './package.ts';

/** The piece that the layer holds, and the digest that it seals the cache with. */
export interface IndexPiece {
  readonly facts: PieceFacts;
  readonly digest: string;
}

/**
 * Makes the piece of the cache's index.
 *
 * @param seal computes the digest from the stretches of this layer and all others
 */
export async function makeIndex(
  packages: readonly PackageFacts[],
  seal: (stretches: readonly StretchFacts[]) => string,
  { scratch, codec }: Workshop,
): Promise<IndexPiece> {
  const piece = await openPiece(scratch, 'index', codec);
  try {
    for (const path of [CACHE, CACHE_FILES]) await piece.add({ path, kind: 'directory', pieces: [] });
    const stretches = [
      await put('cache', metaParts(packages), piece),
      await put('cache', [indexPart(packages)], piece),
    ];
    const digest = seal(stretches.filter((stretch) => stretch !== undefined));
    const pieces = [new TextEncoder().encode(digest)];
    await piece.add({ path: `${CACHE}/digest`, kind: 'file', pieces });
    return { facts: await piece.finish(), digest };
  } catch (error) {
    piece.abandon();
    throw error;
  }
}

function indexPart(packages: readonly PackageFacts[]): TreePart {
  const members = packages.flatMap(({ member }) => member ?? []).sort();
  return { path: 'packages.json', kind: 'file', pieces: [new TextEncoder().encode(packagesJson(members))] };
}

/** The folders and files below `metas`, in the order of the walk. */
function metaParts(packages: readonly PackageFacts[]): TreePart[] {
  const encoder = new TextEncoder();
  const parts = new Map<string, TreePart>();
  for (const { path, text } of packages.flatMap(({ metas }) => metas)) {
    for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) {
      parts.set(path.slice(0, at), { path: path.slice(0, at), kind: 'directory', pieces: [] });
    }
    parts.set(path, { path, kind: 'file', pieces: [encoder.encode(text)] });
  }
  return [...parts.values()].sort((a, b) => compareWalk(a.path, b.path));
}

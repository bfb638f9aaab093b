/**
 * The digest that opm seals a JSON cache with: FNV-1a over two tar archives, of the
 * catalog's files and of the cache's. `opm serve` computes it again at its start and
 * refuses the cache if a byte, a name or a permission bit differs.
 *
 * @see https://github.com/operator-framework/operator-registry/blob/master/pkg/cache/tar.go
 */

import { TAR_END, tarHeader, tarPadding } from '../../catalog/fbc/cache/tar.ts';
import { FNV_START, fnv1a, fnv64Hex } from '../../catalog/go/fnv.ts';
import { compareWalk } from '../../catalog/source.ts';

/** A file or folder of a tree; the tree's root has the path `.`. Links are left out. */
export interface TreeEntry {
  readonly path: string;
  readonly kind: 'file' | 'directory';
  /** Permission bits. */
  readonly mode: number;
  /** In bytes; 0 for directories. */
  readonly size: number;
  readonly content?: () => AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/**
 * @param configs the tree of the catalog's files
 * @param cache the tree of the folder `cache/` in the cache
 * @returns 16 hex digits
 */
export async function cacheDigest(
  configs: readonly TreeEntry[],
  cache: readonly TreeEntry[],
): Promise<string> {
  const state = await archived(configs, FNV_START);
  return fnv64Hex(await archived(cache, state));
}

async function archived(tree: readonly TreeEntry[], start: bigint): Promise<bigint> {
  let state = start;
  for (const entry of [...tree].sort(inWalkOrder)) {
    state = fnv1a(tarHeader({ ...entry, name: entry.path }), state);
    if (!entry.content) continue;
    for await (const chunk of entry.content()) state = fnv1a(chunk, state);
    state = fnv1a(new Uint8Array(tarPadding(entry.size)), state);
  }
  return fnv1a(TAR_END, state);
}

function inWalkOrder(a: TreeEntry, b: TreeEntry): number {
  return compareWalk(a.path === '.' ? '' : a.path, b.path === '.' ? '' : b.path);
}

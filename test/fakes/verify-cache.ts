/**
 * Looks at a finished image as `opm serve` will: computes the cache's digest again from
 * the layers, and compares it with the one that the image holds.
 */

import { CACHE, CACHE_FILES, CONFIGS } from '../../catalog/fbc/cache/layout.ts';
import { type ImageTree, readTree } from '../../pipeline/oci/image/tree.ts';
import { cacheDigest, type TreeEntry } from './cache-digest.ts';

export interface CacheCheck {
  /** The digest in the image; undefined when it has no JSON cache. */
  readonly recorded: string | undefined;
  /** What opm computes at its start. */
  readonly computed: string;
}

/**
 * @param layers compressed bytes of the image's layers, the lowest first
 * @param scratch an existing directory with room for what is in them
 * @throws PipelineError `corrupt`, `too-large`, `io`
 */
export async function verifyCache(
  layers: readonly AsyncIterable<Uint8Array>[],
  scratch: string,
): Promise<CacheCheck> {
  const below = (path: string, root: string): boolean => path === root || path.startsWith(`${root}/`);
  const wanted = (path: string): boolean => below(path, CONFIGS) || below(path, CACHE);
  const tree = await readTree(layers, { scratch, wanted });
  try {
    const digest = tree.entries.get(`${CACHE}/digest`);
    return {
      recorded: digest && new TextDecoder().decode(tree.read(digest)).trim(),
      computed: await cacheDigest(entriesBelow(tree, CONFIGS), entriesBelow(tree, CACHE_FILES)),
    };
  } finally {
    tree.close();
  }
}

function entriesBelow(tree: ImageTree, root: string): TreeEntry[] {
  return [...tree.entries].flatMap(([path, entry]): TreeEntry[] => {
    const inside =
      path === root ? '.' : path.startsWith(`${root}/`) ? path.slice(root.length + 1) : undefined;
    // opm leaves links out of the digest.
    if (inside === undefined || entry.kind === 'link') return [];
    const { kind, mode, size } = entry;
    const content = kind === 'file' ? { content: () => [tree.read(entry)] } : {};
    return [{ path: inside, kind, mode, size, ...content }];
  });
}

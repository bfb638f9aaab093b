/** A tag that follows the claims of a fence. */
import { formatReference, type Reference, withDigest } from '../../catalog/reference.ts';
import { PipelineError } from '../error.ts';
import type { Registry } from '../ports.ts';
import type { Follower } from './fence.ts';

/**
 * The tag of an index image. Whatever digest is claimed is in the registry: it is claimed after it
 * was pushed.
 */
export function followingTag(registry: Registry, tag: Reference): Follower {
  return {
    follows: async ({ digest }) => (await registry.resolve(tag))?.digest === digest,
    move: async ({ digest }, turn) => {
      const manifest = await registry.getManifest(withDigest(tag, digest));
      if (manifest) return registry.putManifest(tag, manifest, { within: turn.left(), again: turn.doubt });
      throw new PipelineError(
        'not-found',
        `the image ${digest} for ${formatReference(tag)} no longer exists`,
        { hint: 'publish the commit again to rebuild and push the image' },
      );
    },
  };
}

/** A tag that follows the claims of a fence. */
import { formatReference, type Reference, withDigest } from '../../catalog/reference.ts';
import { PipelineError } from '../error.ts';
import type { Registry } from '../ports.ts';
import type { Follower } from './fence.ts';

/** The tag that the image of a retired catalog has in place of its own. */
export function retiredTag(tag: Reference, digest: string): Reference {
  const { registry, repository } = tag;
  // The whole must be a tag, of at most 128 characters; the digest keeps two images of one tag apart.
  const before = tag.kind === 'tag' ? tag.tag.slice(0, 100) : 'digest';
  return {
    kind: 'tag',
    registry,
    repository,
    tag: `retired-${before}-${digest.slice('sha256:'.length, 'sha256:'.length + 12)}`,
  };
}

/**
 * The tag of an index image, as a follower of claims. Whatever digest is claimed is in the registry: images
 * are pushed before they are claimed.
 */
export function followingTag(registry: Registry, tag: Reference): Follower {
  return {
    follows: async ({ digest, retired }) => {
      // What stays, stays as it is: somebody else may publish to it by now.
      if (retired === 'keep') return true;
      const isNamed = (await registry.resolve(tag))?.digest === digest;
      return retired === undefined ? isNamed : !isNamed;
    },
    move: async ({ digest, retired }, turn) => {
      const manifest = await registry.getManifest(withDigest(tag, digest));
      if (retired === 'retag' && manifest) await registry.putManifest(retiredTag(tag, digest), manifest);
      if (retired !== undefined) {
        await registry.deleteManifest(tag, { within: turn.timeLeft() });
        return;
      }
      if (manifest)
        return registry.putManifest(tag, manifest, { within: turn.timeLeft(), again: turn.doubt });
      throw new PipelineError(
        'not-found',
        `the image ${digest} for ${formatReference(tag)} no longer exists`,
        { hint: 'publish the commit again to rebuild and push the image' },
      );
    },
  };
}

/** The fence around one publish: asked before anything is built, and moved before the tag is. */
import { isAncestor } from '../git/merge.ts';
import type { Repository } from '../git/repository.ts';
import type { Fence, Registry, StandingClaim } from '../ports.ts';
import { openDestination } from '../registry/open.ts';
import { claim, converge, type Fencing, type Follower, fenceName, standingOf } from './fence.ts';
import { followingTag } from './fence-tag.ts';
import { isFenced } from './push.ts';
import type { PublishTarget } from './target.ts';

export interface Guarded {
  readonly repository: Repository;
  readonly fence: Fence | undefined;
  readonly catalog: string;
  /** Id of the commit. */
  readonly commit: string;
  readonly epoch?: number | undefined;
}

export interface Guard {
  /** The newer claim that makes this publish needless, once the tag follows it; undefined when there is none. */
  newer(registry: Registry): Promise<StandingClaim | undefined>;
  /** Claims the tag for an image that is in its place by digest, and moves it. */
  promote(digest: string): (tag: Follower) => Promise<void>;
  /** What the tag follows after the move; undefined before. */
  winner(): StandingClaim | undefined;
}

/** @returns undefined where nothing is fenced */
export function guardOf(
  { to, name }: Pick<PublishTarget, 'to' | 'name'>,
  guarded: Guarded,
): Guard | undefined {
  const { fence, repository, catalog, commit, epoch } = guarded;
  if (!fence || !isFenced(to)) return undefined;
  const fencing: Fencing = {
    fence,
    name: fenceName(catalog, name),
    isAncestor: (older, newer) => isAncestor(repository, older, newer),
  };
  let winner: StandingClaim | undefined;
  return {
    newer: async (registry) => {
      const standing = await standingOf(fencing, { commit, epoch });
      if (standing.kind === 'ahead') return undefined;
      const { registry: place, reference } = await openDestination(to, registry);
      return (await converge(fencing, standing.by, [followingTag(place, reference)])).claim;
    },
    promote: (digest) => async (tag) => {
      const claimed = await claim(fencing, { commit, digest, epoch });
      winner = (await converge(fencing, claimed.claim, [tag])).claim;
    },
    winner: () => winner,
  };
}

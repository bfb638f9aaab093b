/**
 * A catalog that the branch or the policy has no more. A claim without an image of its own takes the place of the last
 * one: publishers of older commits find it, and a commit that has the catalog again is newer. The tag follows that
 * claim as every other one, under the lease.
 */
import type { Reference, TagReference } from '../../catalog/reference.ts';
import { PipelineError } from '../error.ts';
import { formatLocation, type ImageLocation } from '../oci/registry/image-location.ts';
import { openDestination } from '../oci/registry/open.ts';
import type { Descriptor, Fence, Registry, Retirement, StandingClaim } from '../ports.ts';
import { claimRetired, type Fencing, type Follower, fenceName, moveFollowers } from './fence.ts';
import type { LeaseOptions } from './fence-lease.ts';
import { followingTag } from './fence-tag.ts';
import { isFenced } from './push.ts';
import { deleteOld, isAttachedBy } from './retention.ts';
import type { PublishTarget } from './target.ts';

export interface RetirePorts {
  readonly fence: Fence;
  readonly lease?: LeaseOptions | undefined;
  readonly registry: Registry;
  readonly isAncestor: Fencing['isAncestor'];
}

interface Retiring {
  readonly catalog: string;
  readonly place: ImageLocation;
  /** Id of the commit that has the catalog no more. */
  readonly commit: string;
  /** Digest of the image that was published last, where no claim names it. */
  readonly last: string;
  readonly retired: Retirement;
  /** What the catalog's target asked for: it goes with the images. */
  readonly attest: PublishTarget['attest'];
  /** The followers of the claim besides the tag. */
  readonly beside: readonly Follower[];
}

/** How far one way to retire goes beyond another one: what is deleted cannot be kept any more. */
const REACH: Readonly<Record<Retirement, number>> = { keep: 0, retag: 1, delete: 2 };

/** Whether a catalog that is retired in one way is to be retired in another one as well. */
export function goesBeyond(wanted: Retirement, done: Retirement | undefined): boolean {
  return done === undefined || REACH[wanted] > REACH[done];
}

/**
 * Retires a catalog at one place. If a run dies before the end, the next one goes on from the claim.
 *
 * @returns the claim that stands; the caller's is the one that is `retired`
 * @throws PipelineError `denied` when the registry does not let tags or images be deleted; `conflict` for a commit of
 *   another history
 */
export async function retireAt(
  ports: RetirePorts,
  { catalog, place, commit, last, retired, attest, beside }: Retiring,
): Promise<StandingClaim | undefined> {
  if (!isFenced(place)) return undefined;
  const { fence, lease, isAncestor } = ports;
  const fencing: Fencing = { fence, name: fenceName(catalog, formatLocation(place)), lease, isAncestor };
  const { registry, reference } = await openDestination(place, ports.registry);
  const tag = followingTag(registry, reference);
  const standing = await fence.read(fencing.name);
  // The tag may be a publish behind: what it names then is nobody's to take away, unless it names what is claimed.
  if (standing && standing.retired === undefined && retired !== 'keep')
    await bringTag(fencing, standing, tag);
  const { kind, claim } = await claimRetired(fencing, { commit, last, retired });
  if (kind === 'superseded' && claim.retired === undefined) return claim;
  const followers = [deletedImages(registry, reference, isAttachedBy({ attest })), tag, ...beside];
  return (await moveFollowers(fencing, claim, followers)).claim;
}

/**
 * Moves the tag to what is claimed. Where the claimed image is gone there is nothing to move it to, and a
 * retirement goes on.
 */
async function bringTag(fencing: Fencing, standing: StandingClaim, tag: Follower): Promise<void> {
  try {
    await moveFollowers(fencing, standing, [tag]);
  } catch (error) {
    if (!(error instanceof PipelineError && error.code === 'not-found')) throw error;
  }
}

/** Deletes the images of a catalog where the claim says so, but those that somebody else has tagged or signed. */
function deletedImages(
  registry: Registry,
  reference: Reference,
  isOwn: (artifact: Descriptor) => boolean,
): Follower {
  return {
    follows: async ({ retired }) => retired !== 'delete' || reference.kind !== 'tag',
    move: async ({ digest }, turn) => {
      const published = reference as TagReference;
      const deleteManifest: Registry['deleteManifest'] = (image) =>
        registry.deleteManifest(image, { within: turn.timeLeft() });
      await deleteOld({ ...registry, deleteManifest }, published, {
        keep: 0,
        claimed: [],
        isOwn,
        retired: digest,
      });
    },
  };
}

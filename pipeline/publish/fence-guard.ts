/** The fence around one publish: asked before anything is built, and moved before the tag is. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isAncestor } from '../git/merge.ts';
import type { Repository } from '../git/repository.ts';
import type { ImageLocation } from '../oci/registry/image-location.ts';
import { openDestination } from '../oci/registry/open.ts';
import type { Fence, RecordStore, Registry, StandingClaim } from '../ports.ts';
import { followingRecord, keepDocuments, type PublishedFrom } from './documents.ts';
import {
  type CommitOrder,
  claimTag,
  type Fencing,
  type Follower,
  fenceName,
  moveFollowers,
  standingOf,
} from './fence.ts';
import type { LeaseOptions } from './fence-lease.ts';
import { followingTag } from './fence-tag.ts';
import { learnFromImage } from './published-commit.ts';
import { isFenced } from './push.ts';
import type { PublishTarget } from './target.ts';

/** One publish to guard: the ports of its fence, and what is published. */
export interface Guarded {
  readonly repository: Repository;
  readonly fence: Fence | undefined;
  readonly registry: Registry;
  /** Given where the fence is not shared by all publishers: the published image is then asked as well. */
  readonly ownFence?: OwnFence | undefined;
  /** The storage for the documents of every publish, in addition to the output directory. */
  readonly records?: RecordStore | undefined;
  readonly catalog: string;
  /** Id of the commit. */
  readonly commit: string;
  readonly epoch?: number | undefined;
  readonly lease?: LeaseOptions | undefined;
  /** The branch that the commit is on. */
  readonly from?: PublishedFrom | undefined;
}

/** A fence that only one clone or one machine reads. */
export interface OwnFence {
  /** Whether a tag may be moved whose image does not say which commit it was published from. */
  readonly takeOver: boolean;
}

/** The fence as a publish uses it: `newer` before the build, `promote` after the push; the rest tells what came of them. */
export interface Guard {
  /** The newer claim that makes this publish needless, once the tag follows it; undefined when there is none. */
  newer(): Promise<StandingClaim | undefined>;
  /** Claims the tag for an image that is in its place by digest, and moves it. */
  promote(digest: string, files: ReadonlyMap<string, string>): (tag: Follower) => Promise<void>;
  /** Id of the commit that the tag names so far; undefined where none is known, or the same or a newer one. */
  previous(): Promise<string | undefined>;
  /** The epoch that the commit is published in, once it is known that nothing newer is. */
  epoch(): number;
  /** What the tag follows after the move; undefined before. */
  winner(): StandingClaim | undefined;
}

/** Whether a place is a directory that holds nothing yet: opening it to write would make it. */
function isAbsent(place: ImageLocation): boolean {
  return place.kind === 'oci' && !existsSync(join(place.path, 'index.json'));
}

/** What keeps a newer published commit in its place; undefined for places without a fence. */
export function guardOf(
  { to, name: place }: Pick<PublishTarget, 'to' | 'name'>,
  guarded: Guarded,
): Guard | undefined {
  const { fence, repository, registry, records, catalog, commit, epoch, lease, from, ownFence } = guarded;
  if (!fence || !isFenced(to)) return undefined;
  const name = fenceName(catalog, place);
  const fencing: Fencing = {
    fence,
    name,
    isAncestor: (older, newer) => isAncestor(repository, older, newer),
    lease,
  };
  const beside = records ? [followingRecord(records, { name, catalog, place, from })] : [];
  // A fence of one clone does not know what others have published: the image behind the tag does.
  const learn = async (): Promise<void> => {
    if (!ownFence || isAbsent(to)) return;
    const { registry: at, reference: tag } = await openDestination(to, registry);
    const { isAncestor } = fencing;
    await learnFromImage(fence, name, { registry: at, tag, place, isAncestor, ...ownFence });
  };
  let ahead: StandingClaim | undefined;
  let asked: CommitOrder | undefined;
  const ask = async (): Promise<CommitOrder> => {
    await learn();
    asked = await standingOf(fencing, { commit, epoch });
    if (asked.kind === 'ahead') ahead = asked.of;
    return asked;
  };
  let winner: StandingClaim | undefined;
  return {
    newer: async () => {
      const standing = await ask();
      if (standing.kind === 'ahead') return undefined;
      const { registry: at, reference } = await openDestination(to, registry);
      return (await moveFollowers(fencing, standing.by, [followingTag(at, reference), ...beside])).claim;
    },
    promote: (digest, files) => async (tag) => {
      // Kept before the claim: whoever moves the tag then finds all that belongs to it.
      if (records) await keepDocuments(records, name, { commit, digest, files });
      await learn();
      const claimed = await claimTag(fencing, { commit, digest, epoch });
      winner = (await moveFollowers(fencing, claimed.claim, [tag, ...beside])).claim;
    },
    previous: async () => {
      if (!asked) await ask();
      return ahead?.commit === commit ? undefined : ahead?.commit;
    },
    epoch: () => epoch ?? ahead?.epoch ?? 0,
    winner: () => winner,
  };
}

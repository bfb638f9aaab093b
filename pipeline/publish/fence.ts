/**
 * Why a tag never goes back to an older commit. A publisher first claims the tag, by a conditional
 * write that only a newer commit passes, and then moves the tag to whatever is claimed, until nothing
 * was claimed meanwhile. Claims only ever go forward. Only who holds the tag's lease moves it, to a
 * claim that was read under the lease: so the moves go forward as the claims do. The last move is
 * followed by a look that found no later claim.
 */
import { createHash } from 'node:crypto';
import { type ErrorCode, PipelineError } from '../error.ts';
import { oneSpelling } from '../oci/registry/image-location.ts';
import type { Claim, Fence, Retirement, StandingClaim } from '../ports.ts';
import { acquireLease, type HeldLease, type LeaseOptions } from './fence-lease.ts';

/** A fence with what is needed to claim it and to move what follows it. */
export interface Fencing {
  readonly fence: Fence;
  /** Name of the fence: {@link fenceName}. */
  readonly name: string;
  /** Whether the first of two commits is an ancestor of the second, or the same. */
  readonly isAncestor: (older: string, newer: string) => Promise<boolean>;
  readonly lease?: LeaseOptions | undefined;
}

/** The order of a commit and the claimed one. */
export type CommitOrder =
  | { readonly kind: 'ahead'; readonly of: StandingClaim | undefined }
  /** A newer commit is claimed, or a later epoch. */
  | { readonly kind: 'superseded'; readonly by: StandingClaim };

/** What is to be claimed; the epoch is the standing one where none is given. */
interface ClaimRequest extends Omit<Claim, 'epoch' | 'retired'> {
  readonly epoch?: number | undefined;
}

/** Claims that somebody else won in a row before giving up: each was a newer commit. */
const MOST_LOST = 100;

/**
 * A name for a catalog at a place, fit for a path and for a git ref. One catalog may go to several places; a place has one
 * fence, however a policy spells it.
 *
 * @param place as `formatLocation` writes it
 */
export function fenceName(catalog: string, place: string): string {
  const isPlain = /^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/.test(catalog) && !catalog.endsWith('.lock');
  return `${isPlain ? catalog : `x-${shortDigest(catalog)}`}/${shortDigest(oneSpelling(place))}`;
}

/** The first 64 bits of a SHA-256: enough to tell a repository's names apart, and short in paths and refs. */
function shortDigest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/**
 * Whether a commit may still be published.
 *
 * @throws PipelineError `conflict` for a commit of a history that does not lead on from the claimed one
 */
export async function standingOf(
  { fence, name, isAncestor }: Fencing,
  { commit, epoch }: Pick<ClaimRequest, 'commit' | 'epoch'>,
): Promise<CommitOrder> {
  const standing = await fence.read(name);
  if (!standing) return { kind: 'ahead', of: undefined };
  const ownEpoch = epoch ?? standing.epoch;
  if (ownEpoch < standing.epoch) return { kind: 'superseded', by: standing };
  // A higher epoch is how the owner publishes a branch whose history was rewritten: no ancestry is asked for.
  if (ownEpoch > standing.epoch || (await isAncestor(standing.commit, commit))) {
    return { kind: 'ahead', of: standing };
  }
  if (await isAncestor(commit, standing.commit)) return { kind: 'superseded', by: standing };
  throw new PipelineError(
    'conflict',
    `${commit.slice(0, 12)} is not a descendant of the published ${standing.commit.slice(0, 12)}`,
    {
      hint: `publish a commit of the same branch; if its history was rewritten, add once: --epoch ${standing.epoch + 1}`,
    },
  );
}

/**
 * Claims a tag for an image that is in the registry whole.
 *
 * @returns the claim that stands afterwards: the caller's, or a newer one
 * @throws PipelineError as {@link standingOf}; `conflict`, retryable, when others are always first
 */
export async function claimTag(
  fencing: Fencing,
  request: ClaimRequest,
): Promise<CommitOrder & { claim: StandingClaim }> {
  const { commit, digest } = request;
  return claimAs(fencing, request, (current) => ({
    epoch: request.epoch ?? current?.epoch ?? 0,
    commit,
    digest,
  }));
}

/**
 * Claims a tag for a commit that no longer has the catalog, so there is no image of it. Publishers of older commits
 * find the claim and leave the tag; whoever moves the tag retires the image that was published last. A later commit
 * that has the catalog again is newer.
 *
 * @param last digest of the image that was published last, where no claim names it
 * @returns as {@link claimTag}
 */
export async function claimRetired(
  fencing: Fencing,
  { commit, last, retired }: { readonly commit: string; readonly last: string; readonly retired: Retirement },
): Promise<CommitOrder & { claim: StandingClaim }> {
  return claimAs(fencing, { commit }, (current) => ({
    epoch: current?.epoch ?? 0,
    commit,
    digest: current?.digest ?? last,
    retired,
  }));
}

/** Claims a place unless a newer commit has it; whenever another publisher was faster, it looks again. */
async function claimAs(
  fencing: Fencing,
  request: Pick<ClaimRequest, 'commit' | 'epoch'>,
  claimOver: (current: StandingClaim | undefined) => Claim,
): Promise<CommitOrder & { claim: StandingClaim }> {
  for (let lost = 0; lost < MOST_LOST; lost++) {
    const standing = await standingOf(fencing, request);
    if (standing.kind === 'superseded') return { ...standing, claim: standing.by };
    const { of: current } = standing;
    const next = claimOver(current);
    if (current && isSame(current, next)) return { ...standing, claim: current };
    const made = await fencing.fence.replace(fencing.name, next, current);
    if (made) return { ...standing, claim: made };
  }
  throw new PipelineError(
    'conflict',
    `gave up publishing ${fencing.name} after ${MOST_LOST} conflicts with other publishers`,
    {
      retryable: true,
    },
  );
}

/** Whether a claim says what another one does. */
function isSame(one: Claim, other: Claim): boolean {
  const isOneImage = one.commit === other.commit && one.digest === other.digest;
  return isOneImage && one.epoch === other.epoch && one.retired === other.retired;
}

/** A value that follows the claims: a tag, or a record of the published image. */
export interface Follower {
  /** Whether it matches the claim. */
  follows(claim: StandingClaim): Promise<boolean>;
  /** Moves it. It asks what is left of the turn directly before the request that does, which takes no longer. */
  move(claim: StandingClaim, turn: Pick<HeldLease, 'timeLeft' | 'doubt'>): Promise<void>;
}

/**
 * Moves followers to what is claimed until no other claim was made meanwhile. Safe to be called by
 * anybody, at any time, any number of times.
 *
 * @param read the claim that was read or made last
 * @returns the claim that they follow now, and whether anything was moved
 * @throws PipelineError as the followers; `conflict`, retryable, when others hold the lease for too long
 */
export async function moveFollowers(
  fencing: Omit<Fencing, 'isAncestor'>,
  read: StandingClaim,
  followers: readonly Follower[],
): Promise<{ claim: StandingClaim; moved: boolean }> {
  const { fence, name } = fencing;
  let moved = false;
  for (let current = read; ; ) {
    if (!(await allFollow(followers, current))) {
      const ours = await moveUnderLease(fencing, current, followers);
      current = ours.claim;
      moved ||= ours.moved;
    }
    const later = (await fence.read(name)) ?? current;
    if (later.version === current.version) return { claim: current, moved };
    current = later;
  }
}

/** Whether all followers match a claim; the first that does not ends the search. */
async function allFollow(followers: readonly Follower[], claim: StandingClaim): Promise<boolean> {
  for (const follower of followers) if (!(await follower.follows(claim))) return false;
  return true;
}

/** Moves followers to what is claimed by the time that it is this publisher's turn; to `before` if a fence lost its claim. */
async function moveUnderLease(
  { fence, name, lease }: Omit<Fencing, 'isAncestor'>,
  before: StandingClaim,
  followers: readonly Follower[],
): Promise<{ claim: StandingClaim; moved: boolean }> {
  const turn = await acquireLease({ fence, name, ...lease });
  let moved = false;
  try {
    const claim = (await fence.read(name)) ?? before;
    for (const follower of followers) {
      if (await follower.follows(claim)) continue;
      await moveOne(follower, claim, turn);
      moved = true;
    }
    return { claim, moved };
  } finally {
    await turn.end();
  }
}

/** Answers after which nothing of a request is under way any more. */
const ANSWERS: ReadonlySet<ErrorCode> = new Set([
  'usage',
  'not-found',
  'denied',
  'rate-limited',
  'corrupt',
  'too-large',
  'not-allowed',
  'conflict',
]);

/**
 * Moves one follower. If a registry was asked and did not answer, the move may still happen, so the lease must expire
 * by itself.
 */
async function moveOne(follower: Follower, claim: StandingClaim, turn: HeldLease): Promise<void> {
  let isAsked = false;
  const timeLeft = (): number => {
    const time = turn.timeLeft();
    isAsked = true;
    return time;
  };
  try {
    await follower.move(claim, { timeLeft, doubt: turn.doubt });
  } catch (error) {
    if (isAsked && !(error instanceof PipelineError && ANSWERS.has(error.code))) turn.doubt();
    // Where the turn is over, that cut the request off: this throws its retryable `conflict` instead.
    turn.timeLeft();
    throw error;
  }
}

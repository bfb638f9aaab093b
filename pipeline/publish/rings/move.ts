/**
 * Moves the rings of a catalog. Who opens a ring writes so first, over the record that was read; then anybody moves the
 * ring's tag there, behind a fence of its own. So a death between the two changes nothing but the time.
 */
import { withDigest } from '../../../catalog/reference.ts';
import { PipelineError } from '../../error.ts';
import { openDestination } from '../../oci/registry/open.ts';
import type { Fence, RecordStore, Registry, StandingClaim } from '../../ports.ts';
import { followingRecord, type PublishedFrom } from '../documents.ts';
import { claimTag, type Fencing, type Follower, fenceName, moveFollowers, standingOf } from '../fence.ts';
import type { LeaseOptions } from '../fence-lease.ts';
import { followingTag } from '../fence-tag.ts';
import type { RingPlace } from '../target.ts';
import { lookAtRings, type RingQuestions } from './look.ts';
import type { Opening, RingImage, RingState } from './state.ts';
import type { RingStore } from './store.ts';

export interface RingPorts {
  readonly store: RingStore;
  readonly fence: Fence;
  readonly lease?: LeaseOptions | undefined;
  readonly registry: Registry;
  /** The storage for the record of each ring's image. */
  readonly records?: RecordStore | undefined;
  readonly isAncestor: Fencing['isAncestor'];
  readonly now: () => Date;
  readonly log: (line: string) => void;
}

interface RingCatalog {
  readonly catalog: string;
  /** At least two. */
  readonly rings: readonly RingPlace[];
  readonly from?: PublishedFrom | undefined;
}

/** Looks in a row that lost against others before giving up. */
const MOST_LOST = 100;

/**
 * Looks at the rings, and opens those whose time has come. Safe to be called by anybody, any number of times.
 *
 * @param questions what an image is asked, besides whether it follows what the ring has
 * @returns what is known of the rings now
 * @throws PipelineError as the ports; `conflict`, retryable, when others are always first
 */
export async function moveRings(
  ringCatalog: RingCatalog,
  questions: Omit<RingQuestions, 'follows'>,
  ports: RingPorts,
): Promise<RingState> {
  const { rings } = ringCatalog;
  for (let lost = 0; lost < MOST_LOST; ) {
    const { state: before, version } = await ports.store.read();
    await followOpenings(ringCatalog, before, ports);
    const claims = await Promise.all(rings.map((ring) => ports.fence.read(nameOf(ringCatalog, ring))));
    const follows: RingQuestions['follows'] = (ring, image) => whyNotAfter(ringCatalog, ring, image, ports);
    const look = { ...questions, follows, rings, claims, now: ports.now() };
    const after = await lookAtRings(before, look);
    if (hasNothingToWrite(before, after)) return after;
    if (!(await ports.store.replace(after, version))) {
      lost++;
      continue;
    }
    const opened = after.opened.filter((one) => !before.opened.includes(one));
    for (const { ring, commit, why } of opened)
      ports.log(`${ringCatalog.catalog}: ${ring} opens for ${commit} (${why})`);
    // The next round moves the tags of the rings that were opened.
    if (opened.length === 0) return after;
  }
  throw new PipelineError(
    'conflict',
    `gave up moving the rings of ${ringCatalog.catalog} after ${MOST_LOST} conflicts`,
    {
      retryable: true,
    },
  );
}

/**
 * Whether a look has nothing to store. While images wait, each look stores its clock, even if nothing else has changed: no
 * later arrival may have an earlier time.
 */
function hasNothingToWrite(before: RingState, after: RingState): boolean {
  const text = (state: RingState): string => JSON.stringify({ ...state, clock: '' });
  return after.arrivals.length === 0 && text(before) === text(after);
}

/** The name of a ring's fence. */
function nameOf({ catalog }: RingCatalog, { name }: RingPlace): string {
  return fenceName(catalog, name);
}

/** Brings every ring to what it was opened for, and its tag to what is claimed: no tag moves before that of the ring before. */
async function followOpenings(ringCatalog: RingCatalog, state: RingState, ports: RingPorts): Promise<void> {
  for (const [i, ring] of ringCatalog.rings.entries()) {
    const previous = ringCatalog.rings[i - 1];
    const opening = state.opened.find((one) => one.ring === ring.name);
    const claimed = opening && previous && (await claimRing(ringCatalog, { ring, previous, opening }, ports));
    const standing = claimed ?? (await ports.fence.read(nameOf(ringCatalog, ring)));
    // What is retired is at rest until it is opened again.
    if (standing && standing.retired === undefined) await bringRing(ringCatalog, ring, standing, ports);
  }
}

interface OpenedRing {
  readonly ring: RingPlace;
  readonly previous: RingPlace;
  readonly opening: Opening;
}

/** Claims a ring for an image. @returns the claim that stands; undefined if the ring would get ahead of the one before */
async function claimRing(
  ringCatalog: RingCatalog,
  { ring, previous, opening }: OpenedRing,
  ports: RingPorts,
): Promise<StandingClaim | undefined> {
  const previousClaim = await ports.fence.read(nameOf(ringCatalog, previous));
  if (
    !previousClaim ||
    previousClaim.retired !== undefined ||
    !(await hasReached(previousClaim, opening, ports))
  )
    return undefined;
  const standing = await ports.fence.read(nameOf(ringCatalog, ring));
  // Nothing is claimed that is not there: the tag could not follow.
  const isSame = standing?.commit === opening.commit && standing.digest === opening.digest;
  if (isSame || !(await isThere(ring, opening, ports))) return standing;
  return (await claimTag(fencingOf(ringCatalog, ring, ports), opening)).claim;
}

/**
 * Whether the claim's commit is the image's commit or a descendant of it. It is neither if the policy reordered the rings,
 * or if the branch's history was rewritten.
 */
async function hasReached(
  claimed: StandingClaim,
  image: RingImage,
  { isAncestor }: RingPorts,
): Promise<boolean> {
  return claimed.epoch === image.epoch && isAncestor(image.commit, claimed.commit);
}

/** Moves the tag and record of a ring to what its fence claims. */
async function bringRing(
  ringCatalog: RingCatalog,
  ring: RingPlace,
  standing: StandingClaim,
  ports: RingPorts,
): Promise<void> {
  const { registry, reference } = await openDestination(ring.place, ports.registry);
  const { records } = ports;
  const { catalog, from } = ringCatalog;
  const name = nameOf(ringCatalog, ring);
  const followers: Follower[] = [
    followingTag(registry, reference),
    ...(records ? [followingRecord(records, { name, catalog, place: ring.name, from })] : []),
  ];
  await moveFollowers(fencingOf(ringCatalog, ring, ports), standing, followers);
}

/** The fence of a ring. */
function fencingOf(
  ringCatalog: RingCatalog,
  ring: RingPlace,
  { fence, isAncestor, lease }: RingPorts,
): Fencing {
  return { fence, name: nameOf(ringCatalog, ring), isAncestor, lease };
}

/** Whether an image is in a ring's registry: a tag cannot be moved to an image that is gone. */
async function isThere(
  { place }: RingPlace,
  { digest }: RingImage,
  { registry }: RingPorts,
): Promise<boolean> {
  const { registry: at, reference } = await openDestination(place, registry);
  return (await at.resolve(withDigest(reference, digest))) !== undefined;
}

/** Why a ring cannot take an image now; undefined if it can. */
async function whyNotAfter(
  ringCatalog: RingCatalog,
  ring: RingPlace,
  image: RingImage,
  ports: RingPorts,
): Promise<string | undefined> {
  try {
    const { kind } = await standingOf(fencingOf(ringCatalog, ring, ports), image);
    if (kind === 'superseded') return `${ring.tag} has a newer commit`;
  } catch (error) {
    if (error instanceof PipelineError && error.code === 'conflict') return error.message;
    throw error;
  }
  return (await isThere(ring, image, ports)) ? undefined : `its image ${image.digest} no longer exists`;
}

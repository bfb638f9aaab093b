/**
 * One look at the rings of a catalog: which images have arrived where, which ring opens for which of them, and why the
 * others wait. Nothing is written here.
 *
 * An image soaks from when it was first seen in the ring before, also while newer ones come after it: clusters keep what
 * they installed from it. The newest image that has soaked goes on.
 */
import { PipelineError } from '../../error.ts';
import type { StandingClaim } from '../../ports.ts';
import { linesText, plainText } from '../../text.ts';
import type { RingPlace } from '../target.ts';
import { timeOf } from './read.ts';
import {
  type Arrival,
  type Hold,
  imageOf,
  isSameImage,
  type Opening,
  type RingImage,
  type RingNow,
  type RingState,
  type Wait,
} from './state.ts';

/** What an image is asked besides its time. Each answers why it may not go on, for people; undefined where it may. */
export interface RingQuestions {
  /** Whether it may come after what the ring has, and is there to be named. */
  readonly follows: (ring: RingPlace, image: RingImage) => Promise<string | undefined>;
  /** Whether the external check of this name passed. */
  readonly check: (name: string, image: RingImage) => Promise<string | undefined>;
  /** Whether installed versions lose their upgrade path in the step from one commit to the other. */
  readonly strands: (from: string, to: string) => Promise<string | undefined>;
  /** Whether the catalog of a commit has a bundle. */
  readonly has: (commit: string, bundle: string) => Promise<boolean>;
  /** Packages in which two commits differ, sorted. */
  readonly changes: (from: string, to: string) => Promise<readonly string[]>;
}

/** The rings as they are at one moment, and what can be asked of images. */
export interface RingLook extends RingQuestions {
  readonly rings: readonly RingPlace[];
  /** The claim of each ring. */
  readonly claims: readonly (StandingClaim | undefined)[];
  readonly now: Date;
}

/** Parts of a soak of which one image is remembered each: a busy repository has hundreds. */
const PARTS = 24;
/** Least length of a part, in ms. */
const LEAST_PART = 60_000;

/**
 * Looks which rings can open.
 *
 * @returns the state to keep; equal to `before`, but for the clock, if nothing has changed
 */
export async function lookAtRings(before: RingState, look: RingLook): Promise<RingState> {
  const { rings, now } = look;
  // Never earlier than the last look, whatever this machine's clock says. As texts, times sort by time.
  const stamp = [timeOf(now), before.clock].sort().at(-1) ?? '';
  const arrivals = arrivalsNow(before, look, stamp);
  let state: RingState = { ...before, clock: stamp, rings: ringsNow(look), arrivals, waits: [] };
  const waits: Wait[] = [];
  for (const [i, ring] of rings.entries()) {
    const previous = rings[i - 1];
    if (!previous) continue;
    const claim = look.claims[i];
    // The newest that may go on takes the place of all before it.
    for (const arrival of state.arrivals.filter((one) => one.ring === previous.name).reverse()) {
      const why = await whyNotOpened(arrival, ring, { state, look, claim }).catch(whyUnanswered);
      if (why.length === 0) {
        state = withTimedOpening(state, ring, { arrival, now: stamp });
        break;
      }
      const opens = new Date(Date.parse(arrival.at) + ring.after).toISOString();
      const packages = claim ? await look.changes(claim.commit, arrival.commit) : [];
      waits.push({ ring: ring.name, ...imageOf(arrival), at: arrival.at, opens, why, packages });
    }
  }
  return { ...state, waits };
}

/** What each ring has now. A retired catalog stands in no ring, though its claim is kept. */
function ringsNow({ rings, claims }: RingLook): RingNow[] {
  return rings.map(({ name, tag }, i) => {
    const claim = claims[i];
    return { ring: name, tag, image: claim && claim.retired === undefined ? imageOf(claim) : undefined };
  });
}

/** The images in the rings, each with the time at which it was first seen. What the next ring has already is left out. */
function arrivalsNow({ arrivals, opened }: RingState, { rings, claims }: RingLook, stamp: string): Arrival[] {
  return rings.slice(0, -1).flatMap((ring, i) => {
    const claim = claims[i];
    const next = rings[i + 1];
    // Nothing of a catalog that is retired goes on, nor of a history that was rewritten.
    if (!claim || claim.retired !== undefined || !next) return [];
    const earlier = arrivals.filter((one) => one.ring === ring.name && one.epoch >= claim.epoch);
    const isNew = !earlier.some((one) => isSameImage(one, claim));
    const all = isNew
      ? [...thinnedArrivals(earlier, next.after, stamp), { ring: ring.name, ...imageOf(claim), at: stamp }]
      : earlier;
    // What the next ring has or was opened for, and all before it, waits no longer.
    const nextImages = [claims[i + 1], opened.find((one) => one.ring === next.name)];
    const last = all.findLastIndex((one) => nextImages.some((image) => image && isSameImage(image, one)));
    return all.slice(last + 1);
  });
}

/** The arrivals before a new one, at `stamp`. The last is left out if even the one before it is young: one of them is enough. */
function thinnedArrivals(arrivals: readonly Arrival[], after: number, stamp: string): readonly Arrival[] {
  const before = arrivals.at(-2);
  if (!before) return arrivals;
  const part = Math.max(after / PARTS, LEAST_PART);
  return Date.parse(stamp) - Date.parse(before.at) < part ? arrivals.slice(0, -1) : arrivals;
}

interface RingLookInput {
  readonly state: RingState;
  readonly look: RingLook;
  /** The image that the ring names. */
  readonly claim: StandingClaim | undefined;
}

/** Why a ring does not open for an image. Expensive questions are asked only if nothing else prevents it. */
async function whyNotOpened(
  arrival: Arrival,
  ring: RingPlace,
  { state, look, claim }: RingLookInput,
): Promise<string[]> {
  const why: string[] = [];
  const rest = Date.parse(arrival.at) + ring.after - look.now.getTime();
  if (rest > 0) why.push(...soakText(rest, ring.after));
  if (ring.unless.includes('hold')) {
    const hold = await holdOf(state.holds, arrival.commit, look.has);
    if (hold) why.push(heldWords(hold));
  }
  if (why.length > 0) return why;
  const order = await look.follows(ring, arrival);
  if (order !== undefined) return [order];
  for (const name of ring.checks) {
    const open = await look.check(name, arrival);
    if (open !== undefined) why.push(open);
  }
  if (why.length > 0 || !ring.unless.includes('stranding') || !claim || claim.retired !== undefined)
    return why;
  const strands = await look.strands(claim.commit, arrival.commit);
  return strands === undefined ? [] : [strands];
}

/** Why an image waits that can never be looked into: it keeps no other back. Other errors are thrown. */
function whyUnanswered(error: unknown): string[] {
  const isLasting =
    error instanceof PipelineError && (error.code === 'not-found' || error.code === 'corrupt');
  if (!isLasting) throw error;
  return [`it cannot be checked: ${error.message}`];
}

/** What is missing of an image's time in a ring, for people. */
function soakText(rest: number, after: number): string[] {
  if (rest <= after) return [`soaks for another ${durationText(rest)} of ${durationText(after)}`];
  // Whoever stamped it had a clock that is ahead of this one: nobody knows how long it has soaked.
  return [`its time stamp is ${durationText(rest - after)} in the future: a clock is wrong`];
}

/** The first hold that an image falls under. */
export async function holdOf<T extends Pick<Hold, 'commit' | 'bundle'>>(
  holds: readonly T[],
  commit: string,
  has: RingQuestions['has'],
): Promise<T | undefined> {
  for (const hold of holds) {
    if (hold.commit !== undefined && hold.commit !== commit) continue;
    if (hold.bundle === undefined || (await has(commit, hold.bundle))) return hold;
  }
  return undefined;
}

/** A hold in words: who set it, when and why. */
export function heldWords({ by, at, why, bundle }: Hold): string {
  const what = bundle === undefined ? 'held' : `held for ${bundle}`;
  return `${what} by ${by} since ${at.slice(0, 10)}: ${why}`;
}

/** Opens a ring for an image that has been in the ring before for the time that the policy asks for. */
function withTimedOpening(
  state: RingState,
  ring: RingPlace,
  { arrival, now }: { readonly arrival: Arrival; readonly now: string },
): RingState {
  const checks = ring.checks.length === 0 ? '' : `, ${ring.checks.join(' and ')} passed`;
  const why = `${durationText(ring.after)} since ${arrival.at}${checks}`;
  const opening: Opening = { ring: ring.name, ...imageOf(arrival), at: now, by: 'portolan', why };
  return withOpening(state, opening);
}

/**
 * The state after an opening: it is the ring's last one, and an event. All approvals for the ring are removed: the next early
 * opening needs new ones. Arrivals stay here; the next look removes that of the opened image, and those before it.
 */
export function withOpening(state: RingState, opening: Opening): RingState {
  const { ring, commit, at, by, why, early, asked } = opening;
  const what = early ? 'opened early' : 'opened';
  return {
    ...state,
    opened: [...state.opened.filter((one) => one.ring !== ring), opening],
    approvals: state.approvals.filter((one) => one.ring !== ring),
    events: [...state.events, { what, ring, commit, at, by, why, ...(asked === undefined ? {} : { asked }) }],
  };
}

/** `5 min`, `3 h 20 min`, `72 h`: from a day on minutes do not count. */
function durationText(milliseconds: number): string {
  if (milliseconds <= 0) return '0 min';
  const minutes = Math.ceil(milliseconds / 60_000);
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return minutes % 60 === 0 || hours >= 24
    ? `${Math.round(minutes / 60)} h`
    : `${hours} h ${minutes % 60} min`;
}

// Describes the state of rings for people.

/** Each ring with its image and what waits for it, then the holds. */
export function ringsListText(states: readonly RingState[]): string {
  // What is left of a catalog whose rings were taken out of the policy is its history.
  const shown = states.filter(({ rings, holds }) => rings.length + holds.length > 0);
  if (shown.length === 0) return 'no rings have been looked at yet\n';
  return linesText(shown.flatMap((state) => [plainText(state.catalog), ...ringLines(state)]));
}

/** The rings of a catalog as lines of text. */
function ringLines({ rings, waits, holds }: RingState): string[] {
  const lines = rings.flatMap(({ ring, tag, image }) => [
    `  ${plainText(tag)}  ${image ? `${image.commit.slice(0, 12)} ${image.digest}` : 'nothing yet'}`,
    ...waits
      .filter((wait) => wait.ring === ring)
      .flatMap(({ commit, opens, why, packages }) => [
        `    waits  ${commit.slice(0, 12)} (opens ${opens.slice(0, 16)}Z at the earliest): ${plainText(why.join('; '))}`,
        ...(packages.length === 0 ? [] : [`           ${plainText(packages.join(', '))}`]),
      ]),
  ]);
  const held = holds.map(({ by, at, why, commit, bundle }) => {
    const what = [commit?.slice(0, 12), bundle].flatMap((one) => one ?? []).join(' ') || 'the whole catalog';
    return `  held  ${plainText(what)} by ${plainText(by)} since ${at.slice(0, 10)}: ${plainText(why)}`;
  });
  return [...lines, ...held];
}

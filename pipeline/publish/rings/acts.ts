/** What people do to rings: hold images, release them, and open a ring early. Each says who and why, and is kept. */
import { shellWord } from '../../../catalog/names.ts';
import { PipelineError } from '../../error.ts';
import type { RingPlace } from '../target.ts';
import { heldWords, holdOf, type RingQuestions, withOpening } from './look.ts';
import {
  type Act,
  type Approval,
  type Hold,
  imageOf,
  isSameImage,
  type RingImage,
  type RingState,
} from './state.ts';
import type { RingStore } from './store.ts';

/** Writes in a row that lost against others before giving up. */
const MOST_LOST = 100;

/**
 * Changes what is kept of the rings.
 *
 * @param change is called again when somebody else was first
 * @throws PipelineError what `change` throws; `conflict`, retryable, when others are always first
 */
export async function changeRings(
  store: RingStore,
  change: (state: RingState) => RingState | Promise<RingState>,
): Promise<RingState> {
  for (let lost = 0; lost < MOST_LOST; lost++) {
    const { state, version } = await store.read();
    const next = await change(state);
    if (await store.replace(next, version)) return next;
  }
  throw new PipelineError('conflict', `gave up writing the rings after ${MOST_LOST} conflicts`, {
    retryable: true,
  });
}

/** The state without a ring that the policy no longer has: nothing waits for it or is opened for it. Holds stay. */
function withoutRing(state: RingState, ring: string): RingState {
  const isOther = (one: { readonly ring: string }): boolean => one.ring !== ring;
  const rings = state.rings.filter(isOther);
  // One tag alone is not a ring.
  if (rings.length < 2) return { ...state, rings: [], arrivals: [], opened: [], approvals: [], waits: [] };
  return {
    ...state,
    rings,
    arrivals: state.arrivals.filter(isOther),
    opened: state.opened.filter(isOther),
    approvals: state.approvals.filter(isOther),
    waits: state.waits.filter(isOther),
  };
}

/** Ends a ring that the policy has no more, where it is known. @param ring its place */
export async function endRing(store: RingStore, ring: string): Promise<void> {
  const { state } = await store.read();
  const known = [...state.rings, ...state.arrivals, ...state.opened, ...state.approvals];
  if (known.some((one) => one.ring === ring)) await changeRings(store, (before) => withoutRing(before, ring));
}

/** The scope of a hold. */
export type HoldScope = Pick<Hold, 'commit' | 'bundle'>;

/**
 * Holds a catalog, a commit or a bundle. The same message once more changes nothing; the same hold with another reason, or by
 * another person, takes the place of the first.
 */
export function withHold(state: RingState, scope: HoldScope, act: Act): RingState {
  if (state.holds.some((hold) => isSameHold(hold, scope) && isSameAct(hold, act))) return state;
  const event = { what: 'held', ...scope, ...act } as const;
  return {
    ...state,
    holds: [...state.holds.filter((hold) => !isSameHold(hold, scope)), { ...scope, ...act }],
    events: [...state.events, event],
  };
}

/** How far the clocks of who asks and who writes may differ, in ms. */
const SLACK = 10 * 60_000;

/**
 * The state of rings without a hold. Repeating that changes nothing. A hold that somebody set after the release was asked
 * for stays: a message may be late.
 *
 * @throws PipelineError `not-found` if there is no such hold
 */
export function withoutHold(state: RingState, scope: HoldScope, act: Act): RingState {
  const until = act.asked === undefined ? Infinity : Date.parse(act.asked) + SLACK;
  const holds = state.holds.filter((hold) => !isSameHold(hold, scope) || Date.parse(hold.at) > until);
  if (holds.length === state.holds.length) {
    const { events } = state;
    if (events.some((one) => one.what === 'released' && isSameHold(one, scope) && isSameAct(one, act)))
      return state;
    const what = scope.bundle ?? scope.commit;
    const hint = state.holds.length === 0 ? undefined : `held: ${state.holds.map(heldOption).join(', ')}`;
    throw new PipelineError(
      'not-found',
      `there is no hold on ${state.catalog}${what === undefined ? '' : ` for ${what}`}${act.asked === undefined ? '' : ` from before ${act.asked}`}`,
      {
        ...(hint === undefined ? {} : { hint }),
      },
    );
  }
  return { ...state, holds, events: [...state.events, { what: 'released', ...scope, ...act }] };
}

/** A hold in a hint, as the options of `portolan ring hold`. */
function heldOption(scope: HoldScope): string {
  return heldOptions(scope).join(' ') || 'the catalog';
}

/** The options of `portolan ring hold` for the same hold. */
function heldOptions({ commit, bundle }: HoldScope): string[] {
  return [
    ...(commit === undefined ? [] : ['--commit', commit]),
    ...(bundle === undefined ? [] : ['--bundle', bundle]),
  ];
}

/** Whether two holds are about the same images. */
function isSameHold(one: HoldScope, other: HoldScope): boolean {
  return one.commit === other.commit && one.bundle === other.bundle;
}

/** Whether two messages are one that came twice: its time is that of its handler. */
function isSameAct(one: Act, other: Act): boolean {
  return one.by === other.by && one.why === other.why;
}

interface Promotion {
  readonly rings: readonly RingPlace[];
  /** The tag of the ring to open. */
  readonly tag: string;
  readonly image: RingImage;
  readonly act: Act;
  /** Whether the catalog of a commit has a bundle: a hold may be on a bundle alone. */
  readonly has: RingQuestions['has'];
}

/**
 * Opens a ring for an image before its time, and every ring before that one: no ring gets ahead of its predecessor.
 * Where the policy wants several people, each but the last leaves an approval.
 *
 * @returns the state, in which nothing is opened while approvals are missing, and how many are
 * @throws PipelineError `usage` for a ring that is not one, `denied` for what is held
 */
export async function withPromotion(
  state: RingState,
  { rings, tag, image, act, has }: Promotion,
): Promise<{ readonly state: RingState; readonly missing: number }> {
  const opening = ringsUpTo(tag, rings);
  await refuseHeld(state, image, has);
  const isOpen = opening.every(({ name }) =>
    state.opened.some((one) => one.ring === name && one.early && isSameImage(one, image)),
  );
  if (isOpen) return { state, missing: 0 };
  const needed = Math.max(...opening.map(({ approvals }) => approvals));
  const approval: Approval = { ring: opening.at(-1)?.name ?? '', ...imageOf(image), ...act };
  const approvals = withApproval(state.approvals, approval);
  const people = approvals.filter((one) => isSameRequest(one, approval)).map(({ by }) => by);
  // The latest look may have had a clock that was ahead: what a person does sets it back.
  const timed: RingState = { ...state, clock: act.at };
  if (people.length < needed) {
    const event = { what: 'approved', ring: approval.ring, commit: image.commit, ...act } as const;
    return {
      state: { ...timed, approvals, events: [...timed.events, event] },
      missing: needed - people.length,
    };
  }
  const by = people.join(', ');
  const opened = opening.reduce(
    (before, { name }) => withOpening(before, { ring: name, ...imageOf(image), ...act, by, early: true }),
    timed,
  );
  return { state: opened, missing: 0 };
}

/**
 * The rings up to the one with a tag, without the first: publishes go there directly.
 *
 * @throws PipelineError `usage` if no such ring has the tag
 */
function ringsUpTo(tag: string, [, ...later]: readonly RingPlace[]): RingPlace[] {
  const last = later.findIndex((ring) => ring.tag === tag);
  if (last >= 0) return later.slice(0, last + 1);
  throw new PipelineError('usage', `${tag} is not a ring that can be opened`, {
    hint: `rings: ${later.map((ring) => ring.tag).join(', ')}`,
  });
}

/**
 * Throws for an image that somebody holds: an early opening must not go around a hold.
 *
 * @throws PipelineError `denied` that says how to release it
 */
async function refuseHeld(state: RingState, { commit }: RingImage, has: RingQuestions['has']): Promise<void> {
  const hold = await holdOf(state.holds, commit, has);
  if (!hold) return;
  throw new PipelineError('denied', `${commit.slice(0, 12)} is ${heldWords(hold)}`, {
    hint: `release it first: portolan ring hold ${[state.catalog, ...heldOptions(hold)].map(shellWord).join(' ')} --release --reason TEXT`,
  });
}

/** The approvals with another one, of which each person has one for an image and a ring. */
function withApproval(approvals: readonly Approval[], approval: Approval): Approval[] {
  const others = approvals.filter((one) => !isSamePerson(one, approval) || !isSameRequest(one, approval));
  return [...others, approval];
}

/** Accounts' names are the same in capital letters. */
function isSamePerson(one: Act, other: Act): boolean {
  return one.by.trim().toLowerCase() === other.by.trim().toLowerCase();
}

/** Whether both approve that one ring opens for one image. */
function isSameRequest(one: Approval, other: Approval): boolean {
  return one.ring === other.ring && isSameImage(one, other);
}

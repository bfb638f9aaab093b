/**
 * What is known of the rings of a catalog: when an image reached each of them, which rings were opened, by whom and why,
 * and what is held. It is one record, written over the version that was read: a hold comes before an opening, or after it.
 */
import type { Claim } from '../../ports.ts';

/** An image of a catalog. */
export type RingImage = Pick<Claim, 'epoch' | 'commit' | 'digest'>;

/** An image that was seen in a ring. */
export interface Arrival extends RingImage {
  /** The ring's place. */
  readonly ring: string;
  /** When it was first seen there, in ISO 8601. */
  readonly at: string;
}

/** The person, the time and the reason of an act. */
export interface Act {
  readonly at: string;
  readonly by: string;
  readonly why: string;
  /** When it was asked for, where that distinguishes a message that comes again from another one. */
  readonly asked?: string;
}

/** An image that a ring is to name. */
export interface Opening extends Act, RingImage {
  readonly ring: string;
  /** Set where people opened the ring before its time; the image may not have soaked. */
  readonly early?: true;
}

/** What is not to go any further: all images of the catalog, those of a commit, or those that have a bundle. */
export interface Hold extends Act {
  readonly commit?: string;
  readonly bundle?: string;
}

/** One person's approval to open a ring early, if several are needed. */
export interface Approval extends Act, RingImage {
  readonly ring: string;
}

/** An act, for the history. */
interface RingEvent extends Act {
  readonly what: 'opened' | 'opened early' | 'approved' | 'held' | 'released';
  readonly ring?: string;
  readonly commit?: string;
  readonly bundle?: string;
}

/** Why an image is not in the next ring yet. */
export interface Wait extends RingImage {
  /** The ring that it waits for. */
  readonly ring: string;
  /** When it reached the ring before. */
  readonly at: string;
  /** When the ring opens at the earliest; before that nothing else is looked at. */
  readonly opens: string;
  /** For people; never empty. */
  readonly why: readonly string[];
  /** Packages in which it differs from what the ring has. */
  readonly packages: readonly string[];
}

/** A ring as it was when it was last looked at. */
export interface RingNow {
  /** Its place. */
  readonly ring: string;
  readonly tag: string;
  /** Undefined where nothing has reached it, or the catalog is retired. */
  readonly image: RingImage | undefined;
}

export interface RingState {
  readonly v: 1;
  readonly catalog: string;
  /** The latest time at which anybody looked, in ISO 8601: later arrivals are not stamped with an earlier one. */
  readonly clock: string;
  /** The first one first. */
  readonly rings: readonly RingNow[];
  /** In each ring, the oldest first. */
  readonly arrivals: readonly Arrival[];
  /** The last one of each ring. */
  readonly opened: readonly Opening[];
  readonly holds: readonly Hold[];
  readonly approvals: readonly Approval[];
  /** What waited when the rings were last looked at. */
  readonly waits: readonly Wait[];
  /** The newest last. */
  readonly events: readonly RingEvent[];
}

/** The state of rings that nobody has looked at. Its clock is earlier than any time that is read. */
export function noRings(catalog: string): RingState {
  const nothing = { rings: [], arrivals: [], opened: [], holds: [], approvals: [], waits: [], events: [] };
  return { v: 1, catalog, clock: new Date(0).toISOString(), ...nothing };
}

/** Events that are kept, the newest: a record must not grow for ever. */
const MOST_EVENTS = 500;

/** Rings as they are kept. */
export function ringsText(state: RingState): string {
  return `${JSON.stringify({ ...state, events: state.events.slice(-MOST_EVENTS) })}\n`;
}

/** Whether both are one image of one commit; after a rewritten history, the same digest is another image. */
export function isSameImage(one: RingImage, other: RingImage): boolean {
  return one.commit === other.commit && one.digest === other.digest && one.epoch === other.epoch;
}

/** Images that were seen in rings, were opened for them, or that people approve of: each may be opened next, or again. */
export function imagesOf({ arrivals, opened, approvals }: RingState): readonly RingImage[] {
  return [...arrivals, ...opened, ...approvals];
}

/** An image alone. */
export function imageOf({ epoch, commit, digest }: RingImage): RingImage {
  return { epoch, commit, digest };
}

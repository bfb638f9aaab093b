/**
 * What is known of the rings of a catalog: when an image reached each of them, which rings were opened, by whom and why,
 * and what is held. It is one record, written over the version that was read: a hold comes before an opening, or after it.
 */
import { repositoryName } from '../../../catalog/reference.ts';
import { PipelineError } from '../../error.ts';
import type { Claim, Fence, RecordStore } from '../../ports.ts';
import { fenceName } from '../fence.ts';
import type { PublishTarget } from '../target.ts';
import { parseRings } from './read.ts';

/** An image of a catalog. */
export type RingImage = Pick<Claim, 'epoch' | 'commit' | 'digest'>;

/** An image that was seen in a ring. */
export interface Arrival extends RingImage {
  /** The ring's place. */
  readonly ring: string;
  /** When it was first seen there, in ISO 8601. */
  readonly at: string;
}

/** Who did something, when and why. */
export interface Act {
  readonly at: string;
  readonly by: string;
  readonly why: string;
  /** When it was asked for, where that tells a message that comes again from another one. */
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

/** A word for opening a ring early, where several people must say it. */
export interface Approval extends Act, RingImage {
  readonly ring: string;
}

/** Something that was done, for the history. */
export interface RingEvent extends Act {
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

/** Where a catalog's rings are kept. */
export interface RingStore {
  /** The version is undefined where nothing is kept yet. @throws PipelineError `corrupt` */
  read(): Promise<{ readonly state: RingState; readonly version: string | undefined }>;
  /** @returns false, and nothing is written, when another version stands there */
  replace(state: RingState, version: string | undefined): Promise<boolean>;
}

/** Where records of rings begin. */
export const RINGS = 'rings/';
/** Events that are kept. */
const MOST_EVENTS = 500;

/** The name of a catalog's rings in a repository of images: tags may change their names, and holds stay. */
export function ringsName(catalog: string, { to }: Pick<PublishTarget, 'to'>): string {
  return fenceName(catalog, to.kind === 'registry' ? repositoryName(to.reference) : '');
}

/** Rings as records below `rings/`. */
export function recordRings(records: RecordStore, catalog: string, name: string): RingStore {
  const key = `${RINGS}${name}`;
  return {
    read: async () => {
      const stored = await records.get(key);
      if (!stored) return { state: noRings(catalog), version: undefined };
      return {
        state: parseRings(new TextDecoder().decode(stored.bytes), key, catalog),
        version: stored.version,
      };
    },
    replace: (state, version) => records.replace(key, new TextEncoder().encode(ringsText(state)), version),
  };
}

/** Rings as texts that are written over the version that was read. */
export function textRings(
  texts: {
    readText(name: string): Promise<{ readonly text: string; readonly version: string } | undefined>;
    replaceText(name: string, text: string, version: string | undefined): Promise<boolean>;
  },
  catalog: string,
  name: string,
): RingStore {
  return {
    read: async () => {
      const kept = await texts.readText(name);
      if (!kept) return { state: noRings(catalog), version: undefined };
      return { state: parseRings(kept.text, `refs/portolan-rings/${name}`, catalog), version: kept.version };
    },
    replace: (state, version) => texts.replaceText(name, ringsText(state), version),
  };
}

/** What is known of the rings of all catalogs. */
export interface KnownRings {
  /** By the names of catalogs; those whose record can be read. */
  readonly rings: readonly RingState[];
  /** Why the other records cannot be read. */
  readonly unread: readonly PipelineError[];
}

/** The rings of every catalog that has any. */
export async function ringsIn(records: RecordStore): Promise<KnownRings> {
  const rings: RingState[] = [];
  const unread: PipelineError[] = [];
  for (const key of await records.list(RINGS)) {
    const stored = await records.get(key);
    try {
      if (stored) rings.push(parseRings(new TextDecoder().decode(stored.bytes), key));
    } catch (error) {
      if (!(error instanceof PipelineError && error.code === 'corrupt')) throw error;
      unread.push(error);
    }
  }
  return { rings: rings.sort((a, b) => (a.catalog < b.catalog ? -1 : 1)), unread };
}

/**
 * Digests of the images that the rings of a catalog show, wait for or may open next. Claims are read before the record:
 * what moves on meanwhile is in one of them.
 *
 * @returns a function that throws a PipelineError as the ports
 */
export function inRings(
  fence: Pick<Fence, 'read'>,
  storeOf: (catalog: string, name: string) => RingStore,
): (catalog: string, target: Pick<PublishTarget, 'to' | 'rings'>) => Promise<readonly string[]> {
  return async (catalog, target) => {
    const claims = await Promise.all(target.rings.map(({ name }) => fence.read(fenceName(catalog, name))));
    const { state } = await storeOf(catalog, ringsName(catalog, target)).read();
    const images = [...claims, ...state.arrivals, ...state.opened, ...state.approvals];
    return images.flatMap((image) => (image ? [image.digest] : []));
  };
}

export function noRings(catalog: string): RingState {
  const nothing = { rings: [], arrivals: [], opened: [], holds: [], approvals: [], waits: [], events: [] };
  return { v: 1, catalog, clock: new Date(0).toISOString(), ...nothing };
}

/** Rings as they are kept. */
export function ringsText(state: RingState): string {
  return `${JSON.stringify({ ...state, events: state.events.slice(-MOST_EVENTS) })}\n`;
}

export function isSameImage(one: RingImage, other: RingImage): boolean {
  return one.commit === other.commit && one.digest === other.digest && one.epoch === other.epoch;
}

/** An image alone. */
export function imageOf({ epoch, commit, digest }: RingImage): RingImage {
  return { epoch, commit, digest };
}

/** Where the records of rings are kept, and what they say of all catalogs. */
import { compareText } from '../../../catalog/go/text.ts';
import { repositoryName } from '../../../catalog/reference.ts';
import { PipelineError } from '../../error.ts';
import type { Fence, RecordStore } from '../../ports.ts';
import { publishedIn } from '../documents.ts';
import { fenceName } from '../fence.ts';
import type { PublishTarget } from '../target.ts';
import { parseRings } from './read.ts';
import { imageOf, imagesOf, noRings, type RingState, ringsText } from './state.ts';

/** The storage of a catalog's rings. */
export interface RingStore {
  /** The version is undefined where nothing is kept yet. @throws PipelineError `corrupt` */
  read(): Promise<{ readonly state: RingState; readonly version: string | undefined }>;
  /** @returns false if the stored version is another one; nothing is written then */
  replace(state: RingState, version: string | undefined): Promise<boolean>;
}

/** Prefix of the keys of rings. */
const RINGS = 'rings/';
/**
 * The name of a catalog's rings in a repository of images: tags may change their names, and holds stay. Places that are not
 * in a registry share one name.
 */
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

/** The state of the rings of all catalogs. */
export interface KnownRings {
  /** By the names of catalogs; those whose record can be read. */
  readonly rings: readonly RingState[];
  /** Why the other records cannot be read. */
  readonly errors: readonly PipelineError[];
}

/** The rings of every catalog that has any. */
export async function ringsIn(records: RecordStore): Promise<KnownRings> {
  const rings: RingState[] = [];
  const errors: PipelineError[] = [];
  for (const key of await records.list(RINGS)) {
    const stored = await records.get(key);
    try {
      if (stored) rings.push(parseRings(new TextDecoder().decode(stored.bytes), key));
    } catch (error) {
      if (!(error instanceof PipelineError && error.code === 'corrupt')) throw error;
      errors.push(error);
    }
  }
  const now = await asPublished(rings, records);
  return { rings: now.sort((a, b) => compareText(a.catalog, b.catalog)), errors };
}

/**
 * The states of rings with the images that are published in them now. A publish moves the first ring without writing its
 * state.
 */
async function asPublished(states: readonly RingState[], records: RecordStore): Promise<RingState[]> {
  if (states.length === 0) return [];
  const published = await publishedIn(records, new Set(), () => undefined);
  const images = new Map(published.map((one) => [`${one.catalog} ${one.image}`, one]));
  return states.map((state) => ({
    ...state,
    rings: state.rings.map((ring) => {
      const found = images.get(`${state.catalog} ${ring.ring}`);
      if (!found) return ring;
      return { ...ring, image: found.retired === undefined ? imageOf(found) : undefined };
    }),
  }));
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
    return [...claims, ...imagesOf(state)].flatMap((image) => (image ? [image.digest] : []));
  };
}

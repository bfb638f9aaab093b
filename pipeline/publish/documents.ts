/**
 * The documents of publishes as records: each publish's own under a key that nobody else writes, and
 * one record for each fence that says whose are current.
 */
import { isObject } from '../../catalog/go/shape.ts';
import { parsedJson } from '../../catalog/json.ts';
import { PipelineError } from '../error.ts';
import type { RecordStore, Retirement, StandingClaim, StoredRecord } from '../ports.ts';
import type { Follower } from './fence.ts';

/** A published image, and the place of its documents. */
export interface Current {
  readonly catalog: string;
  /** The place of the image, as `formatLocation` writes it. */
  readonly image: string;
  readonly epoch: number;
  readonly commit: string;
  readonly digest: string;
  /** Prefix of the keys of its documents, with a slash at its end. */
  readonly documents: string;
  /** The branch that it is published from; records of older versions do not say it. */
  readonly from?: PublishedFrom | undefined;
  /** Set where the catalog is not published any more; the commit is then the first without it that was looked at. */
  readonly retired?: Retirement | undefined;
}

/** A branch of a repository. */
export interface PublishedFrom {
  /** `owner/name`. */
  readonly repository: string;
  readonly branch: string;
}

/** Prefix of the keys of documents. */
export const DOCUMENTS = 'documents/';

/** Prefix of the keys of records about published images. */
export const PUBLISHED = 'published/';

/** The parts that all claims of a fence share. */
interface Fenced {
  /** The fence's. */
  readonly name: string;
  readonly catalog: string;
  readonly place: string;
  readonly from?: PublishedFrom | undefined;
}

interface MadeDocuments {
  readonly commit: string;
  readonly digest: string;
  /** By file name. */
  readonly files: ReadonlyMap<string, string>;
}

/** Keeps the documents of one publish; the same publish writes the same ones again. */
export async function keepDocuments(records: RecordStore, name: string, made: MadeDocuments): Promise<void> {
  const prefix = prefixOf(name, made);
  for (const [file, text] of made.files)
    await records.put(`${prefix}${file}`, new TextEncoder().encode(text));
}

/** Prefix of the keys of one publish's documents, with a slash at its end. */
export function prefixOf(name: string, { commit, digest }: Pick<MadeDocuments, 'commit' | 'digest'>): string {
  // 16 digits tell the images of one commit apart, which has another one for each base image.
  return `${DOCUMENTS}${name}/${commit}-${digest.slice('sha256:'.length, 'sha256:'.length + 16)}/`;
}

/** The record of what is published; it follows the claims as the tag does. */
export function followingRecord(records: RecordStore, { name, catalog, place, from }: Fenced): Follower {
  const key = `${PUBLISHED}${name}`;
  const textOf = (
    { epoch, commit, digest, retired }: StandingClaim,
    branch: PublishedFrom | undefined,
  ): string => {
    const documents = prefixOf(name, { commit, digest });
    const current: Current = {
      catalog,
      image: place,
      epoch,
      commit,
      digest,
      documents,
      from: branch,
      retired,
    };
    return `${JSON.stringify(current)}\n`;
  };
  return {
    follows: async (claim) => {
      const record = await records.get(key);
      if (!record) return false;
      const text = new TextDecoder().decode(record.bytes);
      const there = parsedJson(text) as Partial<Current> | undefined;
      // Whoever claimed it has said from where; one who only comes after does not know better.
      return text === textOf(claim, there?.from ?? from);
    },
    move: async (claim, turn) => {
      const before = await records.get(key);
      // Throws where this publisher's turn is over: another one may be writing by now.
      turn.timeLeft();
      // A write that is late finds another version.
      if (await records.replace(key, new TextEncoder().encode(textOf(claim, from)), before?.version)) return;
      throw new PipelineError('conflict', `${key} was written meanwhile`, { retryable: true });
    },
  };
}

/**
 * What is published by the fences of a store.
 *
 * @param excluded names of fences whose records are not read
 * @param onUnreadable called with the keys of records that cannot be read
 */
export async function publishedIn(
  records: RecordStore,
  excluded: ReadonlySet<string> = new Set(),
  onUnreadable: (key: string) => void = () => undefined,
): Promise<Current[]> {
  const found: Current[] = [];
  for (const key of await records.list(PUBLISHED)) {
    if (excluded.has(key.slice(PUBLISHED.length))) continue;
    const record = await records.get(key);
    const current = currentIn(record);
    if (current) found.push(current);
    else if (record) onUnreadable(key);
  }
  return found;
}

/**
 * What is published now where the documents of an earlier publish are from.
 *
 * @param documents prefix of their keys
 */
export function currentBeside(records: RecordStore, documents: string): Promise<Current | undefined> {
  // `documents/`, the fence's name, which has one slash, and the publish.
  const [, catalog, place] = documents.split('/');
  return records.get(`${PUBLISHED}${catalog}/${place}`).then(currentIn);
}

/** What a record says; undefined for a record that is absent or lacks a field. */
function currentIn(record: StoredRecord | undefined): Current | undefined {
  const value = record && parsedJson(record.bytes);
  if (!isObject(value)) return undefined;
  const { catalog, image, commit, digest, documents, epoch } = value;
  const texts = [catalog, image, commit, digest, documents];
  const isWhole = texts.every((text) => typeof text === 'string') && typeof epoch === 'number';
  return isWhole ? (value as unknown as Current) : undefined;
}

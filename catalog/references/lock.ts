/**
 * The lock: which digest each tag stood for when it was looked up. A file that people
 * commit, one tag a line, in byte order, so that changes read well.
 */

import { isObject } from '../go/shape.ts';
import { compareText } from '../go/text.ts';
import { parseJson } from '../json.ts';
import { checkDigest, InvalidReference, parseReference } from '../reference.ts';

/** Tags in full (`registry/repository:tag`), each with its digest. */
export interface ReferenceLock {
  readonly digests: ReadonlyMap<string, string>;
}

const API_VERSION = 'portolan/v1alpha1';
const KIND = 'ReferenceLock';

/** Why a text is not a lock file. */
export class InvalidLock extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'InvalidLock';
  }
}

/**
 * Reads a lock.
 *
 * @throws InvalidLock with what is wrong and where
 */
export function readLock(text: string): ReferenceLock {
  const json = parsed(text);
  if (!isObject(json) || json['apiVersion'] !== API_VERSION || json['kind'] !== KIND) {
    throw new InvalidLock(`it must be an object with apiVersion ${API_VERSION} and kind ${KIND}`);
  }
  const { references } = json;
  if (!isObject(references)) throw new InvalidLock('references must be an object of tags and digests');
  return { digests: new Map(Object.entries(references).map(checkedPair)) };
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    throw new InvalidLock('it is not valid JSON');
  }
}

function checkedPair([tag, digest]: [string, unknown]): [string, string] {
  const where = `references[${JSON.stringify(tag)}]`;
  try {
    if (parseReference(tag).kind !== 'tag') throw new InvalidLock(`${where} is not a valid tag`);
    if (typeof digest !== 'string') throw new InvalidLock(`${where} has no digest`);
    checkDigest(digest);
    return [tag, digest];
  } catch (error) {
    if (error instanceof InvalidReference) throw new InvalidLock(`${where}: ${error.message}`);
    throw error;
  }
}

/** The lock as `readLock` reads it. */
export function formatLock({ digests }: ReferenceLock): string {
  const sorted = [...digests].sort(([a], [b]) => compareText(a, b));
  const references = Object.fromEntries(sorted);
  return `${JSON.stringify({ apiVersion: API_VERSION, kind: KIND, references }, null, 2)}\n`;
}

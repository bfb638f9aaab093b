/**
 * What a copy remembers on the disk, so that one that was killed goes on: that it was
 * begun, and how far uploads in chunks have got. One line of JSON each, appended.
 */

import { appendFileSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { appendToGroup } from '../../catalog/go/grouped.ts';
import { parseJson } from '../../catalog/json.ts';
import { fileError, refuseLinkOut } from '../directory.ts';
import { readRegular } from '../file-pieces.ts';
import type { UploadMemory, UploadNotes } from '../ports.ts';

export interface CopyMemory {
  /** Whether an earlier copy was begun and not ended: anything may be at the destination. */
  readonly isContinued: boolean;
  /** What is remembered of an upload, by destination and digest, and how large its chunks are, in bytes. */
  upload(key: string, chunk: number): UploadMemory | undefined;
  /** The uploads of a blob to a destination, that a kill may leave open. */
  uploads(key: string): UploadNotes | undefined;
  /** Forgets everything: all that was asked for is done. */
  end(): void;
}

/** For destinations that need none. Nothing is known of an earlier copy, so anything may be at the destination. */
export const NO_MEMORY: CopyMemory = {
  isContinued: true,
  upload: () => undefined,
  uploads: () => undefined,
  end: () => undefined,
};

/** Prefix of a line with the location of an upload. */
const BEGUN = 'begun';

/**
 * Opens the memory in a file, which is made if need be.
 *
 * @throws PipelineError `io`
 */
export function openMemory(path: string): CopyMemory {
  refuseLinkOut(path);
  try {
    const isContinued = existsSync(path);
    const text = isContinued ? readRegular(path).toString('utf8') : '';
    const locations = locationsIn(text);
    const begun = begunIn(text);
    if (!isContinued) writeFileSync(path, '');
    // A kill has cut the last line short: what is added is a line of its own.
    if (text !== '' && !text.endsWith('\n')) appendFileSync(path, '\n');
    return {
      isContinued,
      upload: (key, chunk) => ({
        location: locations.get(key),
        chunk,
        note: (location) => appendFileSync(path, `${JSON.stringify([key, location])}\n`),
      }),
      uploads: (key) => ({
        earlier: begun.get(key) ?? [],
        begun: (location) => appendFileSync(path, `${JSON.stringify([BEGUN, key, location])}\n`),
      }),
      end: () => rmSync(path, { force: true }),
    };
  } catch (error) {
    throw fileError(error, path);
  }
}

/** The last location of each upload; a line that a kill cut short is passed over. */
function locationsIn(text: string): Map<string, string> {
  const locations = new Map<string, string>();
  for (const line of text.split('\n')) {
    // Lines that say that an upload was begun are read too, under `begun`: no destination has that name.
    const [key, location] = partsIn(line);
    if (typeof key === 'string' && typeof location === 'string') locations.set(key, location);
  }
  return locations;
}

/** The location of each upload, by destination and digest. */
function begunIn(text: string): Map<string, string[]> {
  const begun = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [kind, key, location] = partsIn(line);
    if (kind !== BEGUN || typeof key !== 'string' || typeof location !== 'string') continue;
    appendToGroup(begun, key, location);
  }
  return begun;
}

/** The parts of a line; none of a line that a kill has cut short. */
function partsIn(line: string): readonly unknown[] {
  try {
    const parts: unknown = parseJson(line);
    return Array.isArray(parts) ? parts : [];
  } catch {
    return [];
  }
}

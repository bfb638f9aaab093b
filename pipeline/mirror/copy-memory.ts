/**
 * What a copy remembers on the disk, so that one that was killed goes on: that it was
 * begun, and how far uploads in chunks have got. One line of JSON each, appended.
 */
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileError } from '../directory.ts';
import type { UploadMemory } from '../ports.ts';

export interface CopyMemory {
  /** Whether an earlier copy was begun and not ended: anything may be at the destination. */
  readonly isContinued: boolean;
  /** What is remembered of an upload, by destination and digest, and how large its chunks are, in bytes. */
  upload(key: string, chunk: number): UploadMemory | undefined;
  /** Forgets everything: all that was asked for is done. */
  end(): void;
}

/** For destinations that need none. */
export const NO_MEMORY: CopyMemory = { isContinued: true, upload: () => undefined, end: () => undefined };

/**
 * Opens the memory in a file, which is made if need be.
 *
 * @throws PipelineError `io`
 */
export function openMemory(path: string): CopyMemory {
  try {
    const isContinued = existsSync(path);
    const known = isContinued ? locationsIn(readFileSync(path, 'utf8')) : new Map<string, string>();
    if (!isContinued) writeFileSync(path, '');
    return {
      isContinued,
      upload: (key, chunk) => ({
        location: known.get(key),
        chunk,
        note: (location) => appendFileSync(path, `${JSON.stringify([key, location])}\n`),
      }),
      end: () => rmSync(path, { force: true }),
    };
  } catch (error) {
    throw fileError(error, path);
  }
}

/** The last location of each upload; a line that a kill cut short is passed over. */
function locationsIn(text: string): Map<string, string> {
  const known = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [key, location] = pairIn(line);
    if (typeof key === 'string' && typeof location === 'string') known.set(key, location);
  }
  return known;
}

function pairIn(line: string): readonly unknown[] {
  try {
    const pair: unknown = JSON.parse(line);
    return Array.isArray(pair) ? pair : [];
  } catch {
    return [];
  }
}

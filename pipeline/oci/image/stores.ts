/** A build's memory in a directory: a cache of the Action's runner, or of a developer's machine. */
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileError } from '../../directory.ts';
import { readRegular } from '../../file-pieces.ts';
import { removeAbandoned } from '../../write.ts';
import { contentKey, type Store } from './build-cache.ts';

/**
 * A store in a directory.
 *
 * @param root made when something is put into it
 * @throws PipelineError `io` from its functions; what is not there, or is damaged, is undefined
 */
export function directoryStore(root: string): Store {
  const fileOf = (key: string): string => join(root, contentKey('file', key));
  let isSwept = false;
  return {
    async get(key) {
      try {
        return contentIn(readRegular(fileOf(key)));
      } catch (error) {
        const failure = fileError(error, fileOf(key));
        if (failure.code === 'not-found') return undefined;
        throw failure;
      }
    },
    async put(key, bytes) {
      const path = fileOf(key);
      const temporary = `${path}.${randomUUID()}`;
      try {
        // Only this user may write: a digest in front of a file finds damage, but no forgery.
        mkdirSync(root, { recursive: true, mode: 0o755 });
        // Whole or not at all: another build may read it now.
        writeFileSync(temporary, Buffer.concat([digestOf(bytes), bytes]), { mode: 0o644, flag: 'wx' });
        renameSync(temporary, path);
        // Once for each store is enough: only killed runs leave such files.
        if (!isSwept) removeAbandoned(root, TEMPORARY);
        isSwept = true;
      } catch (error) {
        if (existsSync(temporary)) rmSync(temporary, { force: true });
        throw fileError(error, path);
      }
    },
  };
}

/** Names of files that are not whole yet: with an id behind the name that they will get. */
const TEMPORARY = /\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** What a file of the store holds behind its digest; undefined where they differ. */
function contentIn(file: Uint8Array): Uint8Array | undefined {
  const content = file.subarray(DIGEST_BYTES);
  return digestOf(content).equals(file.subarray(0, DIGEST_BYTES)) ? content : undefined;
}

const DIGEST_BYTES = 32;

function digestOf(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}

// A store in the memory of the program.

/** Bytes that are kept; what was not asked for the longest goes first. */
const MOST_BYTES = 32 * 2 ** 20;

/** A store in memory. Beyond its size it forgets what was used longest ago. */
export function memoryStore(mostBytes: number = MOST_BYTES): Store {
  // In the order of their last use.
  const stored = new Map<string, Uint8Array>();
  let size = 0;
  const remove = (key: string): Uint8Array | undefined => {
    const bytes = stored.get(key);
    stored.delete(key);
    size -= bytes?.length ?? 0;
    return bytes;
  };
  const put = (key: string, bytes: Uint8Array): void => {
    remove(key);
    stored.set(key, bytes);
    size += bytes.length;
    for (const oldest of stored.keys()) {
      if (size <= mostBytes) break;
      remove(oldest);
    }
  };
  return {
    async get(key) {
      const bytes = remove(key);
      if (bytes) put(key, bytes);
      return bytes;
    },
    async put(key, bytes) {
      put(key, bytes);
    },
  };
}

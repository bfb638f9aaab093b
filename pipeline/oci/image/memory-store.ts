/** A store in the memory of the program. */
import type { Store } from './build-cache.ts';

/** Bytes that are kept; what was not asked for the longest goes first. */
const MOST_BYTES = 32 * 2 ** 20;

export function memoryStore(mostBytes: number = MOST_BYTES): Store {
  const kept = new Map<string, Uint8Array>();
  let size = 0;
  const remove = (key: string): Uint8Array | undefined => {
    const bytes = kept.get(key);
    kept.delete(key);
    size -= bytes?.length ?? 0;
    return bytes;
  };
  const put = (key: string, bytes: Uint8Array): void => {
    remove(key);
    kept.set(key, bytes);
    size += bytes.length;
    for (const oldest of kept.keys()) {
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

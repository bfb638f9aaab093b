/** What builds remember of each other, in the bucket. */
import { contentKey, type Store } from '../../pipeline/oci/image/build-cache.ts';
import type { RecordStore } from '../../pipeline/ports.ts';

/** The store of what builds remember. A record that cannot be read counts as missing: a build without it only takes longer. */
export function bucketMemory(records: RecordStore): Store {
  const keyOf = (key: string): string => `memory/${contentKey('file', key)}`;
  return {
    get: async (key) => (await records.get(keyOf(key)).catch(() => undefined))?.bytes,
    put: (key, bytes) => records.put(keyOf(key), bytes),
  };
}

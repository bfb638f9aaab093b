/** The embedded registry, on a directory of its own, that counts what is asked of it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRegistry } from '../pipeline/oci/registry/embedded/server.ts';

export interface Count {
  readonly requests: number;
  /** Bytes of the requests' bodies. */
  readonly sent: number;
  /** Bytes of the answers' bodies. */
  readonly received: number;
}

export interface CountedRegistry {
  /** `127.0.0.1:PORT`. */
  readonly host: string;
  /** What was asked since the last call. */
  take(): Count;
  close(): Promise<void>;
}

/** Starts the registry. `close` deletes its directory. */
export async function countedRegistry(): Promise<CountedRegistry> {
  const directory = mkdtempSync(join(tmpdir(), 'portolan-registry-'));
  let count: Count = { requests: 0, sent: 0, received: 0 };
  const { host, close } = await startRegistry({
    directory,
    onRequest: ({ received, sent }) => {
      const { requests } = count;
      count = { requests: requests + 1, sent: count.sent + received, received: count.received + sent };
    },
  });
  return {
    host,
    take() {
      const taken = count;
      count = { requests: 0, sent: 0, received: 0 };
      return taken;
    },
    async close() {
      await close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

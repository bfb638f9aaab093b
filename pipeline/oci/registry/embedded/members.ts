/**
 * Which blobs belong to which repository. On the disk blobs are one pool; here, as in other
 * registries, a repository has those that its manifests name, and those that were pushed to or
 * mounted into it since the registry was started. What was there before and no manifest names is nobody's: it may be
 * used and removed from any repository.
 */

import type { IncomingMessage } from 'node:http';
import type { Layout } from '../layout/layout.ts';
import type { Gate } from './access.ts';
import type { Uploads } from './uploads.ts';

/** One request to the registry. */
export interface RegistryRequest {
  readonly request: IncomingMessage;
  readonly query: URLSearchParams;
  /** The body of the request. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** What the answers to requests work on: the state of one running registry. */
export interface Registry {
  readonly layout: Layout;
  readonly members: Members;
  readonly uploads: Uploads;
  readonly gate: Gate;
  /** From the name in a path to that in the layout, where the layout's own repository is empty. */
  readonly toLayout: (name: string) => string;
  readonly fromLayout: (repository: string) => string;
  /** Whether existing tags are immutable. */
  readonly isImmutable: (name: string, tag: string) => boolean;
  /** Whether a list may name images that the repository does not have. */
  readonly takesSparse: boolean;
  /** Bytes of a manifest at most. */
  readonly largestManifest: number;
}

interface Members {
  /** Bytes of a blob that the repository holds, or that is nobody's; else undefined. */
  size(repository: string, digest: string): Promise<number | undefined>;
  /** Notes that a blob was pushed to or mounted into a repository. */
  add(repository: string, digest: string): void;
  /** Whether a manifest of the repository names a blob. */
  isNamed(repository: string, digest: string): Promise<boolean>;
  /** Takes a blob out, and off the disk when no repository holds it any more. */
  remove(repository: string, digest: string): Promise<void>;
  /** A repository that holds a blob; undefined if none does. */
  holder(digest: string): Promise<string | undefined>;
}

/**
 * Knows which blobs belong to which repository: those that its manifests name, and those that were pushed to it since the
 * start.
 */
export function createMembers(layout: Layout): Members {
  const pushed = new Map<string, Set<string>>();
  const began = Date.now();
  const isNamed = async (repository: string, digest: string): Promise<boolean> =>
    (await layout.contents(repository)).blobs.has(digest);
  const holds = async (repository: string, digest: string): Promise<boolean> =>
    pushed.get(repository)?.has(digest) === true || (await isNamed(repository, digest));
  const holder = async (digest: string): Promise<string | undefined> => {
    for (const repository of new Set([...pushed.keys(), ...(await layout.repositories())])) {
      if (await holds(repository, digest)) return repository;
    }
    return undefined;
  };
  /** Whether nobody knows any more to whom a blob was pushed: it is from before the start, and nothing names it. */
  const isNobodys = async (digest: string): Promise<boolean> => {
    const written = await layout.blobs.written(digest);
    return written !== undefined && written < began && (await holder(digest)) === undefined;
  };
  return {
    size: async (repository, digest) =>
      (await holds(repository, digest)) || (await isNobodys(digest)) ? layout.blobs.size(digest) : undefined,
    add: (repository, digest) => {
      const digests = pushed.get(repository) ?? new Set();
      pushed.set(repository, digests.add(digest));
    },
    isNamed,
    remove: async (repository, digest) => {
      pushed.get(repository)?.delete(digest);
      if ((await holder(digest)) === undefined) await layout.blobs.remove(digest);
    },
    holder,
  };
}

/** The requests that a check in a separate process may send. Its parent answers them, with its own credentials. */
import { mergeTrees } from '../../git/merge.ts';
import type { Repository } from '../../git/repository.ts';
import type { Policy } from '../../policy/policy.ts';
import type { Registry } from '../../ports.ts';
import type { CheckRequest } from '../request.ts';

/** Answers by what is asked. Their words come from a process that may do anything: each is validated where it is used. */
export type Answers = Readonly<Record<string, (...words: never[]) => unknown>>;

/** @param policyOf reads the base branch's policy, which lists the allowed registries; undefined if it cannot be read */
export function answersOf(
  repository: Repository,
  { historyOf, registryFor, cache, people }: CheckRequest,
  policyOf: () => Promise<Policy | undefined>,
): Answers {
  let opened: Promise<Registry | undefined> | undefined;
  const registry = async (): Promise<Registry> => {
    opened ??= policyOf().then((policy) => policy && registryFor?.(policy));
    const found = await opened;
    if (!found) throw new Error('the policy names no registry');
    return found;
  };
  return {
    fetch: (ids: string[]) => repository.objects.prefetch(ids),
    resolve: (revisions: string[]) => repository.resolve(revisions),
    bring: (commits: string[]) => repository.bring(commits),
    bringHistory: (commits: string[]) => repository.bringHistory(commits),
    bringTrees: (trees: string[], levels: number) => repository.bringTrees(trees, levels),
    mergeTrees: (base: string, head: string) => mergeTrees(repository, base, head),
    history: (places: Parameters<NonNullable<typeof historyOf>>[0]) => historyOf?.(places),
    cached: (key: string) => cache?.get(key),
    keep: (key: string, bytes: Uint8Array) => cache?.put(key, bytes),
    directory: (identities: never) => people?.directoryFor?.(identities),
    leftBase: (commit: string) => people?.leftBaseAt?.(commit),
    resolveImage: async (of: Parameters<Registry['resolve']>[0]) => (await registry()).resolve(of),
    getManifest: async (of: Parameters<Registry['getManifest']>[0]) => (await registry()).getManifest(of),
    hasBlob: async (...words: Parameters<Registry['hasBlob']>) => (await registry()).hasBlob(...words),
    listReferrers: async (...words: Parameters<Registry['listReferrers']>) =>
      (await registry()).listReferrers(...words),
    ...streamsOf(registry),
  };
}

/** Streams that are read a part at a time, so that a slow reader holds little. */
function streamsOf(registry: () => Promise<Registry>): Answers {
  const open = new Map<number, AsyncIterator<unknown>>();
  let count = 0;
  const opened = (parts: AsyncIterable<unknown>): number => {
    open.set(count, parts[Symbol.asyncIterator]());
    return count++;
  };
  return {
    getBlob: async (...words: Parameters<Registry['getBlob']>) =>
      opened((await registry()).getBlob(...words)),
    listTags: async (of: Parameters<Registry['listTags']>[0]) => opened((await registry()).listTags(of)),
    next: async (handle: number) => (await open.get(handle)?.next()) ?? { done: true },
    end: async (handle: number) => {
      await open.get(handle)?.return?.();
      open.delete(handle);
    },
  };
}

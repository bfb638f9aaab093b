/** Commits that were once in a repository, and may be gone from it. */
import { PipelineError } from '../error.ts';
import { isAncestor } from './merge.ts';
import type { Repository } from './repository.ts';

/**
 * Brings commits at once, for they share nearly everything; gives those that are still in the repository.
 *
 * @throws PipelineError as the fetching, but for `not-found`
 */
export async function fetchCommits(
  repository: Repository,
  commits: ReadonlySet<string>,
): Promise<Set<string>> {
  const isThere = async (some: readonly string[]): Promise<boolean> => {
    try {
      await repository.bring(some);
      return true;
    } catch (error) {
      if (error instanceof PipelineError && error.code === 'not-found') return false;
      throw error;
    }
  };
  if (await isThere([...commits])) return new Set(commits);
  const presentCommits = new Set<string>();
  for (const commit of commits) if (await isThere([commit])) presentCommits.add(commit);
  return presentCommits;
}

/** Whether a commit is in the repository; it is fetched where little of the repository is here. */
export async function hasCommit(repository: Repository, commit: string): Promise<boolean> {
  if (!(await fetchCommits(repository, new Set([commit]))).has(commit)) return false;
  return (await repository.objects.info(commit))?.type === 'commit';
}

/** Whether a commit is what a branch holds; what it never held is published by nobody. */
export async function isOn(repository: Repository, commit: string, tip: string): Promise<boolean> {
  if (!(await hasCommit(repository, commit))) return false;
  return isAncestor(repository, commit, tip);
}

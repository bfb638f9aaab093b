import { hasCommit } from '../../git/fetch-commits.ts';
import { isAncestor } from '../../git/merge.ts';
import type { Repository } from '../../git/repository.ts';

/** Whether a commit is what a branch holds; what it never held is published by nobody. */
export async function isOn(repository: Repository, commit: string, tip: string): Promise<boolean> {
  if (!(await hasCommit(repository, commit))) return false;
  return isAncestor(repository, commit, tip);
}

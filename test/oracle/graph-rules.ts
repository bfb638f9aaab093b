/** The check of merges of generated states, in a real repository. */
import type { Finding } from '../../catalog/finding.ts';
import { checkPullRequest } from '../../pipeline/check/check.ts';
import { openRepository } from '../../pipeline/git/repository.ts';
import { type Files, makeRepository } from '../fakes/repository.ts';
import { commitsOf, type State } from './repository-state.ts';

/** Finds what rules about graphs say of a merge: states oldest first, the last one is the merge. */
export type FindingsOf = (
  states: readonly State[],
  /** What the repository has beside its catalogs. */
  beside?: Files,
) => Promise<readonly Finding[]>;

export interface GraphRules {
  readonly findingsOf: FindingsOf;
  readonly close: () => Promise<void>;
}

/** One repository serves for any number of merges. */
export async function openGraphRules(): Promise<GraphRules> {
  const disk = makeRepository();
  disk.commit({ 'README.md': '# catalogs' });
  const repository = await openRepository(disk.directory, { searchPath: process.env['PATH'] ?? '' });
  return {
    findingsOf: async (states, beside = {}) => {
      const [first = {}, ...others] = commitsOf(states);
      const [head = '', base = ''] = disk.chain({ ...first, ...beside }, ...others).reverse();
      const { findings } = await checkPullRequest(repository, { base, head, today: '2026-01-01' });
      return findings.filter(({ rule }) => rule.startsWith('graph/'));
    },
    close: async () => {
      await repository.close();
      disk.remove();
    },
  };
}

/** What rules about graphs find in a merge of generated states. */
import { afterAll, beforeAll } from 'vitest';
import type { Finding } from '../../catalog/finding.ts';
import { check } from '../../pipeline/check/check.ts';
import { openRepository, type Repository } from '../../pipeline/git/repository.ts';
import { makeRepository, type TestRepository } from '../fakes/repository.ts';
import { commitsOf, type State } from './repository-state.ts';

/** Opens one repository for all tests of a file. @returns the errors of a merge: states oldest first, the last one is the merge */
export function graphErrors(): (states: readonly State[]) => Promise<readonly Finding[]> {
  let disk: TestRepository;
  let repository: Repository;
  beforeAll(async () => {
    disk = makeRepository();
    disk.commit({ 'README.md': '# catalogs' });
    repository = await openRepository(disk.directory, { searchPath: process.env['PATH'] ?? '' });
  });
  afterAll(async () => {
    await repository.close();
    disk.remove();
  });
  return async (states) => {
    const [head = '', base = ''] = disk.chain(...commitsOf(states)).reverse();
    const { findings } = await check(repository, { base, head, today: '2026-01-01' });
    return findings.filter(({ rule, severity }) => rule.startsWith('graph/') && severity === 'error');
  };
}

/** The catalogs of a repository's commit, for commands that read catalogs. */

import { resolve } from 'node:path';
import type { ReadCatalog } from '../catalogs/read-catalogs.ts';
import { commitCatalogs, type Selection } from '../change/commit-catalogs.ts';
import { PipelineError } from '../error.ts';
import { withRepository } from '../git/repository.ts';
import { policyOrLayoutAt } from '../policy/setup/policy-or-layout.ts';
import { searchPath, type Terminal } from '../terminal.ts';
import { printErrors } from './rendering.ts';

/**
 * Reads them under the policy of the commit.
 *
 * @param where.repository path of a clone
 * @throws PipelineError `not-found`, and `usage` for a policy that is wrong
 */
export async function readCommit(
  where: { readonly repository: string; readonly commit: string },
  selection: Selection,
  terminal: Terminal,
): Promise<ReadCatalog[]> {
  const directory = resolve(terminal.directory, where.repository);
  return withRepository(directory, searchPath(terminal), async (repository) => {
    const [commit = ''] = await repository.resolve([where.commit]);
    const { policy, findings } = await policyOrLayoutAt(repository, commit);
    if (printErrors(findings, terminal) || !policy)
      throw new PipelineError('usage', 'the policy is not valid');
    return await commitCatalogs(repository.objects, commit, { policy, ...selection });
  });
}

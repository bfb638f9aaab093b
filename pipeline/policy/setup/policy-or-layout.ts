/** The policy of a commit for commands that only read: without one, the layout that `portolan setup` would write. */
import type { Repository } from '../../git/repository.ts';
import { listFiles } from '../../git/tree.ts';
import { type PolicyRead, policyAt, readPolicy } from '../read-policy.ts';
import { findLayout, readEvidence } from './find-layout.ts';
import { firstPolicy } from './policy.ts';

/** As `policyAt`, with the layout that was found where the commit has no policy. @throws PipelineError `not-found` */
export async function policyOrLayoutAt(
  repository: Repository,
  commit: string,
  ruleIds?: readonly string[],
): Promise<PolicyRead> {
  const { objects } = repository;
  const own = await policyAt(objects, commit, ruleIds);
  if (!own.defaults) return own;
  const files = await listFiles(objects, await objects.treeOf(commit));
  const { found } = await findLayout(await readEvidence(objects, files), { repository, commit });
  if (found.patterns.length === 0) return own;
  const read = readPolicy(Buffer.from(firstPolicy(found, [])), ruleIds);
  // Nobody has asked to see findings only, as setup does for a start.
  const policy = read.policy && own.policy && { ...read.policy, enforce: own.policy.enforce };
  return { ...read, policy, defaults: true };
}

/** The policy under which past merges are checked: that of the branch, else the one that setup would write. */
import type { RehearsalRequest } from '../../check/rehearsal/rehearsal.ts';
import type { Repository } from '../../git/repository.ts';
import { entryAt } from '../../git/tree.ts';
import { POLICY_PATH } from '../../policy/read-policy.ts';
import { setUpRepository } from '../../policy/setup/setup.ts';

/** The policy for a rehearsal. In the place of its path stand words that say where it comes from. */
export async function rehearsalPolicy(
  repository: Repository,
  head: string,
  admins: readonly string[],
): Promise<RehearsalRequest['policy']> {
  const [commit = ''] = await repository.resolve([head]);
  const entry = await entryAt(repository.objects, commit, POLICY_PATH);
  if (entry)
    return { path: `${POLICY_PATH} of ${head}`, bytes: (await repository.objects.read(entry.id)).bytes };
  const { files } = await setUpRepository(repository, { commit, admins });
  const text = files.get(POLICY_PATH) ?? '';
  return { path: 'the policy that portolan setup would write', bytes: Buffer.from(text) };
}

/** The past of what a pull request touches, as the policy says that it is to be looked up. */
import type { Repository } from '../git/repository.ts';
import { entryAt } from '../git/tree.ts';
import type { Policy } from '../policy/policy.ts';
import type { TouchedCatalog } from './catalogs.ts';
import { readLedger } from './ledger.ts';
import { type PublishedHistory, publishedBefore } from './published.ts';

/**
 * What was ever published in the touched catalogs.
 *
 * @param base id of the base branch's tip
 * @throws PipelineError `usage` for a ledger that cannot be read
 */
export async function pastOf(
  repository: Repository,
  { base, policy, touched }: { base: string; policy: Policy; touched: readonly TouchedCatalog[] },
): Promise<PublishedHistory> {
  const { published } = policy.graph;
  if (published === 'git') {
    const places = touched.flatMap((catalog) => catalog.places);
    return publishedBefore(repository, { commit: base, places, limits: policy.limits });
  }
  const { objects } = repository;
  const file = await entryAt(objects, await objects.treeOf(base), published.ledger);
  if (!file) return { published: new Map(), incomplete: `there is no ledger ${published.ledger} yet` };
  const { bytes } = await objects.read(file.id, policy.limits.fileBytes);
  return { published: readLedger(bytes.toString('utf8'), published.ledger), incomplete: undefined };
}

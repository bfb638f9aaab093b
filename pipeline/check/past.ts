/** The past of what a pull request touches, as the policy says that it is to be looked up. */
import type { Repository } from '../git/repository.ts';
import { entryAt } from '../git/tree.ts';
import type { Policy } from '../policy/policy.ts';
import type { TouchedCatalog } from './catalogs.ts';
import { readLedger } from './ledger.ts';
import {
  type CatalogPath,
  type OldVersions,
  type PublishedHistory,
  publishedBefore,
  publishedIn,
} from './published.ts';

/** Says which versions files had, where the clone has no history to tell it. */
export type HistoryOf = (places: readonly CatalogPath[]) => Promise<OldVersions>;

export interface PastRequest {
  /** Id of the base branch's tip. */
  readonly base: string;
  readonly policy: Policy;
  readonly touched: readonly TouchedCatalog[];
  readonly historyOf?: HistoryOf | undefined;
}

/**
 * What was ever published in the touched catalogs.
 *
 * @throws PipelineError `usage` for a ledger that cannot be read
 */
export async function pastOf(
  repository: Repository,
  { base, policy, touched, historyOf }: PastRequest,
): Promise<PublishedHistory> {
  const { published } = policy.graph;
  if (published === 'git') {
    const places = touched.flatMap((catalog) => catalog.places);
    const { limits } = policy;
    if (historyOf) return publishedIn(repository, await historyOf(places), { places, limits });
    return publishedBefore(repository, { commit: base, places, limits: policy.limits });
  }
  const { objects } = repository;
  const file = await entryAt(objects, await objects.treeOf(base), published.ledger);
  if (!file) return { published: new Map(), incomplete: `there is no ledger ${published.ledger} yet` };
  const { bytes } = await objects.read(file.id, policy.limits.fileBytes);
  return { published: readLedger(bytes.toString('utf8'), published.ledger), incomplete: undefined };
}

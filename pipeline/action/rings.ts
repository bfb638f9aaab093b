/** The Action opens rings whose time has come; what is known of them is kept in the repository's own refs. */

import { PipelineError } from '../error.ts';
import { fetchCommits } from '../git/fetch-commits.ts';
import { policyAt } from '../policy/read-policy.ts';
import type { CheckOf } from '../publish/delivery/ports.ts';
import { moveCatalogRings } from '../publish/delivery/rings.ts';
import { publishedCatalogs } from '../publish/published-catalogs.ts';
import type { RingState } from '../publish/rings/state.ts';
import { ringsName, textRings } from '../publish/rings/store.ts';
import { targetIn } from '../publish/target.ts';
import type { PublishedPush } from './retire.ts';

interface RingRun extends PublishedPush {
  /** `owner/name`. */
  readonly name: string;
  readonly checkOf: CheckOf;
  readonly now: () => Date;
}

/**
 * Opens the due rings of every catalog, by the policy of the branch's tip: somebody may run an old run again, and the rings'
 * conditions may have changed since. A catalog that fails does not stop the others.
 *
 * @returns what is known of each of them, and the catalogs whose rings could not be looked at
 */
export async function moveAllRings(
  run: RingRun,
): Promise<{ readonly rings: readonly RingState[]; readonly failed: readonly string[] }> {
  const { repository, registry, fence, name, branch, checkOf, now, log } = run;
  const rings: RingState[] = [];
  const failed: string[] = [];
  const current = await currentPolicy(run);
  if (!current) return { rings, failed: run.catalogs };
  const { policy } = current;
  for (const catalog of current.catalogs) {
    const target = targetIn(policy, catalog);
    if (!target || target.rings.length === 0) continue;
    const catalogRings = { catalog, target, policy, repository, from: { repository: name, branch } };
    const store = textRings(fence, catalog, ringsName(catalog, target));
    try {
      rings.push(await moveCatalogRings(catalogRings, { store, fence, registry, now, log }, checkOf));
    } catch (error) {
      if (!(error instanceof PipelineError)) throw error;
      failed.push(catalog);
      log(`cannot move the rings of ${catalog}: ${error.message}`);
    }
  }
  return { rings, failed };
}

/** The policy of the branch's tip and the catalogs that it publishes; undefined if it cannot be read. */
async function currentPolicy({
  repository,
  fence,
  commit,
  policy,
  catalogs,
  branch,
  log,
}: RingRun): Promise<Pick<RingRun, 'policy' | 'catalogs'> | undefined> {
  const tip = (await fence.branches()).get(branch);
  if (tip === commit) return { policy, catalogs };
  if (tip === undefined) {
    log(`cannot move rings: the branch ${branch} no longer exists`);
    return undefined;
  }
  await fetchCommits(repository, new Set([tip]));
  const { policy: newer } = await policyAt(repository.objects, tip);
  if (newer) return { policy: newer, catalogs: await publishedCatalogs(repository.objects, tip, newer) };
  log(`cannot move rings: the policy of ${tip.slice(0, 12)}, the tip of ${branch}, cannot be read`);
  return undefined;
}

/** The Action opens rings whose time has come; what is known of them is kept in the repository's own refs. */
import { PipelineError } from '../error.ts';
import type { Repository } from '../git/repository.ts';
import type { Policy } from '../policy/policy.ts';
import type { Registry } from '../ports.ts';
import type { CheckOf } from '../publish/delivery/ports.ts';
import { moveCatalogRings } from '../publish/delivery/rings.ts';
import type { GitFence } from '../publish/fence-git.ts';
import { type RingState, ringsName, textRings } from '../publish/rings/state.ts';
import { targetIn } from '../publish/target.ts';

export interface RingRun {
  readonly repository: Repository;
  readonly registry: Registry;
  readonly fence: Pick<
    GitFence,
    'read' | 'replace' | 'readLease' | 'replaceLease' | 'readText' | 'replaceText'
  >;
  readonly policy: Policy;
  /** Catalogs that the policy publishes. */
  readonly catalogs: readonly string[];
  /** `owner/name`. */
  readonly name: string;
  readonly branch: string;
  readonly checkOf: CheckOf;
  readonly now: () => Date;
  readonly log: (line: string) => void;
}

/**
 * Looks at the rings of every catalog that has any. What fails of one keeps back no other.
 *
 * @returns what is known of each of them, and the catalogs whose rings could not be looked at
 */
export async function moveAllRings({
  repository,
  registry,
  fence,
  policy,
  catalogs,
  name,
  branch,
  checkOf,
  now,
  log,
}: RingRun): Promise<{ readonly rings: readonly RingState[]; readonly failed: readonly string[] }> {
  const rings: RingState[] = [];
  const failed: string[] = [];
  for (const catalog of catalogs) {
    const target = targetIn(policy, catalog);
    if (!target || target.rings.length === 0) continue;
    const of = { catalog, target, policy, repository, from: { repository: name, branch } };
    const store = textRings(fence, catalog, ringsName(catalog, target));
    try {
      rings.push(await moveCatalogRings(of, { store, fence, registry, now, log }, checkOf));
    } catch (error) {
      if (!(error instanceof PipelineError)) throw error;
      failed.push(catalog);
      log(`cannot move the rings of ${catalog}: ${error.message}`);
    }
  }
  return { rings, failed };
}

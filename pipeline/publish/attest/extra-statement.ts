/** A signed statement about a published image that an extra makes. */
import type { Repository } from '../../git/repository.ts';
import type { Policy } from '../../policy/policy.ts';

/** What is published, and from where. */
export interface Publication {
  readonly repository: Repository;
  readonly catalog: string;
  /** Id of the commit. */
  readonly commit: string;
  /** The policy of the commit. */
  readonly policy: Policy;
  /** Ids of the commits of the images that clusters come from, one for each tag's; empty where no earlier image is known. */
  readonly previous: readonly string[];
  /** The day for which waivers are checked, `YYYY-MM-DD` in UTC. */
  readonly today: string;
}

export interface ExtraStatement {
  /** The word by which a policy or an option asks for it. */
  readonly asked: string;
  /** The option's description. */
  readonly summary: string;
  readonly predicateType: string;
  /** Loads what makes the predicate. */
  readonly load: () => Promise<(publication: Publication) => Promise<unknown>>;
}

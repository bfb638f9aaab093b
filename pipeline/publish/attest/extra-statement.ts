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
  /** Id of the commit of the image that clusters come from; undefined where no earlier image is known. */
  readonly previous: string | undefined;
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

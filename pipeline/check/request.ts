/** The request for a check: the pull request, its author, and the data sources. */
import type { Fleet } from '../../catalog/olm/fleet/fleet.ts';
import type { Change, CrdsOf, ManifestsOf } from '../../catalog/olm/foresight/world.ts';
import type { TagDigests } from '../../catalog/references/same-image.ts';
import { type KeptFiles, keptFiles } from '../change/content.ts';
import type { Store } from '../oci/image/build-cache.ts';
import type { Policy } from '../policy/policy.ts';
import type { PresetName } from '../policy/presets/preset.ts';
import type { Registry } from '../ports.ts';
import type { People } from './authority/people.ts';
import { type KeptOutlines, keptOutlines } from './world/context.ts';
import type { HistoryOf } from './world/publication-history.ts';
import { type KeptVersions, keptVersions } from './world/published.ts';

export interface CheckRequest {
  /** Revision of the base branch's tip. */
  readonly base: string;
  /** Revision of the pull request's head. */
  readonly head: string;
  /** Id of their common ancestor, where the clone has no history to find it in. */
  readonly ancestor?: string;
  /** Bytes of a policy to use instead of the base branch's. */
  readonly policy?: { readonly path: string; readonly bytes: Uint8Array };
  /** Presets in place of the policy's. */
  readonly presets?: readonly PresetName[];
  /** Whether the layout is looked for as `portolan setup` does, where the base branch has no policy. */
  readonly findsLayout?: boolean;
  /** Says which versions files had, where the clone has no history. */
  readonly historyOf?: HistoryOf;
  /** The author and reviewers; without them, authority is not checked. */
  readonly people?: People;
  /** The day of the check, `YYYY-MM-DD` in UTC. */
  readonly today: string;
  /** A client that asks what the policy allows; without it registries are not contacted. */
  readonly registryFor?: (policy: Policy) => Registry;
  /** Whether registries are asked for released images only, since somebody else looks up references. */
  readonly onlyReleased?: boolean;
  /** Packages of other public catalogs, read when a new package makes it necessary; their names are taken. */
  readonly otherCatalogs?: readonly OtherCatalogs[];
  /** Digests of tags, as a registry just returned them. */
  readonly digests?: TagDigests;
  /** A fleet to use instead of the policy's. */
  readonly fleet?: Fleet;
  /** Data read for other checks of the same repository. */
  readonly kept?: KeptReadings;
  /** Keeps what released images and companions have, by their digests. */
  readonly cache?: Store;
  /**
   * CRDs of bundles whose manifests the catalogs do not hold; without it they are those of the bundle
   * directories of the repository, as far as the policy's layout has any.
   */
  readonly crds?: CrdsOf;
  /** Manifests of the same bundles. */
  readonly manifests?: ManifestsOf;
  /** Told of the change of each touched catalog, with all that was simulated. */
  readonly foreseen?: (change: Change) => void;
}

/** Parts of a request, as a step gets them. */
export type Asked<K extends keyof CheckRequest> = { readonly [P in K]: CheckRequest[P] | undefined };

/** The catalogs of another repository. */
export interface OtherCatalogs {
  /** Its name in messages. */
  readonly name: string;
  /** @throws PipelineError where they cannot be read */
  readonly packages: () => Promise<ReadonlySet<string>>;
}

/** Contents that several checks of one repository have in common. */
interface KeptReadings {
  readonly files: KeptFiles;
  readonly versions: KeptVersions;
  readonly outlines: KeptOutlines;
}

/** Room for what checks of one repository have in common. */
export function keptReadings(): KeptReadings {
  return { files: keptFiles(), versions: keptVersions(), outlines: keptOutlines() };
}

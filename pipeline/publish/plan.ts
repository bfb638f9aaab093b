/** What a publish is asked, and how it begins: the policy of the commit, the place, and the fence around it. */
import type { Finding } from '../../catalog/finding.ts';
import { policyLocation, sharedPlaces } from '../change/shared-places.ts';
import { PipelineError } from '../error.ts';
import { readCommit } from '../git/commit.ts';
import type { ObjectReader } from '../git/objects.ts';
import type { Repository } from '../git/repository.ts';
import type { Store } from '../oci/image/build-cache.ts';
import { systemClock } from '../oci/registry/http/retry.ts';
import { formatLocation, oneSpelling } from '../oci/registry/image-location.ts';
import type { PushReport } from '../oci/registry/push.ts';
import type { Policy } from '../policy/policy.ts';
import { policyAt } from '../policy/read-policy.ts';
import type { Fence, RecordStore, Registry, StandingClaim } from '../ports.ts';
import type { Written } from '../write.ts';
import { type AttestOptions, whyUnsigned } from './attest/attest.ts';
import type { Signer } from './attest/signer.ts';
import type { PublishedFrom } from './documents.ts';
import { type Guard, type Guarded, guardOf, type OwnFence } from './fence-guard.ts';
import type { LeaseOptions } from './fence-lease.ts';
import { versionOf } from './immutable-tag.ts';
import type { PublishReceipt } from './receipt.ts';
import { type PublishChoices, type PublishTarget, publishedPlaces, targetOf } from './target.ts';

export interface PublishRequest extends PublishChoices {
  /** Revision that is published. */
  readonly commit: string;
  /** The catalog's name, as the layout of the commit's policy finds it. */
  readonly catalog: string;
  /** The directory for the receipt and the mirror's documents. */
  readonly out: string;
  /** The day for which waivers are checked, `YYYY-MM-DD` in UTC. */
  readonly today: string;
  /** Raised by one when the branch's history was rewritten; the standing one when left out. */
  readonly epoch?: number | undefined;
  /** The branch that the commit is on, for the record of what is published. */
  readonly from?: PublishedFrom | undefined;
  /** What is put beside the image before a tag names it; what the policy says when left out. */
  readonly attest?: AttestOptions | undefined;
  /** What builds remember of each other; every build is a first one without. */
  readonly store?: Store | undefined;
  /** Whether a page of the catalog is written as well, and attached to the image. */
  readonly page?: boolean | undefined;
}

/** What a publish does, in this order. */
export type PublishStep = 'plan' | 'build' | 'documents' | 'push';

export interface PublishPorts {
  readonly repository: Repository;
  readonly registry: Registry;
  /** Decides whose tag it is; without one, the last to publish wins. */
  readonly fence?: Fence | undefined;
  /** Given where the fence is not shared by all publishers. */
  readonly ownFence?: OwnFence | undefined;
  /** How another holder of the tag's lease is waited for. */
  readonly lease?: LeaseOptions | undefined;
  /** Where the documents of every publish are kept as well; only behind a fence. */
  readonly records?: RecordStore | undefined;
  /** The publisher's own key, for policies that ask for its signature. */
  readonly signer?: Signer | undefined;
  /** Whether no service vouches for the publisher, as for a job: it cannot sign without a key. */
  readonly isAnonymous?: boolean | undefined;
  /** Digests of the images that the rings of a catalog show, wait for or may open next; `keep` deletes none of them. */
  readonly inRings?: ((catalog: string, target: PublishTarget) => Promise<readonly string[]>) | undefined;
  /** Told of each step when it begins. */
  readonly progress: (step: string) => void;
  /** Hears how long each step took, in s. */
  readonly measured?: ((step: PublishStep, seconds: number) => void) | undefined;
}

export type Published =
  /** Nothing was pushed and nothing written: what is wrong are errors of the catalog or the policy. */
  | { readonly kind: 'refused'; readonly findings: readonly Finding[] }
  /**
   * Nothing was written: the tag names what somebody else published, of a newer commit, or of the same one when a tag
   * of its base image moved meanwhile.
   */
  | {
      readonly kind: 'superseded';
      readonly findings: readonly Finding[];
      /** Id of the commit that was to be published. */
      readonly commit: string;
      readonly by: StandingClaim;
      /** The place that both are published to. */
      readonly image: string;
    }
  | {
      readonly kind: 'published';
      /** Notes that are not errors. */
      readonly findings: readonly Finding[];
      readonly receipt: PublishReceipt;
      readonly push: PushReport;
      readonly files: Written;
    };

/** How a publish ends that changes nothing. */
export type Ended = Exclude<Published, { kind: 'published' }>;

/** A publish that may go ahead. */
export interface PlannedPublish {
  readonly kind: 'planned';
  readonly ports: PublishPorts;
  readonly request: PublishRequest;
  /** Id of the commit. */
  readonly commit: string;
  readonly policy: Policy;
  readonly target: PublishTarget;
  /** Names the images of the commit in their immutable tags; undefined where there are none. */
  readonly version: string | undefined;
  readonly guarded: Guarded;
  /** The fence around the first place; undefined where nothing is fenced. */
  readonly guard: Guard | undefined;
}

/**
 * Reads the policy of the commit, and asks the fence whether a newer commit is published already.
 *
 * @throws PipelineError `not-found` for a commit that does not exist, `usage` for choices that cannot be followed
 */
export async function planPublish(
  ports: PublishPorts,
  request: PublishRequest,
): Promise<PlannedPublish | Ended> {
  const { repository, registry, fence, ownFence, lease, records } = ports;
  const [commit = ''] = await repository.resolve([request.commit]);
  const { policy, findings } = await policyAt(repository.objects, commit);
  if (!policy) return { kind: 'refused', findings };
  const taken = await sharedPlacesOf(repository.objects, { ...request, commit }, policy);
  if (taken.length > 0) return { kind: 'refused', findings: taken };
  const target = targetOf(policy, request.catalog, request);
  refuseSharedSlim(target);
  const { signer: key, isAnonymous } = ports;
  const unsigned = request.attest ? undefined : whyUnsigned(target.attest, { key, isAnonymous });
  if (unsigned)
    return { kind: 'refused', findings: [await unsignedFinding(repository.objects, commit, unsigned)] };
  const guarded = {
    repository,
    registry,
    ownFence,
    records,
    lease,
    ...request,
    commit,
    // Without a tag, there is nothing that an older commit could take away from a newer one.
    fence: target.untagged ? undefined : fence,
  };
  const guard = guardOf(target, guarded);
  const newer = await guard?.newer();
  if (newer) return { kind: 'superseded', findings: [], commit, by: newer, image: target.name };
  const version = target.immutableTags ? await versionAt(repository.objects, commit) : undefined;
  return { kind: 'planned', ports, request, commit, policy, target, version, guarded, guard };
}

/**
 * The finding about a policy that asks for a signature which this publisher cannot make. It comes before anything is
 * built: no retry helps against a mistake of the policy.
 */
async function unsignedFinding(
  objects: ObjectReader,
  commit: string,
  why: { readonly message: string; readonly hint: string },
): Promise<Finding> {
  const location = await policyLocation(objects, commit, ['publish', 'catalogs']);
  return { rule: 'policy/unsigned', severity: 'error', ...why, location };
}

/** What names a commit's images in their immutable tags. */
async function versionAt(objects: ObjectReader, commit: string): Promise<string> {
  const { id, committer } = await readCommit(objects, commit);
  return versionOf({ id, time: committer.time }, systemClock.now());
}

/**
 * Refuses options that give both images one place; for the policy's places, that is a finding.
 *
 * @throws PipelineError `usage`
 */
function refuseSharedSlim({ slim, ...target }: PublishTarget): void {
  const place = slim && oneSpelling(formatLocation(slim));
  const others = publishedPlaces({ ...target, slim: undefined });
  if (!others.some((other) => oneSpelling(formatLocation(other)) === place)) return;
  throw new PipelineError(
    'usage',
    `both images are published to ${place}: the one for OLM v1 has no server`,
    {
      hint: 'use a tag of its own with --slim',
    },
  );
}

/** Findings about places of the policy that another catalog of the commit is published to as well. */
async function sharedPlacesOf(
  objects: ObjectReader,
  { commit, catalog, to, untagged }: PublishRequest,
  policy: Policy,
): Promise<Finding[]> {
  // The policy's places are not used, or no tag of them is moved.
  if (to !== undefined || untagged) return [];
  const shared = await sharedPlaces(objects, commit, policy);
  return shared.filter(({ catalogs }) => catalogs?.includes(catalog));
}

/** What the steps of a delivery need from their host. */
import type { BundleName } from '../../catalogs/release/bundle-image.ts';
import type { Repository } from '../../git/repository.ts';
import type { Policy } from '../../policy/policy.ts';
import type { Fence, Forge, Queue, RecordStore, Registry, Retirement } from '../../ports.ts';
import type { Signer } from '../attest/signer.ts';
import type { PublishedFrom } from '../documents.ts';
import type { LeaseOptions } from '../fence-lease.ts';
import type { PublishStep } from '../plan.ts';
import type { PublishReceipt } from '../receipt.ts';
import type { GateMessage } from './message.ts';

/** A repository as its branch is now. */
export interface OpenBranch {
  readonly repository: Repository;
  /** Id of the branch's newest commit. */
  readonly tip: string;
  close(): Promise<void>;
}

/** A catalog was published; it may be reported more than once. */
export interface Announcement {
  readonly repository: string;
  readonly catalog: string;
  readonly commit: string;
  /** The place of the image. */
  readonly image: string;
  readonly digest: string;
  /** Prefix of the keys of its documents. */
  readonly documents: string;
}

/** A catalog was retired; it may be reported more than once. */
export interface RetirementNotice extends Omit<Announcement, 'documents'> {
  /** What became of the image. */
  readonly retired: Retirement;
}

/** What the service that holds the repository notes of a publish. */
export interface Deployment {
  /** `owner/name`. */
  readonly repository: string;
  readonly receipt: PublishReceipt;
  /** Where people find the documents. */
  readonly link: string | undefined;
}

/** How far the bundles of a branch were released. */
export interface ReleasedUpTo {
  /** Id of the commit up to which all that arrived was looked at. */
  readonly commit: string;
  /** Those that were refused there. */
  readonly refused: readonly BundleName[];
  /** References of what was ever refused and has not been seen in a registry since. */
  readonly missing: readonly string[];
}

/** Bundles of a commit are to be released: what has arrived since another one, and what was refused there. */
export interface Arrival {
  readonly repository: Repository;
  readonly branch: string;
  readonly commit: string;
  readonly since: ReleasedUpTo;
  readonly policy: Policy;
}

/** What became of them. */
export interface Arrived extends ReleasedUpTo {
  /** The bundles that were pushed. */
  readonly released: readonly BundleName[];
  /** Why the first of them was refused, in one line; undefined when none was. */
  readonly why: string | undefined;
}

/** Turns a branch's bundle directories into images, and adds them to its catalogs. */
export interface Releaser {
  /** How far a job of the repository has released them before; undefined when none has. */
  readonly earlier: () => Promise<ReleasedUpTo | undefined>;
  /** It may be done over, to the same end. @throws PipelineError as GitHub, git and the registries */
  readonly release: (arrival: Arrival) => Promise<Arrived>;
}

/** What reports are read from, and sent to. */
export interface ReportPorts {
  readonly records: RecordStore;
  readonly forge: Forge;
  /** Tells whoever subscribed that a tag names another image; nobody hears of it when left out. */
  readonly announce?: ((published: Announcement) => Promise<void>) | undefined;
  /** Tells them that a catalog is not published any more. */
  readonly announceRetired?: ((retired: RetirementNotice) => Promise<void>) | undefined;
  /** Notes a publish beside its commit; the same one again changes nothing. Not noted when left out. */
  readonly deployed?: ((deployment: Deployment) => Promise<void>) | undefined;
  /** A URL under which people find the documents of a publish, by the prefix of their keys; none when left out. */
  readonly linkTo?: ((documents: string) => string) | undefined;
  readonly log: (line: string) => void;
}

/** Says how a check of a commit has ended; undefined where there is none of that name. */
export type CheckOf = (
  of: { readonly repository: string; readonly commit: string },
  name: string,
) => Promise<'success' | 'pending' | 'failure' | undefined>;

export interface DeliveryPorts {
  /** Opens a repository, with all that its branch has now. @throws PipelineError */
  readonly open: (from: { readonly repository: string; readonly branch: string }) => Promise<OpenBranch>;
  readonly registry: Registry;
  readonly fence: Fence;
  /** How another holder of a tag's lease is waited for. */
  readonly lease?: LeaseOptions | undefined;
  readonly records: RecordStore;
  readonly queue: Queue;
  /** Takes what is to be reported of a merge: see `report.ts`. */
  readonly reports: Queue;
  /** Signs what policies ask to be signed with the publisher's key; nothing can be when left out. */
  readonly signer?: Signer | undefined;
  /** Whether no service vouches for this process, as for a job: it cannot sign without a key. */
  readonly isAnonymous?: boolean | undefined;
  /** Undefined for a branch whose bundles a job releases, and where there is nobody to propose anything as. */
  readonly releaserOf?: ((of: PublishedFrom) => Releaser | undefined) | undefined;
  /** Reads the checks that rings wait for; no ring with checks opens without it. */
  readonly checkOf?: CheckOf | undefined;
  /** Checks a pull request and says so; undefined where none are checked. */
  readonly gate?: ((message: GateMessage) => Promise<void>) | undefined;
  readonly now: () => Date;
  /** Hears how long each step of a publish took, in s; `lag` is from the commit to the tag. */
  readonly measured?: ((step: PublishStep | 'lag', seconds: number, repository: string) => void) | undefined;
  readonly log: (line: string) => void;
}

/** Opens a branch for some work, and closes it after. @throws PipelineError as `open` and the work */
export async function onBranch<T>(
  { open }: Pick<DeliveryPorts, 'open'>,
  from: Parameters<DeliveryPorts['open']>[0],
  work: (branch: OpenBranch) => Promise<T>,
): Promise<T> {
  const branch = await open(from);
  try {
    return await work(branch);
  } finally {
    await branch.close();
  }
}

/**
 * What the stages need from the world: interfaces only. Hosts and tests bring the
 * implementations; `pipeline/oci/registry` brings those of `Registry`.
 */
import type { Reference } from '../catalog/reference.ts';

/** Where images live: a registry's host (with its port, where one is written) and a path in it. */
export type Repository = Pick<Reference, 'registry' | 'repository'>;

/** What a node must be to run an image, in the words of OCI's image index. */
export interface Platform {
  readonly os: string;
  readonly architecture: string;
  readonly variant?: string;
  readonly osVersion?: string;
}

/** What a registry says about one piece of content; `size` in bytes. */
export interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  readonly platform?: Platform;
  readonly artifactType?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  /** Where else the content may be had; such layers need not be in the registry. */
  readonly urls?: readonly string[];
}

/** A manifest or a manifest list as its exact bytes; `digest` is that of the bytes. */
export interface Manifest {
  readonly mediaType: string;
  readonly digest: string;
  readonly bytes: Uint8Array;
}

/** Content that can be read more than once, so that a broken upload can go on. `size` in bytes. */
export interface BlobSource {
  readonly digest: string;
  readonly size: number;
  /** The bytes from the offset `from` (0 is the first byte) to the end. */
  open(from: number): AsyncIterable<Uint8Array>;
}

/** How a blob came to be in a repository. Only `uploaded` sent its bytes. */
export type BlobOutcome = 'present' | 'mounted' | 'uploaded';

export interface PutBlobOptions {
  /** Repositories of the same registry that are likely to hold the blob, the likeliest first. */
  readonly mountFrom?: readonly string[];
  /** The repository is known not to hold the blob: it is not asked first. */
  readonly absent?: boolean;
  /** Bytes of an upload's chunk, and the size up to which a blob goes in one request. */
  readonly chunk?: number;
  /** Where an upload that was cut off goes on, in another process too. */
  readonly memory?: UploadMemory;
  /** What is kept of uploads, so that a later run deletes those that were cut off. */
  readonly uploads?: UploadNotes;
  /** Waits until so many bytes may leave, and lets them. */
  readonly gate?: <T>(bytes: number, send: () => Promise<T>) => Promise<T>;
}

/** Where uploads of one blob were begun. */
export interface UploadNotes {
  /** Where an earlier run began some; if the blob is not there, they are dead. */
  readonly earlier: readonly string[];
  /** Told of each upload that the registry opens. */
  begun(location: string): void;
}

/** What is remembered of an upload in chunks. */
export interface UploadMemory {
  /** Where the registry said to go on, as it said it; undefined for an upload that was never begun. */
  readonly location: string | undefined;
  /** Bytes of a chunk, where the registry goes on with what broke; a smaller blob goes in one request. */
  readonly chunk: number;
  /** Told of the place to go on: where an upload begins, and after each chunk that the registry has taken. */
  note(location: string): void;
}

/** How a manifest is written by whoever may write it for some time only. */
export interface PutManifestOptions {
  /** Requests that have no answer after so many ms are cut off, and none begins after. */
  readonly within?: number;
  /** Told before each try after the first one: what the earlier try sent may still be under way. */
  readonly again?: () => void;
}

/**
 * A registry, or a directory or archive that stands for one. Names of what is absent give
 * `undefined`, `false` or nothing; what could not be found out throws a PipelineError.
 */
export interface Registry {
  /** What a reference names now, without its bytes; undefined when there is no such image. */
  resolve(reference: Reference): Promise<Descriptor | undefined>;
  /** The manifest that a reference names, its digest checked; undefined when there is none. */
  getManifest(reference: Reference): Promise<Manifest | undefined>;
  /**
   * The bytes of a blob. Nothing is asked before the first read. Size and digest are checked
   * at the end: until the iteration has ended well the bytes are not to be trusted.
   *
   * @throws PipelineError `not-found` when there is no such blob, `corrupt` when it has other bytes
   */
  getBlob(from: Repository, blob: Pick<Descriptor, 'digest' | 'size'>): AsyncIterable<Uint8Array>;
  /**
   * Whether a repository has a blob. Where it does not say how large that is, it is taken to be whole.
   *
   * @throws PipelineError `corrupt` when the blob has another size than the given one
   */
  hasBlob(from: Repository, digest: string, size?: number): Promise<boolean>;
  /** Makes sure that the repository holds a blob, and sends its bytes only when it must. */
  putBlob(to: Repository, blob: BlobSource, options?: PutBlobOptions): Promise<BlobOutcome>;
  /**
   * Writes a manifest under a tag or under its digest. Everything that it names must be there.
   *
   * @throws PipelineError `conflict` when the tag may not be moved
   */
  putManifest(to: Reference, manifest: Manifest, options?: PutManifestOptions): Promise<void>;
  /** Tags in the order in which the registry lists them; nothing for an unknown repository. */
  listTags(of: Repository): AsyncIterable<string>;
  /** Manifests whose `subject` is the digest; of one artifact type when that is given. */
  listReferrers(of: Repository, digest: string, artifactType?: string): Promise<readonly Descriptor[]>;
  /** Removes a tag, or a manifest with all its tags; false when there was none. */
  deleteManifest(reference: Reference, options?: Pick<PutManifestOptions, 'within'>): Promise<boolean>;
  /**
   * Has the registry delete old images itself; left out where no registry does.
   *
   * @returns false where the repository's registry has no rules of its own
   */
  keepImages?(of: Repository, rules: readonly KeepRule[]): Promise<boolean>;
}

/** How many images a repository keeps beside one that a tag names. */
export interface KeepRule {
  /** The published tag; its image always stays. */
  readonly tag: string;
  /** How many of its immutable tags stay; all when undefined. */
  readonly keep: number | undefined;
}

/** What proves to a registry who asks. */
export type Credential =
  | { readonly kind: 'basic'; readonly username: string; readonly password: string }
  /** A refresh token that the registry's token service takes for bearer tokens. */
  | { readonly kind: 'identity'; readonly token: string }
  /** A bearer token, to be sent as it is. */
  | { readonly kind: 'bearer'; readonly token: string };

/** Where credentials come from: an authfile, a credential helper, a cloud's own API. */
export interface CredentialSource {
  /** The credential for a repository; undefined means to ask anonymously. */
  credential(repository: Repository): Promise<Credential | undefined>;
  /**
   * Takes in that a registry refused a credential before its end; left out where credentials do not change.
   *
   * @returns whether the repository has another one now
   */
  refused?(repository: Repository, credential: Credential): Promise<boolean>;
}

/** A record as it stands, with what a conditional write over it names. */
export interface StoredRecord {
  readonly bytes: Uint8Array;
  readonly version: string;
}

/** Bytes by key (segments with slashes between), with writes that are refused when somebody else was first. */
export interface RecordStore {
  get(key: string): Promise<StoredRecord | undefined>;
  /** Writes whatever stands there: for records that are the same whoever writes them. */
  put(key: string, bytes: Uint8Array): Promise<void>;
  /**
   * Writes only over the version that was read; `undefined` means that there was none.
   *
   * @returns false, and nothing is written, when another version stands there
   */
  replace(key: string, bytes: Uint8Array, version: string | undefined): Promise<boolean>;
  /** Keys that begin with the prefix, sorted. */
  list(prefix: string): Promise<readonly string[]>;
}

/** What a publisher wants its tag to name. */
export interface Claim {
  /** Raised when the branch's history was rewritten; a higher one wins whatever the commits say. */
  readonly epoch: number;
  /** Id of the commit that is published. */
  readonly commit: string;
  /** Digest of its index image, which is in the registry already. */
  readonly digest: string;
  /** Set where the catalog is not published any more: what became of the image that was published last. */
  readonly retired?: Retirement | undefined;
}

/** What becomes of the image of a catalog that is not published any more. */
export type Retirement = 'keep' | 'retag' | 'delete';

export interface StandingClaim extends Claim {
  /** How many claims there were, with this one. */
  readonly sequence: number;
  /** What `replace` compares. */
  readonly version: string;
}

/** Who holds it, and nobody else, moves the tag of a name. */
export interface Lease {
  /** How many holders there were, with this one. */
  readonly turn: number;
  /** When it ends, in ms since 1970; 0 once it was given back. */
  readonly until: number;
}

export interface StandingLease extends Lease {
  /** What `replaceLease` compares. */
  readonly version: string;
}

/**
 * The last claim for each name, and the lease of its tag. Registries have no conditional writes of tags: whoever
 * moves a tag holds the lease, and moves it to the claim that stands here.
 */
export interface Fence {
  read(name: string): Promise<StandingClaim | undefined>;
  /**
   * Puts a claim in the place of the one that was read, in one step.
   *
   * @returns the claim as it stands now; undefined when somebody else was first
   */
  replace(
    name: string,
    claim: Claim,
    standing: StandingClaim | undefined,
  ): Promise<StandingClaim | undefined>;
  readLease(name: string): Promise<StandingLease | undefined>;
  /** As `replace`, of the lease. @param until when it ends; 0 gives it back */
  replaceLease(
    name: string,
    until: number,
    standing: StandingLease | undefined,
  ): Promise<StandingLease | undefined>;
}

/** What one step asks another one to do. */
export interface Message {
  /** Messages of one group are handled in the order in which they were sent, one at a time. */
  readonly group: string;
  /** Messages of one id are one message. */
  readonly id: string;
  /** JSON; small: what is large is in the record store. */
  readonly body: string;
}

/** Delivers each message at least once: late, twice, and again when its handler dies. */
export interface Queue {
  send(message: Message): Promise<void>;
}

/** What became of a merge, where its author looks. */
export interface CommitStatus {
  /** `owner/name`. */
  readonly repository: string;
  /** Id of the commit. */
  readonly commit: string;
  /** What it is about, such as `portolan/publish v4.20`. */
  readonly context: string;
  readonly state: 'pending' | 'success' | 'failure' | 'error';
  /** At most 140 characters. */
  readonly description: string;
  /** Where more of it can be read. */
  readonly url?: string;
}

/** The service that holds the repository. */
export interface Forge {
  report(status: CommitStatus): Promise<void>;
  /** Whether a status is the newest one of its context already; left out where nothing is kept. */
  readonly shows?: ((status: CommitStatus) => Promise<boolean>) | undefined;
}

/** Time, so that waiting can be tested without waiting. All in milliseconds. */
export interface Clock {
  /** Since the epoch. */
  now(): number;
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

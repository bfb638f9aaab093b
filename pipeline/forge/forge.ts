/**
 * A forge: the service that holds repositories with their pull requests. The gate uses this interface; each forge has an
 * adapter. Data that a forge does not offer is read with git.
 */
import type { GivenReview } from '../check/authority/approval.ts';
import type { CommitFacts } from '../check/authority/authorship.ts';
import type { CheckReport, ReportState } from '../check/report.ts';
import type { Directory, Identity, Person } from '../policy/identity.ts';
import type { RequiredCheck } from '../policy/policy.ts';

/** Owner and name of a repository. */
export interface RepositoryName {
  readonly owner: string;
  readonly repo: string;
}

/** A pull request as its forge has it. */
export interface PullRequest {
  readonly number: number;
  readonly author: Person;
  readonly base: { readonly branch: string };
  readonly head: {
    readonly branch: string;
    /** Its id. */
    readonly commit: string;
    /** Undefined where the fork is gone. */
    readonly repository: RepositoryName | undefined;
  };
  readonly draft: boolean;
  readonly open: boolean;
  readonly labels: readonly string[];
  /** How many commits it has; undefined where the forge lists all of them. */
  readonly commits: number | undefined;
}

/** A pull request in the list of open ones: all that a status depends on, except its reviews. */
export type OpenPull = Pick<PullRequest, 'number' | 'author' | 'base' | 'draft' | 'labels'> & {
  readonly head: {
    readonly commit: string;
    /** True if the forge reports that the commit never had a `portolan` status. */
    readonly hasNoStatus?: boolean;
  };
};

/** A pull request with its reviews, in the order in which they were submitted. */
export interface Reviewed {
  readonly pull: PullRequest;
  readonly reviews: readonly GivenReview[];
}

/** The data behind results, read again. */
export interface ReadAgain {
  /** All open pull requests. */
  readonly open: readonly OpenPull[];
  /** By the numbers of pull requests. */
  readonly reviews: ReadonlyMap<number, readonly GivenReview[]>;
  /** Ids of the tips of branches. */
  readonly tips: ReadonlyMap<string, string>;
}

/** The status `portolan` of a commit, as it is to be set. */
export interface HeadStatus {
  readonly commit: string;
  readonly state: ReportState;
  readonly description: string;
  /** The open pull requests with this head. GitLab keeps a status for each; the other forges, one for the commit. */
  readonly pulls: readonly number[];
}

/** A status `portolan` that was set. */
export interface SetStatus {
  readonly id: number;
  readonly state: string;
  /** Number of the account that set it; undefined if the forge does not name it. */
  readonly by?: number | undefined;
  /** Link to the log of the run that set it; undefined if the run gave none. */
  readonly link: string | undefined;
}

/** Ids of the commits between which a pull request lies. */
export interface Sides {
  /** The tip of the base branch. */
  readonly base: string;
  readonly head: string;
  /** A latest common ancestor; undefined when they have none. */
  readonly ancestor: string | undefined;
  /** The commits that the head has and the base has not; undefined where the forge lists them elsewhere. */
  readonly commits?: readonly CommitFacts[];
  /**
   * Whether it is known that no merge is among the commits that the base branch lacks: there may be other latest common
   * ancestors otherwise, and whoever writes commits then chooses which one is named.
   */
  readonly isLinear: boolean;
}

/** The state of a required check at a commit. */
export interface CheckState {
  readonly name: string;
  readonly state: 'passed' | 'failed' | 'waiting';
  /** Why it does not count, in words. */
  readonly why: string;
}

/** Changes of a path, the latest first. */
export type PathChanges = readonly {
  readonly commit: string;
  /** Id of its tree, if the forge names that: the commit then need not be fetched. */
  readonly tree?: string;
  /** `YYYY-MM-DD`. */
  readonly date: string;
}[];

/** A pull request with the report of its check. */
export interface Reported {
  readonly number: number;
  readonly report: CheckReport;
}

/** How a host handles writes that fail, and where it logs. */
export interface Involving {
  readonly attempt: (what: string, act: () => Promise<void>) => Promise<unknown>;
  readonly info: (line: string) => void;
  readonly warning: (line: string) => void;
}

/**
 * One repository on a forge. Its functions throw a PipelineError: `denied`, `not-found`, `usage`, `conflict`,
 * `rate-limited`, `bad-answer` or `unreachable`, the last three retryable, and `conflict` where somebody else writes.
 */
export interface GateForge {
  /** Its name in messages. */
  readonly name: string;
  readonly repository: RepositoryName;
  /** Guarantees that this forge does not give, in words. If there are any, Portolan does not merge. */
  readonly missingGuarantees: readonly string[];

  readPull(number: number): Promise<PullRequest>;
  /** All open pull requests, from forks too: a status belongs to a commit, which several of them may have as their head. */
  readOpen(): Promise<OpenPull[]>;
  /** The newest statuses `portolan` of a commit, the newest first; of GitLab, those of its pull requests. */
  readStatuses(commit: string): Promise<readonly SetStatus[]>;
  /** Number of the account that Portolan uses; left out if no event reports a status. */
  readSelf?(): Promise<number | undefined>;
  /** Reviews in the order in which they were submitted, without drafts and requests. */
  readReviews(number: number): Promise<GivenReview[]>;
  /** Both by one request; left out, or undefined, where the forge does not answer that. */
  readReviewed?: ((number: number) => Promise<Reviewed | undefined>) | undefined;
  /** The same for the reviews of some pull requests and the tips of branches, with {@link readOpen}. */
  readAgain?:
    | ((numbers: readonly number[], branches: readonly string[]) => Promise<ReadAgain | undefined>)
    | undefined;
  /** The commits of a pull request, as far as the forge lists them, with the accounts that it knows by their addresses. */
  readCommits(number: number): Promise<CommitFacts[]>;
  /** The account that pushed the head; undefined if the forge does not name it. */
  readPusher(pull: PullRequest): Promise<Person | undefined>;
  /** Looks up the names in owners' lists. Names that the forge does not resolve are absent, and give nobody a right. */
  readDirectory(identities: readonly Identity[]): Promise<Directory>;
  /** Checks of others at a commit; one that the forge does not have waits. */
  readChecks(commit: string, required: readonly RequiredCheck[]): Promise<CheckState[]>;
  readTip(branch: string): Promise<string>;
  /** A file at the tip of a branch; undefined if the path does not exist, empty if it is not a file. */
  readFile(branch: string, path: string): Promise<Uint8Array | undefined>;
  /**
   * The last changes of a path up to a commit, `most` at most; undefined where the forge does not list them: the report
   * then says that earlier published versions are not known.
   */
  readPathChanges(commit: string, path: string, most: number): Promise<PathChanges | undefined>;
  /** Announces paths that {@link readPathChanges} will read. Left out if this saves no requests. */
  expectPathChanges?(commit: string, paths: readonly string[], most: number): void;

  /** Reads the history from the forge. If undefined, the history is fetched with git. */
  readonly ancestry?: Ancestry;

  /** Sets the status that a branch may require: the first thing that is written. */
  postStatus(status: HeadStatus): Promise<void>;
  /** Shows the findings at their lines, in place of those that were shown before. */
  postFindings(about: Reported): Promise<void>;
  /**
   * Writes the pull request's one comment, or writes it over again.
   *
   * @returns false when the pull request has moved on: then the comment is for another run to write
   */
  postComment(about: Reported): Promise<boolean>;
  /** Suggestions, labels and requests for reviews, as far as the policy asks for them; left out where there are none. */
  involve?(about: Reported, involving: Involving): Promise<void>;
}

export interface Ancestry {
  /**
   * The tip of a branch and its common ancestor with a commit; undefined where they are not compared.
   *
   * @param base a branch, or the id of a commit
   */
  readSides(base: string, head: string): Promise<Sides | undefined>;
  /** Id of the newest commit that was the tip of a branch and is an ancestor of a commit. @param base id of the tip */
  readLeftAt(base: string, commit: string): Promise<string | undefined>;
}

// How people mark a pull request that must not be merged yet.

/** Labels that mark a pull request as waiting. */
const HOLD = /^(?:hold|wip|do-not-merge)(?![a-z0-9])/i;

/** Whether a label keeps a pull request from being merged. */
export function isHold(label: string): boolean {
  return HOLD.test(label);
}

/**
 * Why a pull request must not be merged yet, in words: it is a draft, or has a label such as `do-not-merge`.
 */
export function holdsOf({ draft, labels }: Pick<OpenPull, 'draft' | 'labels'>): string[] {
  return [
    ...(draft ? ['the pull request is a draft'] : []),
    ...labels.filter(isHold).map((label) => `it has the label ${JSON.stringify(label)}`),
  ];
}

/**
 * The gate of one pull request on a forge: what is needed of the repository is fetched, its
 * people are read, and the check is asked. Policy and owners are those of the tip of the
 * branch that the pull request is for, whatever commit the event names.
 */
import { bringLikely, likelyChanges, likelyPastFolders } from '../change/prefetch.ts';
import type { CommitFacts, CommitPerson } from '../check/authority/authorship.ts';
import type { People } from '../check/authority/people.ts';
import { checkPullRequest } from '../check/check.ts';
import type { Checker } from '../check/confined/confined-check.ts';
import { onForge } from '../check/outcome/outcome.ts';
import type { CheckReport } from '../check/report.ts';
import type { CheckRequest } from '../check/request.ts';
import { leftBranchAt } from '../git/merge.ts';
import type { GitRemote, GitSettings } from '../git/process.ts';
import { openRemote } from '../git/remote.ts';
import type { Repository } from '../git/repository.ts';
import type { Store } from '../oci/image/build-cache.ts';
import type { Person } from '../policy/identity.ts';
import type { MergePolicy, Policy } from '../policy/policy.ts';
import { policyAt } from '../policy/read-policy.ts';
import type { Registry } from '../ports.ts';
import { matchesGlob } from '../text.ts';
import {
  type CheckState,
  type GateForge,
  holdsOf,
  type PullRequest,
  type Reviewed,
  type Sides,
} from './forge.ts';
import { basisOf } from './freshness.ts';
import { type History, openHistory } from './history.ts';

/** A repository on a forge, and how it is read. */
export interface ForgePorts {
  readonly forge: GateForge;
  readonly remote: GitRemote;
  readonly git: GitSettings;
  /** How pull requests are checked; in this process when left out. */
  readonly check?: Checker | undefined;
  readonly registryFor?: (policy: Policy) => Registry;
  /** Keeps what released images have, by their digests. */
  readonly cache?: Store;
  /** The day of the check, `YYYY-MM-DD` in UTC. */
  readonly today: string;
}

export interface GateRequest {
  readonly number: number;
  /** The account that pushed the head, if the event names it; otherwise the forge is asked. */
  readonly pushed?: { readonly by: Person; readonly head: string; readonly number: number } | undefined;
  /** The pull request as the event describes it. It saves a round of requests, but decides nothing. */
  readonly expected?: { readonly branch: string; readonly head: string };
  /** Bytes of a policy to use instead of the base branch's. */
  readonly policy?: CheckRequest['policy'];
}

export type GateOutcome =
  | { readonly kind: 'checked'; readonly report: CheckReport }
  /** There is nothing to report: the pull request is closed, or its branch is not gated (`ungated`). */
  | { readonly kind: 'skipped'; readonly why: string; readonly ungated?: string };

/** A group of a merge queue: ids of the commits that it lies between, and the branch that it is for. */
export interface MergeGroup {
  readonly base: string;
  readonly head: string;
  readonly branch: string;
}

/**
 * Checks a pull request in its current state.
 *
 * @throws PipelineError as the forge and the fetching do
 */
export async function gatePullRequest(ports: ForgePorts, request: GateRequest): Promise<GateOutcome> {
  const { forge } = ports;
  const { number, expected } = request;
  const [{ pull, reviews }, guessed] = await Promise.all([
    readReviewed(forge, number),
    // Read what the event names at once; use it only if the pull request still agrees.
    expected && forge.ancestry?.readSides(expected.branch, expected.head),
  ]);
  if (!pull.open) return { kind: 'skipped', why: `pull request ${pull.number} is closed` };
  const asExpected = expected?.branch === pull.base.branch && expected.head === pull.head.commit;
  const sides = (asExpected ? guessed : undefined) ?? (await sidesOf(forge, pull));
  const { base } = sides;
  const commits = sides.commits ?? allCommits(await forge.readCommits(number), pull);
  const repository = openRemote(ports.remote, ports.git);
  const history = openHistory({ forge, git: repository }, base);
  try {
    const [people] = await Promise.all([
      peopleOf(forge, pull, {
        base,
        reviews,
        commits,
        pushed: request.pushed,
        repository,
      }),
      bringSides(repository, sides, history),
    ]);
    const policy = await governingPolicy(repository, base, pull.base.branch);
    if (policy === 'not gated') return notGated(pull.base.branch);
    const report = await (ports.check ?? checkPullRequest)(repository, {
      base,
      head: pull.head.commit,
      people,
      today: ports.today,
      historyOf: history.of,
      ...ancestorOf(sides),
      ...askingOf(ports),
      ...(request.policy ? { policy: request.policy } : {}),
    });
    return {
      kind: 'checked',
      report: await withChecks(forge, pull, { report, policy, basis: basisOf(pull, reviews) }),
    };
  } finally {
    await repository.close();
  }
}

async function readReviewed(forge: GateForge, number: number): Promise<Reviewed> {
  const both = await forge.readReviewed?.(number);
  if (both) return both;
  const [pull, reviews] = await Promise.all([forge.readPull(number), forge.readReviews(number)]);
  return { pull, reviews };
}

function notGated(branch: string): GateOutcome {
  return { kind: 'skipped', why: `the branch ${branch} is not in the policy's branches`, ungated: branch };
}

/** How registries are asked in a check. */
export function askingOf({
  registryFor,
  cache,
}: Pick<ForgePorts, 'registryFor' | 'cache'>): Pick<CheckRequest, 'registryFor' | 'cache'> {
  return { ...(registryFor ? { registryFor } : {}), ...(cache ? { cache } : {}) };
}

interface PeopleRequest extends Pick<People, 'reviews' | 'commits'>, Pick<GateRequest, 'pushed'> {
  /** Id of the tip of the branch that the pull request is for. */
  readonly base: string;
  readonly repository: Repository;
}

/** The people of a pull request in the form in which the check needs them. */
export async function peopleOf(
  forge: GateForge,
  pull: PullRequest,
  { base, reviews, commits, pushed, repository }: PeopleRequest,
): Promise<People> {
  // The event describes only its own pull request and head; others may have the same head from somebody else.
  const isOwn = pushed?.head === pull.head.commit && pushed.number === pull.number;
  const pusher = isOwn ? pushed.by : await forge.readPusher(pull);
  const { ancestry } = forge;
  return {
    author: pull.author,
    pusher,
    reviews,
    commits,
    leftBaseAt: async (commit) => {
      if (ancestry) return ancestry.readLeftAt(base, commit);
      await repository.bringHistory([base, commit]);
      return leftBranchAt(repository, base, commit);
    },
    directoryFor: (identities) => forge.readDirectory(identities),
    holds: holdsOf(pull),
  };
}

/** GitHub, the only forge that does not list all commits, lists no more of a pull request. */
const MOST_COMMITS = 250;

/**
 * All commits of a pull request: one by nobody stands for those that the forge does not list. A list without the head was
 * read before the head was pushed, or after another one was.
 */
export function allCommits(
  known: readonly CommitFacts[],
  { head, commits: count = 0 }: PullRequest,
): CommitFacts[] {
  const all = count > Math.min(known.length, MOST_COMMITS) ? [...known, UNLISTED] : [...known];
  const hasHead = all.includes(UNLISTED) || known.some(({ id }) => id === head.commit);
  return hasHead ? all : [...all, { ...UNLISTED, id: head.commit, author: UNSEEN, committer: UNSEEN }];
}

const NOBODY: CommitPerson = { name: 'more than GitHub lists', email: '', account: undefined };
const UNSEEN: CommitPerson = { ...NOBODY, name: 'not listed with the pull request' };
const UNLISTED: CommitFacts = {
  id: '0'.repeat(40),
  parents: 1,
  author: NOBODY,
  committer: NOBODY,
  coAuthors: [],
  signedOffBy: [],
  verified: false,
};

/**
 * The commits between which a pull request lies. If the forge does not compare them, the ancestor is found in
 * the history.
 */
async function sidesOf({ ancestry, readTip }: GateForge, { base, head }: PullRequest): Promise<Sides> {
  const sides = await ancestry?.readSides(base.branch, head.commit);
  // Commits without a common ancestor cannot be compared.
  return (
    sides ?? { base: await readTip(base.branch), head: head.commit, ancestor: undefined, isLinear: false }
  );
}

/** The ancestor of two sides, where they have one and no other. */
export function ancestorOf({ ancestor, isLinear }: Sides): { ancestor?: string } {
  return ancestor === undefined || !isLinear ? {} : { ancestor };
}

/**
 * Fetches both sides of a pull request with their common ancestor, and what the check will read of them. The forge is
 * asked for the history meanwhile.
 */
export async function bringSides(
  repository: Repository,
  { base, head, ancestor = base, isLinear }: Sides,
  history?: History,
): Promise<void> {
  await repository.bring([...new Set([base, head, ancestor])]);
  if (!isLinear) await repository.bringHistory([base, head]);
  const changes = await likelyChanges(repository.objects, { before: ancestor, after: head });
  history?.prime(await likelyPastFolders(repository.objects, base, changes));
  await bringLikely(repository.objects, base, changes);
}

/**
 * The base branch's policy; undefined if it cannot be read, which the check then reports.
 *
 * @param base commit of the branch's tip
 * @returns `not gated` if the policy has the pull requests of other branches checked
 */
export async function governingPolicy(
  repository: Repository,
  base: string,
  branch: string,
): Promise<Policy | undefined | 'not gated'> {
  const { policy } = await policyAt(repository.objects, base);
  return isGoverned(policy, branch) ? policy : 'not gated';
}

/** Whether pull requests to a branch are checked. Those of a policy that cannot be read are, so that the check says so. */
export function isGoverned(policy: Policy | undefined, branch: string): boolean {
  return policy?.branches.some((pattern) => matchesGlob(pattern, branch)) ?? true;
}

/**
 * The report with what the forge adds to it: required checks that are missing, and how the pull request may be merged.
 */
async function withChecks(
  { name, repository, missingGuarantees, readChecks }: GateForge,
  { number, base, head }: PullRequest,
  {
    report,
    policy,
    basis,
  }: { readonly report: CheckReport; readonly policy: Policy | undefined; readonly basis: string },
): Promise<CheckReport> {
  const states = await readChecks(head.commit, policy?.requiredChecks ?? []);
  const merge = policy?.merge ?? NO_MERGE;
  const [lack] = missingGuarantees;
  const isRefused = lack !== undefined && merge.mode !== 'off';
  const request = {
    repository: `${repository.owner}/${repository.repo}`,
    number,
    branch: base.branch,
    merge: lack === undefined ? merge : { ...merge, mode: 'off' as const },
    suggestions: policy?.suggestions ?? false,
    ...(policy?.labels ? { labels: true } : {}),
    // Without enforcement no approval is missing.
    ask: policy?.enforce === 'on' && policy.approval.ask,
    basis,
  };
  const byHand = [
    ...(report.byHand ?? []),
    ...(isRefused ? [`Portolan does not merge on ${name}: ${lack}`] : []),
  ];
  const whole = byHand.length === 0 ? report : { ...report, byHand };
  return onForge(whole, request, states.filter(({ state }) => state !== 'passed').map(waitText));
}

const NO_MERGE: MergePolicy = { mode: 'off', method: 'squash', via: 'queue-if-enabled' };

function waitText({ name, why }: CheckState): string {
  return `the required check ${JSON.stringify(name)} ${why}`;
}

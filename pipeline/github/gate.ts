/**
 * The gate of one pull request on GitHub: what is needed of the repository is fetched, its
 * people are read, and the check is asked. Policy and owners are those of the tip of the
 * branch that the pull request is for, whatever commit the event names.
 */
import { bringLikely, likelyChanges, likelyFolders } from '../change/prefetch.ts';
import { check } from '../check/check.ts';
import { onGitHub } from '../check/outcome.ts';
import type { People } from '../check/people.ts';
import type { CheckReport } from '../check/report.ts';
import type { CheckRequest } from '../check/request.ts';
import { PipelineError } from '../error.ts';
import type { GitRemote, GitSettings } from '../git/process.ts';
import { openRemote } from '../git/remote.ts';
import type { Repository } from '../git/repository.ts';
import type { Store } from '../oci/image/build-cache.ts';
import type { Person } from '../policy/identity.ts';
import { matchesGlob } from '../policy/layout.ts';
import type { Policy } from '../policy/policy.ts';
import { policyAt } from '../policy/read-policy.ts';
import type { Registry } from '../ports.ts';
import { type CheckState, readRequiredChecks } from './checks.ts';
import { type GitHub, pages, type RepositoryName } from './client.ts';
import { readDirectory } from './directory.ts';
import { type History, openHistory } from './history.ts';
import {
  allCommits,
  type PullRequest,
  readCommits,
  readLeftAt,
  readPullRequest,
  readPusher,
  readReviews,
  readSides,
  readTip,
  type Sides,
} from './pull-request.ts';

/** GitHub, and how its repositories are read. */
export interface GatePorts {
  readonly github: GitHub;
  readonly repository: RepositoryName;
  readonly remote: GitRemote;
  readonly git: GitSettings;
  readonly registryFor?: (policy: Policy) => Registry;
  /** Keeps what released images have, by their digests. */
  readonly cache?: Store;
  /** The day of the check, `YYYY-MM-DD` in UTC. */
  readonly today: string;
}

export interface GateRequest {
  readonly number: number;
  /** Who pushed the head, where the event says so; GitHub is asked otherwise. */
  readonly pushed?: { readonly by: Person; readonly head: string } | undefined;
  /** What the event says of the pull request: a guess that saves a round, nothing is decided by it. */
  readonly expected?: { readonly branch: string; readonly head: string };
  /** Bytes of a policy that stands in for the base branch's. */
  readonly policy?: CheckRequest['policy'];
}

export type GateOutcome =
  | { readonly kind: 'checked'; readonly report: CheckReport }
  /** Nothing is to be said: the pull request is closed, or its branch is not gated. */
  | { readonly kind: 'skipped'; readonly why: string };

/**
 * Checks a pull request as it stands now.
 *
 * @throws PipelineError as the client and the fetching do
 */
export async function gate(ports: GatePorts, request: GateRequest): Promise<GateOutcome> {
  const { github, repository: name } = ports;
  const { number, expected } = request;
  const [pull, reviews, listed, guessed] = await Promise.all([
    readPullRequest(github, name, number),
    readReviews(github, name, number),
    readCommits(github, name, number),
    // What the event says is asked about at once; it counts when it turns out to be so.
    expected && readSides(github, name, { base: expected.branch, head: expected.head }),
  ]);
  if (!pull.open) return { kind: 'skipped', why: `pull request ${pull.number} is closed` };
  const asExpected = expected?.branch === pull.base.branch && expected.head === pull.head.commit;
  const sides = (asExpected ? guessed : undefined) ?? (await sidesOf(ports, pull));
  const { base } = sides;
  const repository = openRemote(ports.remote, ports.git);
  const history = openHistory({ github, repository: name, git: repository }, base);
  try {
    const [people] = await Promise.all([
      peopleOf(ports, pull, {
        base,
        reviews,
        commits: allCommits(listed, pull),
        pushed: request.pushed,
      }),
      bringSides(repository, sides, history),
    ]);
    const policy = await governing(repository, base, pull.base.branch);
    if (policy === 'not gated')
      return { kind: 'skipped', why: `the branch ${pull.base.branch} is not in the policy's branches` };
    const report = await check(repository, {
      base,
      head: pull.head.commit,
      people,
      today: ports.today,
      historyOf: history.of,
      ...ancestorOf(sides),
      ...askingOf(ports),
      ...(request.policy ? { policy: request.policy } : {}),
    });
    return { kind: 'checked', report: await withChecks(ports, pull, { report, policy }) };
  } finally {
    await repository.close();
  }
}

/** How registries are asked in a check. */
export function askingOf({
  registryFor,
  cache,
}: Pick<GatePorts, 'registryFor' | 'cache'>): Pick<CheckRequest, 'registryFor' | 'cache'> {
  return { ...(registryFor ? { registryFor } : {}), ...(cache ? { cache } : {}) };
}

/** A pull request's people as the check takes them. @param base id of the tip of the branch that it is for */
export async function peopleOf(
  { github, repository }: GatePorts,
  pull: PullRequest,
  {
    base,
    reviews,
    commits,
    pushed,
  }: Pick<People, 'reviews' | 'commits'> & Pick<GateRequest, 'pushed'> & Pick<Sides, 'base'>,
): Promise<People> {
  // What the event says holds for its own head only.
  const pusher = pushed?.head === pull.head.commit ? pushed.by : await readPusher(github, pull);
  return {
    author: pull.author,
    pusher,
    reviews,
    commits,
    leftBaseAt: (commit) => readLeftAt(github, repository, { base, commit }),
    directoryFor: (identities) => readDirectory(github, identities),
    holds: holdsOf(pull),
  };
}

/** Labels with which people say that something waits. */
const HOLD = /^(?:hold|wip|do-not-merge(?:[/-].*)?)$/is;

function holdsOf({ draft, labels }: PullRequest): string[] {
  return [
    ...(draft ? ['the pull request is a draft'] : []),
    ...labels.filter((label) => HOLD.test(label)).map((label) => `it has the label ${JSON.stringify(label)}`),
  ];
}

async function sidesOf({ github, repository }: GatePorts, { base, head }: PullRequest): Promise<Sides> {
  const sides = await readSides(github, repository, { base: base.branch, head: head.commit });
  // Those that have nothing in common cannot be compared.
  return (
    sides ?? {
      base: await readTip(github, repository, base.branch),
      head: head.commit,
      ancestor: undefined,
    }
  );
}

/** The ancestor of two sides, where they have one. */
export function ancestorOf({ ancestor }: Sides): { ancestor?: string } {
  return ancestor === undefined ? {} : { ancestor };
}

/** Brings both sides with their common ancestor, then what will be read of them, while the past is asked for. */
export async function bringSides(
  repository: Repository,
  { base, head, ancestor = base }: Sides,
  history?: History,
): Promise<void> {
  await repository.bring([...new Set([base, head, ancestor])]);
  const changes = await likelyChanges(repository.objects, { before: ancestor, after: head });
  history?.prime(likelyFolders(changes));
  await bringLikely(repository.objects, base, changes);
}

/** The base branch's policy; undefined when it cannot be read, which the check then says. */
export async function governing(
  repository: Repository,
  base: string,
  branch: string,
): Promise<Policy | undefined | 'not gated'> {
  const { policy } = await policyAt(repository.objects, base);
  return policy && !policy.branches.some((pattern) => matchesGlob(pattern, branch)) ? 'not gated' : policy;
}

async function withChecks(
  { github, repository }: GatePorts,
  { number, base, head }: PullRequest,
  { report, policy }: { readonly report: CheckReport; readonly policy: Policy | undefined },
): Promise<CheckReport> {
  const required = policy?.requiredChecks ?? [];
  const states = await readRequiredChecks(github, repository, { commit: head.commit, required });
  const request = {
    repository: `${repository.owner}/${repository.repo}`,
    number,
    branch: base.branch,
    merge: policy?.merge ?? ({ mode: 'off', method: 'squash', via: 'queue-if-enabled' } as const),
    suggestions: policy?.suggestions ?? false,
    ...(policy?.labels ? { labels: true } : {}),
    // Where nothing is enforced, nobody's approval is missing.
    ask: policy?.enforce === 'on' && policy.approval.ask,
  };
  return onGitHub(report, request, states.filter(({ state }) => state !== 'passed').map(waitText));
}

function waitText({ name, why }: CheckState): string {
  return `the required check ${JSON.stringify(name)} ${why}`;
}

/** Numbers of the open pull requests whose head is a commit. */
export async function pullRequestsAt({ github, repository }: GatePorts, commit: string): Promise<number[]> {
  const found = await pages(
    github.paginate(github.rest.repos.listPullRequestsAssociatedWithCommit, {
      ...repository,
      commit_sha: commit,
      per_page: 100,
    }),
  );
  return found
    .filter(({ state, head }) => state === 'open' && head.sha === commit)
    .map(({ number }) => number);
}

/** @throws PipelineError `usage` for anything but `owner/name` */
export function repositoryName(text: string): RepositoryName {
  const [, owner, repo] = /^([A-Za-z0-9_.-]+)\/([A-Za-z0-9_.-]+)$/.exec(text) ?? [];
  if (owner === undefined || repo === undefined)
    throw new PipelineError('usage', `invalid repository ${JSON.stringify(text)}: expected OWNER/NAME`);
  return { owner, repo };
}

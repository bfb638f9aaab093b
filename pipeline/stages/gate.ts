/**
 * The gate of one pull request on GitHub: what is needed of the repository is fetched, its
 * people are read, and the check is asked. Policy and owners are those of the tip of the
 * branch that the pull request is for, whatever commit the event names.
 */
import { bringLikely } from '../change/needed.ts';
import { onGitHub } from '../check/outcome.ts';
import type { HistoryOf } from '../check/past.ts';
import { policyAt } from '../config.ts';
import { PipelineError } from '../error.ts';
import type { GitRemote, GitSettings } from '../git/process.ts';
import { openRemote } from '../git/remote.ts';
import type { Repository } from '../git/repository.ts';
import { type CheckState, readRequiredChecks } from '../github/checks.ts';
import { type GitHub, pages, type RepositoryName } from '../github/client.ts';
import { readDirectory } from '../github/directory.ts';
import { readOldVersions } from '../github/history.ts';
import type { Person } from '../github/identity.ts';
import {
  type PullRequest,
  readAncestor,
  readCommits,
  readPullRequest,
  readPusher,
  readReviews,
  readTip,
} from '../github/pull-request.ts';
import { type QueuedRequest, readGroup } from '../github/queue.ts';
import { matchesGlob } from '../policy/layout.ts';
import type { Policy } from '../policy/policy.ts';
import type { Registry } from '../ports.ts';
import type { CheckReport } from '../report/report.ts';
import { type CheckRequest, check, type People } from './check.ts';

/** GitHub, and how its repositories are read. */
export interface GatePorts {
  readonly github: GitHub;
  readonly repository: RepositoryName;
  readonly remote: GitRemote;
  readonly git: GitSettings;
  readonly registryFor?: (policy: Policy) => Registry;
  /** The day for which is judged, `YYYY-MM-DD` in UTC. */
  readonly today: string;
}

export interface GateRequest {
  readonly number: number;
  /** Who pushed the head, where the event says so; GitHub is asked otherwise. */
  readonly pushed?: { readonly by: Person; readonly head: string };
  /** Bytes of a policy that stands in for the base branch's. */
  readonly policy?: CheckRequest['policy'];
}

export type GateOutcome =
  | { readonly kind: 'judged'; readonly report: CheckReport }
  /** Nothing is to be said: the pull request is closed, or its branch is not gated. */
  | { readonly kind: 'skipped'; readonly why: string };

/**
 * Judges a pull request as it stands now.
 *
 * @throws PipelineError as the client and the fetching do
 */
export async function gate(ports: GatePorts, request: GateRequest): Promise<GateOutcome> {
  const { github, repository: name } = ports;
  const pull = await readPullRequest(github, name, request.number);
  if (!pull.open) return { kind: 'skipped', why: `pull request ${pull.number} is closed` };
  const base = await readTip(github, name, pull.base.branch);
  const repository = openRemote(ports.remote, ports.git);
  try {
    const [people, ancestor] = await Promise.all([
      peopleOf(ports, pull, request),
      bringBoth(ports, repository, { base, head: pull.head.commit }),
    ]);
    const policy = await governing(repository, base, pull.base.branch);
    if (policy === 'not gated')
      return { kind: 'skipped', why: `the branch ${pull.base.branch} is not gated (branches)` };
    const report = await check(repository, {
      base,
      head: pull.head.commit,
      people,
      today: ports.today,
      historyOf: historyBefore(ports, repository, base),
      ...(ancestor === undefined ? {} : { ancestor }),
      ...(ports.registryFor ? { registryFor: ports.registryFor } : {}),
      ...(request.policy ? { policy: request.policy } : {}),
    });
    return { kind: 'judged', report: await withChecks(ports, pull, { report, policy }) };
  } finally {
    await repository.close();
  }
}

async function peopleOf(
  { github, repository }: GatePorts,
  pull: PullRequest,
  { pushed }: GateRequest,
): Promise<People> {
  const [reviews, commits, pusher] = await Promise.all([
    readReviews(github, repository, pull.number),
    readCommits(github, repository, pull),
    // What the event says holds for its own head only.
    pushed?.head === pull.head.commit ? pushed.by : readPusher(github, pull),
  ]);
  return {
    author: pull.author,
    pusher,
    reviews,
    commits,
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

/** Brings both sides and their common ancestor, which is found out on the way. */
async function bringBoth(
  { github, repository: name }: GatePorts,
  repository: Repository,
  sides: { readonly base: string; readonly head: string },
): Promise<string | undefined> {
  const [ancestor] = await Promise.all([
    readAncestor(github, name, sides),
    repository.bring([...new Set([sides.base, sides.head])]),
  ]);
  if (ancestor !== undefined && ancestor !== sides.base && ancestor !== sides.head)
    await repository.bring([ancestor]);
  const { base, head } = sides;
  await bringLikely(repository.objects, { base, before: ancestor ?? base, after: head });
  return ancestor;
}

/** The base branch's policy; undefined when it cannot be read, which the check then says. */
async function governing(
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
    ask: policy?.approval.ask ?? false,
  };
  return onGitHub(report, request, states.filter(({ state }) => state !== 'passed').map(waitText));
}

function waitText({ name, why }: CheckState): string {
  return `the required check ${JSON.stringify(name)} ${why}`;
}

function historyBefore({ github, repository }: GatePorts, { objects }: Repository, base: string): HistoryOf {
  return (places) => readOldVersions({ github, repository, objects }, base, places);
}

/** Numbers of the open pull requests whose head is a commit. */
export async function pullRequestsAt({ github, repository }: GatePorts, commit: string): Promise<number[]> {
  const found = await pages(
    github.paginate('GET /repos/{owner}/{repo}/commits/{commit_sha}/pulls', {
      ...repository,
      commit_sha: commit,
      per_page: 100,
    }),
  );
  return found
    .filter(({ state, head }) => state === 'open' && head.sha === commit)
    .map(({ number }) => number);
}

export interface GroupRequest {
  /** Ids of the commits that the group lies between, and the branch that it is for. */
  readonly base: string;
  readonly head: string;
  readonly branch: string;
}

/**
 * Judges a group of a merge queue: the tree that would be merged, and everybody who is in it. Whoever may not,
 * or cannot be told, keeps the whole group out.
 *
 * @throws PipelineError as {@link gate}
 */
export async function gateGroup(
  ports: GatePorts,
  { base, head, branch }: GroupRequest,
): Promise<GateOutcome> {
  const queued = await readGroup(ports.github, ports.repository, { branch, base, head });
  const repository = openRemote(ports.remote, ports.git);
  try {
    await repository.bring([base, head]);
    const policy = await governing(repository, base, branch);
    if (policy === 'not gated')
      return { kind: 'skipped', why: `the branch ${branch} is not gated (branches)` };
    const { registryFor, today } = ports;
    const historyOf = historyBefore(ports, repository, base);
    const asked = { base, head, ancestor: base, today, historyOf, ...(registryFor ? { registryFor } : {}) };
    const group = await check(repository, asked);
    const members = await Promise.all(
      (queued ?? []).map((one) => judgeMember(ports, { base, repository }, one)),
    );
    return { kind: 'judged', report: groupReport(group, queued ? members : undefined) };
  } finally {
    await repository.close();
  }
}

interface Member {
  readonly number: number;
  readonly report: CheckReport | undefined;
}

/** One pull request of a group, with the head that was queued and the group's own base. */
async function judgeMember(
  ports: GatePorts,
  { base, repository }: { readonly base: string; readonly repository: Repository },
  { number, head }: QueuedRequest,
): Promise<Member> {
  const { github, repository: name, today } = ports;
  const pull = await readPullRequest(github, name, number);
  if (pull.head.commit !== head) return { number, report: undefined };
  const [people, ancestor] = await Promise.all([
    peopleOf(ports, pull, { number }),
    bringBoth(ports, repository, { base, head }),
  ]);
  const report = await check(repository, {
    base,
    head,
    people,
    today,
    ...(ancestor === undefined ? {} : { ancestor }),
  });
  return { number, report };
}

/** The tree's verdict with everybody's authority: the least that anybody in the group has. */
function groupReport(group: CheckReport, members: readonly Member[] | undefined): CheckReport {
  const unknown = 'the queue does not tell which pull requests are in the group';
  if (!members) return refuseGroup(group, unknown);
  const bad = members.find(({ report }) => report?.authority.decision !== 'allow' || report.holds.length > 0);
  if (bad)
    return refuseGroup(group, `pull request ${bad.number}: ${bad.report?.headline ?? 'its head has moved'}`);
  const reasons = members.flatMap(({ number, report }) =>
    (report?.authority.reasons ?? []).map((reason) => `pull request ${number}: ${reason}`),
  );
  const headline = group.verdict === 'pass' ? 'allowed and green' : group.headline;
  return { ...group, headline, authority: { decision: 'allow', reasons, needs: [], warnings: [] } };
}

/** A group cannot wait for anybody: what is not allowed fails, and leaves the queue. */
function refuseGroup(group: CheckReport, why: string): CheckReport {
  const authority = { decision: 'deny', reasons: [why], needs: [], warnings: [] } as const;
  return { ...group, headline: group.verdict === 'fail' ? group.headline : why, authority };
}

/** @throws PipelineError `usage` for anything but `owner/name` */
export function repositoryName(text: string): RepositoryName {
  const [, owner, repo] = /^([A-Za-z0-9_.-]+)\/([A-Za-z0-9_.-]+)$/.exec(text) ?? [];
  if (owner === undefined || repo === undefined)
    throw new PipelineError('usage', `${JSON.stringify(text)} is no repository, expected OWNER/NAME`);
  return { owner, repo };
}

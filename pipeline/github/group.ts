/** The gate of a group of a merge queue. */
import { checkPullRequest } from '../check/check.ts';
import type { CheckReport } from '../check/report.ts';
import { PipelineError } from '../error.ts';
import type { RepositoryName } from '../forge/forge.ts';
import {
  allCommits,
  ancestorOf,
  askingOf,
  bringSides,
  type GateOutcome,
  governingPolicy,
  type MergeGroup,
  peopleOf,
} from '../forge/gate.ts';
import { openHistory } from '../forge/history.ts';
import { openRemote } from '../git/remote.ts';
import type { Repository } from '../git/repository.ts';
import { memoryStore } from '../oci/image/stores.ts';
import type { GitHub } from './client.ts';
import { type GatePorts, gitHubForge } from './forge.ts';
import { sendQuery } from './graphql.ts';
import { readCommits, readPullRequest, readReviews, readSides } from './pull-request.ts';

/**
 * Checks a group of a merge queue: the tree that would be merged, and the author of each of its pull requests. If any author
 * is unknown or lacks permission, the whole group fails.
 *
 * @throws PipelineError as `gate`
 */
export async function gateGroup(ports: GatePorts, { base, head, branch }: MergeGroup): Promise<GateOutcome> {
  // A job's own token may not read queues. Continue: a group without a status would wait forever.
  const queued = await readGroup(ports.github, ports.repository, { branch, base, head }).catch(ifRefused);
  const repository = openRemote(ports.remote, ports.git);
  try {
    await repository.bring([base, head]);
    const policy = await governingPolicy(repository, base, branch);
    if (policy === 'not gated')
      return { kind: 'skipped', why: `the branch ${branch} is not in the policy's branches` };
    // All members of the group share what was read about releases.
    const asking = askingOf({ cache: memoryStore(), ...ports });
    const { today } = ports;
    const { of: historyOf } = openHistory({ forge: gitHubForge(ports), git: repository }, base);
    const asked = { base, head, ancestor: base, today, historyOf, ...asking };
    const group = await (ports.check ?? checkPullRequest)(repository, asked);
    const members = await Promise.all(
      (queued ?? []).map((one) => checkMember(ports, { base, repository, asking }, one)),
    );
    return { kind: 'checked', report: groupReport(group, queued ? members : undefined) };
  } finally {
    await repository.close();
  }
}

/** Takes the place of a result if GitHub refused. @throws any other error again */
function ifRefused(error: unknown): undefined {
  if (error instanceof PipelineError && (error.code === 'conflict' || error.code === 'denied'))
    return undefined;
  throw error;
}

interface GroupScene {
  readonly base: string;
  readonly repository: Repository;
  readonly asking: ReturnType<typeof askingOf>;
}

interface Member {
  readonly number: number;
  readonly report: CheckReport | undefined;
}

/** Checks one pull request of a merge group, with the head that was queued, against the group's base. */
async function checkMember(
  ports: GatePorts,
  { base, repository, asking }: GroupScene,
  { number, head }: QueuedRequest,
): Promise<Member> {
  const { github, repository: name, today, check: checker = checkPullRequest } = ports;
  const [pull, reviews, listed, sides] = await Promise.all([
    readPullRequest(github, name, number),
    readReviews(github, name, number),
    readCommits(github, name, number),
    readSides(github, name, { base, head }),
  ]);
  if (pull.head.commit !== head) return { number, report: undefined };
  const between = sides ?? { base, head, ancestor: undefined, isLinear: false };
  const [people] = await Promise.all([
    peopleOf(gitHubForge(ports), pull, {
      base,
      reviews,
      commits: allCommits(listed, pull),
      // The event of a merge group names nobody who pushed: GitHub is asked.
      pushed: undefined,
      repository,
    }),
    bringSides(repository, between),
  ]);
  const report = await checker(repository, {
    base,
    head,
    people,
    today,
    ...ancestorOf(between),
    ...asking,
    // References were looked up for the group's own tree.
    onlyReleased: true,
  });
  return { number, report };
}

/**
 * The report of a merge group: allowed if each member is, else refused with the first member that is not. The verdict is
 * that of the group's tree.
 */
function groupReport(group: CheckReport, members: readonly Member[] | undefined): CheckReport {
  const unknown =
    'GitHub does not say which pull requests are in the merge group: the merge queue needs a GitHub App (app-id)';
  if (!members) return refuseGroup(group, unknown);
  const bad = members.find(({ report }) => report?.authority.decision !== 'allow' || report.holds.length > 0);
  if (bad)
    return refuseGroup(group, `pull request ${bad.number}: ${bad.report?.headline ?? 'its head has moved'}`);
  const reasons = members.flatMap(({ number, report }) =>
    (report?.authority.reasons ?? []).map((reason) => `pull request ${number}: ${reason}`),
  );
  const headline = group.verdict === 'pass' ? 'allowed, and all checks passed' : group.headline;
  return { ...group, headline, authority: { decision: 'allow', reasons, needs: [], warnings: [] } };
}

/** A group cannot wait for anybody: what is not allowed fails, and leaves the queue. */
function refuseGroup(group: CheckReport, why: string): CheckReport {
  const authority = { decision: 'deny', reasons: [why], needs: [], warnings: [] } as const;
  return { ...group, headline: group.verdict === 'fail' ? group.headline : why, authority };
}

const ENTRIES = `query($owner: String!, $repo: String!, $branch: String!) {
  repository(owner: $owner, name: $repo) {
    mergeQueue(branch: $branch) {
      entries(first: 100) {
        nodes { headCommit { oid } baseCommit { oid } pullRequest { number headRefOid } }
      }
    }
  }
}`;

interface Entry {
  readonly headCommit: { readonly oid: string } | null;
  readonly baseCommit: { readonly oid: string } | null;
  readonly pullRequest: { readonly number: number; readonly headRefOid: string } | null;
}

interface Answer {
  readonly repository: {
    readonly mergeQueue: { readonly entries: { readonly nodes: readonly Entry[] } } | null;
  };
}

interface QueuedRequest {
  readonly number: number;
  /** Id of the head that was queued. */
  readonly head: string;
}

/**
 * The pull requests that lie between two commits of a queue, the last first; undefined when the queue does
 * not name all of them.
 */
async function readGroup(
  github: GitHub,
  repository: RepositoryName,
  { branch, base, head }: { readonly branch: string; readonly base: string; readonly head: string },
): Promise<QueuedRequest[] | undefined> {
  const { repository: found } = await sendQuery<Answer>(github, ENTRIES, { ...repository, branch });
  const entries = new Map(
    (found.mergeQueue?.entries.nodes ?? []).flatMap((entry) =>
      entry.headCommit ? [[entry.headCommit.oid, entry] as const] : [],
    ),
  );
  const group: QueuedRequest[] = [];
  for (let at = head; at !== base; ) {
    const entry = entries.get(at);
    // More steps than entries are a circle.
    if (!entry?.pullRequest || !entry.baseCommit || group.length > entries.size) return undefined;
    group.push({ number: entry.pullRequest.number, head: entry.pullRequest.headRefOid });
    at = entry.baseCommit.oid;
  }
  return group.length === 0 ? undefined : group;
}

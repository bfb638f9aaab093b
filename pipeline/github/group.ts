/** The gate of a group of a merge queue. */

import { check } from '../check/check.ts';
import type { CheckReport } from '../check/report.ts';
import { openRemote } from '../git/remote.ts';
import type { Repository } from '../git/repository.ts';
import { memoryStore } from '../oci/image/memory-store.ts';
import {
  ancestorOf,
  askingOf,
  bringSides,
  type GateOutcome,
  type GatePorts,
  governing,
  peopleOf,
} from './gate.ts';
import { openHistory } from './history.ts';
import { allCommits, readCommits, readPullRequest, readReviews, readSides } from './pull-request.ts';
import { type QueuedRequest, readGroup } from './queue.ts';

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
 * @throws PipelineError as `gate`
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
    // What was released is read once for all members of the group.
    const asking = askingOf({ cache: memoryStore(), ...ports });
    const { today } = ports;
    const { of: historyOf } = openHistory({ ...ports, git: repository }, base);
    const asked = { base, head, ancestor: base, today, historyOf, ...asking };
    const group = await check(repository, asked);
    const members = await Promise.all(
      (queued ?? []).map((one) => judgeMember(ports, { base, repository, asking }, one)),
    );
    return { kind: 'judged', report: groupReport(group, queued ? members : undefined) };
  } finally {
    await repository.close();
  }
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

/** One pull request of a group, with the head that was queued and the group's own base. */
async function judgeMember(
  ports: GatePorts,
  { base, repository, asking }: GroupScene,
  { number, head }: QueuedRequest,
): Promise<Member> {
  const { github, repository: name, today } = ports;
  const [pull, reviews, listed, sides] = await Promise.all([
    readPullRequest(github, name, number),
    readReviews(github, name, number),
    readCommits(github, name, number),
    readSides(github, name, { base, head }),
  ]);
  if (pull.head.commit !== head) return { number, report: undefined };
  const between = sides ?? { base, head, ancestor: undefined };
  const [people] = await Promise.all([
    peopleOf(ports, pull, { base, reviews, commits: allCommits(listed, pull), pushed: undefined }),
    bringSides(repository, between),
  ]);
  const report = await check(repository, {
    base,
    head,
    people,
    today,
    ...ancestorOf(between),
    ...asking,
    onlyReleased: true,
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

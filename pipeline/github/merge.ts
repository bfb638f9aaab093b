/** Merging what is allowed and green: at the checked commit or not at all, by the queue where there is one. */
import { PipelineError } from '../error.ts';
import type { RepositoryName } from '../forge/forge.ts';
import type { MergePolicy } from '../policy/policy.ts';
import { allPages, dataOf, type GitHub } from './client.ts';
import { sendQuery } from './graphql.ts';
import { readSides, readTip } from './pull-request.ts';

interface MergeRequest {
  readonly number: number;
  /** Id of the head that was checked. */
  readonly head: string;
  /** Id of the base branch's tip that it was checked with. */
  readonly base: string;
  readonly branch: string;
  readonly merge: MergePolicy;
}

type MergeOutcome =
  | { readonly kind: 'merged'; readonly commit: string }
  | { readonly kind: 'queued' }
  /** The pull request has changed since the check. */
  | { readonly kind: 'moved'; readonly why: string }
  /** GitHub does not let it be merged: a rule of the branch, a conflict. Nothing is bypassed. */
  | { readonly kind: 'refused'; readonly why: string };

/**
 * Merges a pull request, or adds it to the merge queue, if nothing has changed since its check.
 *
 * @throws PipelineError as the client, but for what GitHub refuses
 */
export async function mergeChecked(
  github: GitHub,
  repository: RepositoryName,
  request: MergeRequest,
): Promise<MergeOutcome> {
  const { via } = request.merge;
  const usesQueue =
    via !== 'direct' && (via === 'queue' || (await hasQueue(github, repository, request.branch)));
  try {
    return usesQueue
      ? await enqueue(github, repository, request)
      : await mergeNow(github, repository, request);
  } catch (error) {
    if (!(error instanceof PipelineError)) throw error;
    if (error.code === 'conflict') return { kind: hasMoved(error) ? 'moved' : 'refused', why: error.message };
    if (error.code === 'usage' || error.code === 'denied') return { kind: 'refused', why: error.message };
    throw error;
  }
}

/** Whether a new check may allow the merge: the head or the base branch has moved meanwhile. */
function hasMoved(error: PipelineError): boolean {
  return statusOf(error) === 409 || error.message.includes('Base branch was modified');
}

/** The status that GitHub answered with; undefined where an error is not of an answer. */
function statusOf({ cause }: PipelineError): unknown {
  return cause instanceof Error && 'status' in cause ? cause.status : undefined;
}

/** Whether a branch has a merge queue, by the rules that hold for it. */
async function hasQueue(github: GitHub, repository: RepositoryName, branch: string): Promise<boolean> {
  const rules = await allPages(
    github.paginate(github.rest.repos.getBranchRules, {
      ...repository,
      branch,
      per_page: 100,
    }),
  );
  return rules.some(({ type }) => type === 'merge_queue');
}

/** Merges a pull request if its base is the one that was checked. */
async function mergeNow(
  github: GitHub,
  repository: RepositoryName,
  { number, head, base, branch, merge }: MergeRequest,
): Promise<MergeOutcome> {
  const tip = await readTip(github, repository, branch);
  if (tip !== base) return { kind: 'moved', why: `the branch ${branch} has new commits since the check` };
  if (merge.method === 'rebase' && !(await isOnTop(github, repository, { base, head }))) {
    const why = `rebase the pull request onto ${branch}, with at most 100 commits and no merges: its commits, one by one, may merge other content than was checked`;
    return { kind: 'refused', why };
  }
  // Do not try again after a refusal: the next check does.
  const request = { retries: 0 };
  const asked = { ...repository, pull_number: number, sha: head, merge_method: merge.method, request };
  const { sha } = await dataOf(github.rest.pulls.merge(asked));
  return { kind: 'merged', commit: sha };
}

/**
 * Whether commits follow the base branch's tip in a line: a rebase onto it changes nothing in them. Of more than a hundred,
 * which {@link readSides} does not list, nobody knows.
 */
async function isOnTop(
  github: GitHub,
  repository: RepositoryName,
  { base, head }: Pick<MergeRequest, 'base' | 'head'>,
): Promise<boolean> {
  const sides = await readSides(github, repository, { base, head });
  return sides?.ancestor === base && sides.isLinear;
}

const NODE_ID = `query($owner: String!, $repo: String!, $number: Int!) {
  repository(owner: $owner, name: $repo) { pullRequest(number: $number) { id } }
}`;

const ENQUEUE = `mutation($id: ID!, $head: GitObjectID!) {
  enqueuePullRequest(input: {pullRequestId: $id, expectedHeadOid: $head}) { mergeQueueEntry { id } }
}`;

/** Adds a pull request to the merge queue. GitHub refuses if its head is not the one that was checked. */
async function enqueue(
  github: GitHub,
  repository: RepositoryName,
  { number, head }: MergeRequest,
): Promise<MergeOutcome> {
  const found = await sendQuery<{ repository: { pullRequest: { id: string } } }>(github, NODE_ID, {
    ...repository,
    number,
  });
  await sendQuery(github, ENQUEUE, { id: found.repository.pullRequest.id, head });
  return { kind: 'queued' };
}

/** Reads a pull request from GitHub: its accounts, commits, reviews and statuses. */

import type { GivenReview } from '../check/authority/approval.ts';
import {
  type CommitFacts,
  type CommitPerson,
  signedOffBy,
  trailerPeople,
} from '../check/authority/authorship.ts';
import type { OpenPull, PullRequest, RepositoryName, SetStatus, Sides } from '../forge/forge.ts';
import { unlessGone } from '../forge/http.ts';
import { STATUS_CONTEXT } from '../forge/marks.ts';
import { parseTrailers } from '../git/commit.ts';
import type { Person } from '../policy/identity.ts';
import { allPages, answerIfAny, dataOf, type GitHub } from './client.ts';

/** Reads a pull request. @throws PipelineError as the client */
export async function readPullRequest(
  github: GitHub,
  repository: RepositoryName,
  number: number,
): Promise<PullRequest> {
  const data = await dataOf(github.rest.pulls.get({ ...repository, pull_number: number }));
  return {
    number: data.number,
    author: personOf(data.user),
    base: { branch: data.base.ref },
    head: {
      branch: data.head.ref,
      commit: data.head.sha,
      // The fork may be gone.
      repository: data.head.repo
        ? { owner: data.head.repo.owner.login, repo: data.head.repo.name }
        : undefined,
    },
    draft: data.draft ?? false,
    open: data.state === 'open',
    labels: data.labels.map(({ name }) => name),
    commits: data.commits,
  };
}

/** All open pull requests. GitHub finds those of a commit by the commit only if the repository itself has it, not a fork alone. */
export async function readOpen(github: GitHub, repository: RepositoryName): Promise<OpenPull[]> {
  const listed = await allPages(
    github.paginate(github.rest.pulls.list, { ...repository, state: 'open', per_page: 100 }),
  );
  return listed.map(({ number, user, base, head, draft, labels }) => ({
    number,
    author: personOf(user),
    base: { branch: base.ref },
    head: { commit: head.sha },
    draft: draft ?? false,
    labels: labels.map(({ name }) => name),
  }));
}

/** The newest statuses `portolan` of a commit, the newest first. */
export async function readStatuses(
  github: GitHub,
  repository: RepositoryName,
  commit: string,
): Promise<SetStatus[]> {
  const asked = { ...repository, ref: commit, per_page: 100 };
  const isOurs = ({ context }: { readonly context: string }): boolean => context === STATUS_CONTEXT;
  // Others may have written pages of statuses since.
  const listed = await allPages(
    github.paginate(github.rest.repos.listCommitStatusesForRef, asked, ({ data }, done) => {
      if (data.some(isOurs)) done();
      return data;
    }),
  );
  return listed.filter(isOurs).map(({ id, state, creator, target_url: link }) => ({
    id: Number(id),
    state,
    link: link ?? undefined,
    by: creator ? Number(creator.id) : undefined,
  }));
}

interface Account {
  readonly login: string;
  readonly id: number | bigint;
  readonly type: string;
}

/** An account; somebody without a right where GitHub no longer knows it. */
export function personOf(account: Account | null | undefined): Person {
  // GitHub's own account for those that were deleted.
  if (!account) return { login: 'ghost', id: 10_137 };
  const { login, type } = account;
  const id = Number(account.id);
  return type === 'User' ? { login, id } : { login, id, bot: true };
}

const STATES: Readonly<Record<string, GivenReview['state']>> = {
  APPROVED: 'approved',
  CHANGES_REQUESTED: 'changes-requested',
  DISMISSED: 'dismissed',
};

/** Reviews in the order in which they were submitted. */
export async function readReviews(
  github: GitHub,
  repository: RepositoryName,
  number: number,
): Promise<GivenReview[]> {
  const reviews = await allPages(
    github.paginate(github.rest.pulls.listReviews, {
      ...repository,
      pull_number: number,
      per_page: 100,
    }),
  );
  return reviewsOf(
    reviews.map(({ id, user, state, commit_id: commit, submitted_at: at }) => ({
      id: Number(id),
      state,
      at: at ?? '',
      author: personOf(user),
      commit: commit ?? undefined,
    })),
  );
}

interface SubmittedReview extends Pick<GivenReview, 'author' | 'commit'> {
  readonly id: number;
  /** As GitHub calls it. */
  readonly state: string;
  /** When it was submitted, ISO 8601. */
  readonly at: string;
}

/** Reviews as the check takes them, in the order in which they were submitted. */
export function reviewsOf(reviews: readonly SubmittedReview[]): GivenReview[] {
  return reviews
    .filter(({ state }) => state !== 'PENDING')
    .toSorted((a, b) => a.at.localeCompare(b.at) || a.id - b.id)
    .map(({ author, state, commit }) => ({ author, state: STATES[state] ?? 'commented', commit }));
}

/** The commits, as far as GitHub lists them. */
export async function readCommits(
  github: GitHub,
  repository: RepositoryName,
  number: number,
): Promise<CommitFacts[]> {
  const listed = await allPages(
    github.paginate(github.rest.pulls.listCommits, {
      ...repository,
      pull_number: number,
      per_page: 100,
    }),
  );
  return factsOf(listed);
}

type ListedCommit = Awaited<ReturnType<GitHub['rest']['pulls']['listCommits']>>['data'][number];

/** Authors and committers of commits, from GitHub's list. */
function factsOf(listed: readonly ListedCommit[]): CommitFacts[] {
  const accounts = new Map<string, Person>();
  const signerOf = (
    signer: { name?: string; email?: string } | null | undefined,
    account: unknown,
  ): CommitPerson => {
    const { name = '', email = '' } = signer ?? {};
    const known = isAccount(account) ? personOf(account) : undefined;
    if (known && email !== '') accounts.set(email.toLowerCase(), known);
    return { name, email, account: known };
  };
  const facts = listed.map(({ sha, parents, commit, author, committer }) => ({
    id: sha,
    parents: parents.length,
    author: signerOf(commit.author, author),
    committer: signerOf(commit.committer, committer),
    trailers: parseTrailers(commit.message),
    verified: commit.verification?.verified ?? false,
  }));
  return facts.map(
    ({ trailers, ...fact }): CommitFacts => ({
      ...fact,
      coAuthors: trailerPeople(trailers, accounts),
      signedOffBy: signedOffBy(trailers),
    }),
  );
}

function isAccount(value: unknown): value is Account {
  return typeof value === 'object' && value !== null && 'login' in value && 'id' in value && 'type' in value;
}

/** The account that pushed a commit to the head's branch; undefined if GitHub does not name it. */
export async function readPusher(github: GitHub, { head }: PullRequest): Promise<Person | undefined> {
  if (!head.repository) return undefined;
  const pushes = await answerIfAny(
    github.rest.repos.listActivities({
      ...head.repository,
      ref: `refs/heads/${head.branch}`,
      per_page: 100,
    }),
  );
  const push = pushes?.find(({ after }) => after === head.commit);
  return push?.actor ? personOf(push.actor as Account) : undefined;
}

/**
 * The tip of a branch and its common ancestor with a commit, by one request; undefined where GitHub does not
 * compare them. The commits between them are listed if they are a hundred at most.
 *
 * @param base a branch, or the id of a commit
 */
export async function readSides(
  github: GitHub,
  repository: RepositoryName,
  { base, head }: { readonly base: string; readonly head: string },
): Promise<Sides | undefined> {
  const basehead = `${base}...${head}`;
  const asked = { ...repository, basehead, per_page: 100 };
  const compared = await answerIfAny(github.rest.repos.compareCommitsWithBasehead(asked));
  if (!compared) return undefined;
  const { base_commit: tip, merge_base_commit: ancestor, commits, total_commits: total } = compared;
  const listed = commits.length === total ? { commits: factsOf(commits) } : {};
  const isLinear = commits.length === total && commits.every(({ parents }) => parents.length === 1);
  return { base: tip.sha, head, ancestor: ancestor.sha, isLinear, ...listed };
}

/** Commits of a branch that are looked through, in pages of a hundred. */
const MOST_PAGES = 10;

/**
 * Where a commit left a branch: the newest of its ancestors that was the branch's tip, by the first parents of the
 * branch. A common ancestor that came in with a merge was none. Undefined where GitHub does not compare the two, or
 * where the branch is more than a thousand commits ahead.
 *
 * @param base id of the branch's tip
 */
export async function readLeftAt(
  github: GitHub,
  repository: RepositoryName,
  { base, commit }: { readonly base: string; readonly commit: string },
): Promise<string | undefined> {
  const ahead = new Map<string, string | undefined>();
  for (let page = 1; page <= MOST_PAGES; page++) {
    const compared = await answerIfAny(
      github.rest.repos.compareCommitsWithBasehead({
        ...repository,
        basehead: `${commit}...${base}`,
        per_page: 100,
        page,
      }),
    );
    if (!compared) return undefined;
    for (const { sha, parents } of compared.commits) ahead.set(sha, parents[0]?.sha);
    if (ahead.size >= compared.total_commits || compared.commits.length === 0)
      return firstBehind(ahead, base);
  }
  return undefined;
}

/** The first of a commit's first parents that is not among those that are ahead. */
function firstBehind(ahead: ReadonlyMap<string, string | undefined>, tip: string): string | undefined {
  let at: string | undefined = tip;
  while (at !== undefined && ahead.has(at)) at = ahead.get(at);
  return at;
}

/** Id of a branch's tip. */
export async function readTip(github: GitHub, repository: RepositoryName, branch: string): Promise<string> {
  const { object } = await dataOf(github.rest.git.getRef({ ...repository, ref: `heads/${branch}` }));
  return object.sha;
}

/** A file at the tip of a branch; undefined if it does not exist, empty if it is not a file or too large for the reply. */
export async function readFile(
  github: GitHub,
  repository: RepositoryName,
  { branch, path }: { readonly branch: string; readonly path: string },
): Promise<Uint8Array | undefined> {
  const asked = { ...repository, path, ref: `refs/heads/${branch}` };
  const found = await unlessGone(dataOf(github.rest.repos.getContent(asked)), undefined);
  if (found === undefined) return undefined;
  const content = 'content' in found && found.type === 'file' ? found.content : '';
  return Buffer.from(content, 'base64');
}

/** The default branch of the repository. @throws PipelineError as the client */
export async function readDefaultBranch(github: GitHub, repository: RepositoryName): Promise<string> {
  return (await dataOf(github.rest.repos.get({ ...repository }))).default_branch;
}

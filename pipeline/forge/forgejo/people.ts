/** People on Forgejo and Gitea: reviews, commits, who pushed, and the names in owners' lists. */
import { isObject } from '../../../catalog/go/shape.ts';
import { parsedJson } from '../../../catalog/json.ts';
import type { GivenReview } from '../../check/authority/approval.ts';
import { type CommitFacts, type CommitPerson, signedOffBy } from '../../check/authority/authorship.ts';
import { parseTrailers, signerOf } from '../../git/commit.ts';
import type { Person } from '../../policy/identity.ts';
import type { Lookups } from '../directory.ts';
import type { PullRequest, RepositoryName } from '../forge.ts';
import { answerIfReadable, type ForgeClient, unlessGone } from '../http.ts';
import {
  commitId,
  flag,
  list,
  nullable,
  object,
  optional,
  type Read,
  type Reader,
  text,
  time,
  whole,
} from '../reply.ts';

/** Path of a repository in the API. */
export function repositoryAt({ owner, repo }: RepositoryName): string {
  return `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(repo)}`;
}

/** An account. The forge does not say whether it belongs to a program. */
interface Account extends Person {
  readonly id: number;
}

export const account: Reader<Account> = object({ id: whole, login: text });

const givenReview = object({
  id: whole,
  user: account,
  state: text,
  /** Empty where it is of no commit. */
  commit_id: text,
  dismissed: flag,
  submitted_at: time,
});

const STATES: Readonly<Record<string, GivenReview['state']>> = {
  APPROVED: 'approved',
  REQUEST_CHANGES: 'changes-requested',
  COMMENT: 'commented',
};

/** Reads a review; undefined for a draft, and for a request for review, which may be to a team. */
const review: Reader<Read<typeof givenReview> | undefined> = (value, place) =>
  Object.hasOwn(STATES, object({ state: text })(value, place).state) ? givenReview(value, place) : undefined;

/** Reviews in the order in which they were submitted. */
export async function reviewsOf(client: ForgeClient, path: string): Promise<GivenReview[]> {
  const listed = await client.pages(path, review);
  return listed
    .filter((one) => one !== undefined)
    .sort((a, b) => Date.parse(a.submitted_at) - Date.parse(b.submitted_at) || a.id - b.id)
    .map(({ user, state, dismissed, commit_id: commit }) => ({
      author: user,
      state: dismissed ? 'dismissed' : (STATES[state] ?? 'commented'),
      commit: commit === '' ? undefined : commit,
    }));
}

const signature = object({ name: text, email: text });
type Signature = Read<typeof signature>;

const commit = object({
  sha: commitId,
  commit: object({
    author: nullable(signature),
    committer: nullable(signature),
    message: text,
    verification: optional(object({ verified: flag })),
  }),
  author: nullable(account),
  committer: nullable(account),
  parents: list(object({ sha: commitId })),
});

/** The commits of a pull request. @param at its path */
export async function commitsOf(client: ForgeClient, at: string): Promise<CommitFacts[]> {
  const listed = await client.pages(`${at}/commits?files=false`, commit);
  const accounts = new Map<string, Person>();
  const known = (signed: Signature | null, holder: Person | null): CommitPerson => {
    const { name = '', email = '' } = signed ?? {};
    if (holder && email !== '') accounts.set(email.toLowerCase(), holder);
    return { name, email, account: holder ?? undefined };
  };
  const facts = listed.map(({ sha, parents, commit: written, author, committer }) => ({
    id: sha,
    parents: parents.length,
    author: known(written.author, author),
    committer: known(written.committer, committer),
    trailers: parseTrailers(written.message),
    verified: written.verification?.verified ?? false,
  }));
  return facts.map(({ trailers, ...fact }) => ({
    ...fact,
    coAuthors: trailers
      .filter(({ key }) => key === 'co-authored-by')
      .map(signerOf)
      .map(({ name, email }) => ({ name, email, account: accounts.get(email.toLowerCase()) })),
    signedOffBy: signedOffBy(trailers),
  }));
}

const activity = object({
  op_type: text,
  ref_name: text,
  act_user: nullable(account),
  /** JSON, or nothing. */
  content: text,
});

/** As many as Forgejo returns at once, unless its administrator allows more: a push that is reviewed is among the latest. */
const MOST_ACTIVITIES = 50;

/** The account that pushed the head, from the activities of the head's repository. People may hide theirs. */
export async function pusherOf(client: ForgeClient, { head }: PullRequest): Promise<Person | undefined> {
  if (!head.repository) return undefined;
  const path = `${repositoryAt(head.repository)}/activities/feeds?limit=${MOST_ACTIVITIES}`;
  const feed = await client.find(path, list(activity));
  const push = feed?.find(
    ({ op_type: kind, ref_name: ref, content }) =>
      kind === 'commit_repo' && ref === `refs/heads/${head.branch}` && headIn(content) === head.commit,
  );
  return push?.act_user ?? undefined;
}

function headIn(content: string): unknown {
  const value = parsedJson(content);
  return isObject(value) && isObject(value['HeadCommit']) ? value['HeadCommit']['Sha1'] : undefined;
}

/** How names in owners' lists are looked up. */
export function lookupsOf(client: ForgeClient): Lookups {
  return {
    accountNumber: (login) => accountNumber(client, login),
    membersOf: (named) => membersOf(client, named),
  };
}

/** The number of an account, null for a login without an account, undefined if it is hidden. */
async function accountNumber(client: ForgeClient, login: string): Promise<number | null | undefined> {
  const asked = client.get(`/users/${encodeURIComponent(login)}`, account);
  const found = await answerIfReadable(unlessGone(asked, null));
  return found === null ? null : found?.id;
}

const team = object({ id: whole, name: text });

/** Members of a team; undefined where the account may not see them: it is not in the team, and does not own the organization. */
async function membersOf(client: ForgeClient, named: string): Promise<readonly Person[] | undefined> {
  const [organization = '', name = ''] = named.split('/');
  const teams = await answerIfReadable(client.pages(`/orgs/${encodeURIComponent(organization)}/teams`, team));
  // Policies and owners' files have the names of teams in lower case.
  const one = teams?.find((other) => other.name.toLowerCase() === name);
  return one && answerIfReadable(client.pages(`/teams/${one.id}/members`, account));
}

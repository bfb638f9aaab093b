/** People on Forgejo and Gitea: reviews, commits, who pushed, and the names in owners' lists. */
import { isObject } from '../../../catalog/go/shape.ts';
import type { GivenReview } from '../../check/authority/approval.ts';
import { type CommitFacts, type CommitPerson, signedOffBy } from '../../check/authority/authorship.ts';
import { PipelineError } from '../../error.ts';
import { parseTrailers, signerOf } from '../../git/commit.ts';
import { parsedJson } from '../../json.ts';
import type { Directory, Identity, Person } from '../../policy/identity.ts';
import type { PullRequest } from '../forge.ts';
import type { ForgeClient } from '../http.ts';

/** An account as the API has it. Nothing says whether it is a program's. */
export interface Account {
  readonly id: number;
  readonly login: string;
}

/** Stands for an account that was deleted. */
const GHOST: Person = { login: 'ghost', id: -1 };

export function personOf(account: Account | null | undefined): Person {
  return account ? { login: account.login, id: account.id } : GHOST;
}

export interface ReviewData {
  readonly id: number;
  readonly user: Account | null;
  readonly state: string;
  readonly body: string;
  readonly commit_id: string;
  readonly dismissed: boolean;
  readonly submitted_at: string;
}

const STATES: Readonly<Record<string, GivenReview['state']>> = {
  APPROVED: 'approved',
  REQUEST_CHANGES: 'changes-requested',
  COMMENT: 'commented',
};

/** Reviews in the order in which they were submitted; drafts and requests for reviews are none. */
export function reviewsOf(listed: readonly ReviewData[]): GivenReview[] {
  return listed
    .filter(({ state }) => state in STATES)
    .sort((a, b) => a.submitted_at.localeCompare(b.submitted_at) || a.id - b.id)
    .map(({ user, state, dismissed, commit_id: commit }) => ({
      author: personOf(user),
      state: dismissed ? 'dismissed' : (STATES[state] ?? 'commented'),
      commit: commit === '' ? undefined : commit,
    }));
}

interface Signature {
  readonly name: string;
  readonly email: string;
}

export interface CommitData {
  readonly sha: string;
  readonly commit: {
    readonly author: Signature | null;
    readonly committer: (Signature & { readonly date: string }) | null;
    readonly message: string;
    readonly verification?: { readonly verified: boolean } | null;
  };
  readonly author: Account | null;
  readonly committer: Account | null;
  readonly parents: readonly unknown[] | null;
}

export function commitsOf(listed: readonly CommitData[]): CommitFacts[] {
  const accounts = new Map<string, Person>();
  const known = (signature: Signature | null, account: Account | null): CommitPerson => {
    const { name = '', email = '' } = signature ?? {};
    const person = account ? personOf(account) : undefined;
    if (person && email !== '') accounts.set(email.toLowerCase(), person);
    return { name, email, account: person };
  };
  const facts = listed.map(({ sha, parents, commit, author, committer }) => ({
    id: sha,
    parents: parents?.length ?? 0,
    author: known(commit.author, author),
    committer: known(commit.committer, committer),
    trailers: parseTrailers(commit.message),
    verified: commit.verification?.verified ?? false,
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

interface Activity {
  readonly op_type: string;
  readonly ref_name: string;
  readonly act_user: Account | null;
  /** JSON, or nothing. */
  readonly content: string;
}

/** Who pushed the head, by the activities of the head's repository: people may hide theirs. */
export async function pusherOf(client: ForgeClient, { head }: PullRequest): Promise<Person | undefined> {
  if (!head.repository) return undefined;
  const { owner, repo } = head.repository;
  const feed = await client.find<Activity[]>(`/repos/${owner}/${repo}/activities/feeds?limit=50`);
  const push = feed?.find(
    ({ op_type: kind, ref_name: ref, content }) =>
      kind === 'commit_repo' && ref === `refs/heads/${head.branch}` && headIn(content) === head.commit,
  );
  return push?.act_user ? personOf(push.act_user) : undefined;
}

function headIn(content: string): unknown {
  const value = parsedJson(content);
  return isObject(value) && isObject(value['HeadCommit']) ? value['HeadCommit']['Sha1'] : undefined;
}

/** Names that are looked up for one pull request at most. */
const MOST_NAMES = 200;

/** Looks identities up. What cannot be found out is absent, and then counts for nobody. */
export async function directoryOf(client: ForgeClient, identities: readonly Identity[]): Promise<Directory> {
  const logins = identities.flatMap((one) => (one.kind === 'account' ? one.login.toLowerCase() : []));
  const teams = identities.flatMap((one) => (one.kind === 'team' ? one.team : []));
  const accounts = new Map<string, number | null>();
  for (const login of [...new Set(logins)].slice(0, MOST_NAMES)) {
    const id = await accountNumber(client, login);
    if (id !== undefined) accounts.set(login, id);
  }
  const members = new Map<string, readonly Person[]>();
  for (const team of [...new Set(teams)].slice(0, MOST_NAMES)) {
    const people = await membersOf(client, team);
    if (people) members.set(team, people);
  }
  return { accounts, teams: members };
}

/** The number of an account, null for a login that nobody has, undefined when it cannot be told. */
async function accountNumber(client: ForgeClient, login: string): Promise<number | null | undefined> {
  try {
    return (await client.ask<Account>('GET', `/users/${encodeURIComponent(login)}`)).id;
  } catch (error) {
    if (error instanceof PipelineError) return error.code === 'not-found' ? null : undefined;
    throw error;
  }
}

/** Members of a team; undefined where the account is not in the organization, which may then not see them. */
async function membersOf(client: ForgeClient, name: string): Promise<readonly Person[] | undefined> {
  const [organization = '', team = ''] = name.split('/');
  const asked = `/orgs/${organization}/teams/search?limit=50&q=${encodeURIComponent(team)}`;
  const found = await client.find<{ data: readonly { id: number; name: string }[] }>(asked);
  const one = found?.data.find((other) => other.name.toLowerCase() === team);
  if (!one) return undefined;
  return (await client.pages<Account>(`/teams/${one.id}/members`)).map(personOf);
}

/** People on GitLab: approvals, commits, who pushed, and the names in owners' lists. */
import type { GivenReview } from '../../check/authority/approval.ts';
import { type CommitFacts, signedOffBy } from '../../check/authority/authorship.ts';
import { PipelineError } from '../../error.ts';
import { parseTrailers, signerOf } from '../../git/commit.ts';
import type { Directory, Identity, Person } from '../../policy/identity.ts';
import type { PullRequest } from '../forge.ts';
import type { ForgeClient } from '../http.ts';

/** An account as the API has it. */
export interface Account {
  readonly id: number;
  readonly username: string;
}

/** Stands for an account that was deleted. */
const GHOST: Person = { login: 'ghost', id: -1 };

export function personOf(account: Account | null | undefined): Person {
  return account ? { login: account.username, id: account.id } : GHOST;
}

/** A state of a merge request's head; GitLab makes one for each push, a little after it. */
interface Version {
  readonly head_commit_sha: string;
  readonly created_at: string;
}

interface Approvals {
  readonly approved_by: readonly { readonly user: Account | null; readonly approved_at?: string | null }[];
}

interface Reviewer {
  readonly user: Account | null;
  readonly state: string;
}

/**
 * Approvals that stand, each for the version that there was when it was given: GitLab names no commit. A request for
 * changes stands until its reviewer decides something else.
 *
 * @param at path of the merge request
 */
export async function reviewsOf(client: ForgeClient, at: string): Promise<GivenReview[]> {
  const [versions, { approved_by: approvals }, reviewers] = await Promise.all([
    client.pages<Version>(`${at}/versions`),
    client.ask<Approvals>('GET', `${at}/approvals`),
    client.pages<Reviewer>(`${at}/reviewers`),
  ]);
  const latestFirst = [...versions].sort((a, b) => timeOf(b.created_at) - timeOf(a.created_at));
  const approved = approvals.map(({ user, approved_at: when }) => ({
    author: personOf(user),
    state: 'approved' as const,
    commit: latestFirst.find((one) => timeOf(one.created_at) < timeOf(when))?.head_commit_sha,
  }));
  const refused = reviewers
    .filter(({ state }) => state === 'requested_changes')
    .map(({ user }) => ({
      author: personOf(user),
      state: 'changes-requested' as const,
      commit: latestFirst[0]?.head_commit_sha,
    }));
  return [...approved, ...refused];
}

/** In ms since 1970; nothing is before what has no time. */
function timeOf(text: string | null | undefined): number {
  return Date.parse(text ?? '');
}

export interface CommitData {
  readonly id: string;
  readonly parent_ids?: readonly string[] | null;
  readonly author_name: string;
  readonly author_email: string;
  readonly committer_name: string;
  readonly committer_email: string;
  readonly committed_date: string;
  readonly message: string;
}

/** Addresses that are looked up for one merge request at most. */
const MOST_ADDRESSES = 50;

export async function commitsOf(client: ForgeClient, listed: readonly CommitData[]): Promise<CommitFacts[]> {
  const told = listed.map((commit) => ({ commit, trailers: parseTrailers(commit.message) }));
  const named = told.map(({ commit, trailers }) => ({
    commit,
    trailers,
    coAuthors: trailers.filter(({ key }) => key === 'co-authored-by').map(signerOf),
  }));
  const addresses = named.flatMap(({ commit, coAuthors }) => [
    commit.author_email,
    commit.committer_email,
    ...coAuthors.map(({ email }) => email),
  ]);
  const accounts = new Map<string, Person | undefined>();
  for (const email of [...new Set(addresses.map((one) => one.toLowerCase()))].slice(0, MOST_ADDRESSES))
    accounts.set(email, await holderOf(client, email));
  const known = (name: string, email: string) => ({
    name,
    email,
    account: accounts.get(email.toLowerCase()),
  });
  return named.map(({ commit, trailers, coAuthors }) => ({
    id: commit.id,
    parents: commit.parent_ids?.length ?? 0,
    author: known(commit.author_name, commit.author_email),
    committer: known(commit.committer_name, commit.committer_email),
    coAuthors: coAuthors.map(({ name, email }) => known(name, email)),
    signedOffBy: signedOffBy(trailers),
    verified: false,
  }));
}

/** The account whose public address it is. The search also finds people who merely call themselves so. */
async function holderOf(client: ForgeClient, email: string): Promise<Person | undefined> {
  if (!email.includes('@')) return undefined;
  const found = (await client.find<Account[]>(`/users?search=${encodeURIComponent(email)}`)) ?? [];
  for (const { id } of found.slice(0, 5)) {
    const account = await client.find<Account & { public_email?: string | null }>(`/users/${id}`);
    if (account?.public_email?.toLowerCase() === email) return personOf(account);
  }
  return undefined;
}

interface PushEvent {
  readonly author: Account | null;
  readonly push_data?: { readonly commit_to: string | null; readonly ref: string | null } | null;
}

/** Events of a project that are read to find a push. */
const MOST_EVENTS = 200;

/** Who pushed the head, by the events of its project: one push of many branches has no event for each of them. */
export async function pusherOf(client: ForgeClient, { head }: PullRequest): Promise<Person | undefined> {
  if (!head.repository) return undefined;
  const { owner, repo } = head.repository;
  const path = `/projects/${encodeURIComponent(`${owner}/${repo}`)}/events?action=pushed`;
  const events = await readable(client.pages<PushEvent>(path, MOST_EVENTS));
  const push = events?.find(
    ({ push_data: data }) => data?.ref === head.branch && data.commit_to === head.commit,
  );
  return push?.author ? personOf(push.author) : undefined;
}

/** What may not be seen, or is not there, is undefined. */
async function readable<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof PipelineError && (error.code === 'not-found' || error.code === 'denied'))
      return undefined;
    throw error;
  }
}

/** Names that are looked up for one merge request at most. */
const MOST_NAMES = 200;

/** Looks identities up. What cannot be found out is absent, and then counts for nobody. */
export async function directoryOf(client: ForgeClient, identities: readonly Identity[]): Promise<Directory> {
  const logins = identities.flatMap((one) => (one.kind === 'account' ? one.login.toLowerCase() : []));
  const groups = identities.flatMap((one) => (one.kind === 'team' ? one.team : []));
  const accounts = new Map<string, number | null>();
  for (const login of [...new Set(logins)].slice(0, MOST_NAMES)) {
    const found = await readable(
      client.ask<Account[]>('GET', `/users?username=${encodeURIComponent(login)}`),
    );
    if (!found) continue;
    accounts.set(login, found.find(({ username }) => username.toLowerCase() === login)?.id ?? null);
  }
  const teams = new Map<string, readonly Person[]>();
  for (const group of [...new Set(groups)].slice(0, MOST_NAMES)) {
    const members = await membersOf(client, group);
    if (members) teams.set(group, members);
  }
  return { accounts, teams };
}

interface Member extends Account {
  readonly access_level: number;
  readonly state: string;
}

/** GitLab's number of the role Developer. Guests and reporters of a group do not own what it owns. */
const DEVELOPER = 30;

/** Direct members of a group from the role Developer on; undefined where they may not be seen. */
async function membersOf(client: ForgeClient, group: string): Promise<readonly Person[] | undefined> {
  const path = `/groups/${encodeURIComponent(group)}/members`;
  const members = await readable(client.pages<Member>(path));
  return members
    ?.filter(({ access_level: level, state }) => level >= DEVELOPER && state === 'active')
    .map(personOf);
}

/** People on GitLab: approvals, commits, who pushed, and the names in owners' lists. */
import type { GivenReview } from '../../check/authority/approval.ts';
import { type CommitFacts, signedOffBy } from '../../check/authority/authorship.ts';
import { parseTrailers, signerOf } from '../../git/commit.ts';
import type { Person } from '../../policy/identity.ts';
import type { Lookups } from '../directory.ts';
import type { PullRequest, RepositoryName } from '../forge.ts';
import { answerIfReadable, type ForgeClient } from '../http.ts';
import {
  commitId,
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

/** Path of a project in the API. */
export function projectAt({ owner, repo }: RepositoryName): string {
  return `/projects/${encodeURIComponent(`${owner}/${repo}`)}`;
}

/** An account, which the API calls by its `username`. */
interface Account extends Person {
  readonly id: number;
}

const accountData = object({ id: whole, username: text });

export const account: Reader<Account> = (value, place) => {
  const { id, username } = accountData(value, place);
  return { login: username, id };
};

/** A state of a merge request's head; GitLab makes one for each push, a little after it. */
const version = object({ head_commit_sha: commitId, created_at: time });

const approvals = object({
  approved_by: list(object({ user: account, approved_at: optional(time) })),
});

const reviewer = object({ user: account, state: text });

/**
 * Approvals that stand, each for the version that there was when it was given: GitLab names no commit. A request for
 * changes stands until its reviewer decides something else.
 *
 * @param at path of the merge request
 */
export async function reviewsOf(client: ForgeClient, at: string): Promise<GivenReview[]> {
  const [versions, { approved_by: given }, reviewers] = await Promise.all([
    client.pages(`${at}/versions`, version),
    client.get(`${at}/approvals`, approvals),
    client.pages(`${at}/reviewers`, reviewer),
  ]);
  const latestFirst = [...versions].sort((a, b) => timeOf(b.created_at) - timeOf(a.created_at));
  // An approval without a time, or of the very time of a version, is not known to be for that version.
  const approved = given.map(({ user, approved_at: when }) => ({
    author: user,
    state: 'approved' as const,
    commit: latestFirst.find((one) => timeOf(one.created_at) < timeOf(when))?.head_commit_sha,
  }));
  const refused = reviewers
    .filter(({ state }) => state === 'requested_changes')
    .map(({ user }) => ({
      author: user,
      state: 'changes-requested' as const,
      commit: latestFirst[0]?.head_commit_sha,
    }));
  return [...approved, ...refused];
}

/** In ms since 1970; nothing is before what has no time. */
function timeOf(moment: string | undefined): number {
  return Date.parse(moment ?? '');
}

const commit = object({
  id: commitId,
  parent_ids: optional(list(commitId)),
  author_name: text,
  author_email: text,
  committer_name: text,
  committer_email: text,
  message: text,
});

/** Addresses that are looked up for one merge request at most. */
const MOST_ADDRESSES = 50;

/** The commits of a merge request. @param at its path */
export async function commitsOf(client: ForgeClient, at: string): Promise<CommitFacts[]> {
  const listed = await client.pages(`${at}/commits`, commit);
  const commits = listed.map((data) => {
    const trailers = parseTrailers(data.message);
    const coAuthors = trailers.filter(({ key }) => key === 'co-authored-by').map(signerOf);
    return { data, trailers, coAuthors };
  });
  const addresses = commits.flatMap(({ data, coAuthors }) => [
    data.author_email,
    data.committer_email,
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
  return commits.map(({ data, trailers, coAuthors }) => ({
    id: data.id,
    parents: data.parent_ids?.length ?? 0,
    author: known(data.author_name, data.author_email),
    committer: known(data.committer_name, data.committer_email),
    coAuthors: coAuthors.map(({ name, email }) => known(name, email)),
    signedOffBy: signedOffBy(trailers),
    verified: false,
  }));
}

/** Accounts of a search that are looked at: each takes a request. */
const MOST_FOUND = 5;

const profile = object({ public_email: optional(text) });

/** The account whose public address it is. The search also finds people who merely call themselves so. */
async function holderOf(client: ForgeClient, email: string): Promise<Person | undefined> {
  if (!email.includes('@')) return undefined;
  const found = (await client.find(`/users?search=${encodeURIComponent(email)}`, list(account))) ?? [];
  for (const person of found.slice(0, MOST_FOUND)) {
    const shown = await client.find(`/users/${person.id}`, profile);
    if (shown?.public_email?.toLowerCase() === email) return person;
  }
  return undefined;
}

/** Accounts that were deleted are left out; so is what was pushed for other events. */
const pushEvent = object({
  author: optional(account),
  push_data: optional(object({ ref_type: text, ref: nullable(text), commit_to: nullable(text) })),
});

/** Events of a project that are read to find a push. */
const MOST_EVENTS = 200;

/** The account that pushed the head, from the project's events. One push of many branches has no event for each branch. */
export async function pusherOf(client: ForgeClient, { head }: PullRequest): Promise<Person | undefined> {
  if (!head.repository) return undefined;
  const path = `${projectAt(head.repository)}/events?action=pushed`;
  const events = await answerIfReadable(client.pages(path, pushEvent, MOST_EVENTS));
  const push = events?.find(
    ({ push_data: data }) =>
      data?.ref_type === 'branch' && data.ref === head.branch && data.commit_to === head.commit,
  );
  return push?.author;
}

/** How names in owners' lists are looked up. */
export function lookupsOf(client: ForgeClient): Lookups {
  return {
    accountNumber: (login) => accountNumber(client, login),
    membersOf: (group) => membersOf(client, group),
  };
}

/** The number of an account whose name is in lower case, null for one that does not exist, undefined if it is hidden. */
async function accountNumber(client: ForgeClient, login: string): Promise<number | null | undefined> {
  const found = await client.find(`/users?username=${encodeURIComponent(login)}`, list(account));
  return found && (found.find((one) => one.login.toLowerCase() === login)?.id ?? null);
}

const membership = object({ access_level: whole, state: text });

const member: Reader<Account & Read<typeof membership>> = (value, place) => ({
  ...account(value, place),
  ...membership(value, place),
});

/** GitLab's number of the role Developer. Guests and reporters of a group do not own what it owns. */
const DEVELOPER = 30;

/** Direct members of a group from the role Developer on; undefined where they may not be seen. */
async function membersOf(client: ForgeClient, group: string): Promise<readonly Person[] | undefined> {
  const path = `/groups/${encodeURIComponent(group)}/members`;
  const members = await answerIfReadable(client.pages(path, member));
  return members
    ?.filter(({ access_level: level, state }) => level >= DEVELOPER && state === 'active')
    .map(({ id, login }) => ({ id, login }));
}

/**
 * Whose commits a pull request brings. What a commit says of its author is a claim, so
 * it never gives anybody a right; commits of strangers only take one away: then the
 * author's own word is not enough, and somebody who owns the package must look.
 */
import { type Commit, signerOf, type Trailer } from '../../git/commit.ts';
import { type Person, samePerson } from '../../policy/identity.ts';
import type { CommitsPolicy } from '../../policy/policy.ts';

export interface CommitFacts {
  readonly id: string;
  /** How many parents it has: a merge has several. */
  readonly parents: number;
  readonly author: CommitPerson;
  readonly committer: CommitPerson;
  /** From `Co-authored-by` lines. */
  readonly coAuthors: readonly CommitPerson[];
  /** Addresses in `Signed-off-by` lines. */
  readonly signedOffBy: readonly string[];
  /** Whether GitHub verified the signature; undefined where nobody asked it. */
  readonly verified: boolean | undefined;
}

export interface CommitPerson {
  readonly name: string;
  readonly email: string;
  /** The account that GitHub finds for the address; undefined if there is none. */
  readonly account: Person | undefined;
}

export interface Authorship {
  /** Commits of people who have nothing to do with the pull request, in words. */
  readonly strangers: readonly string[];
  /** How the author must change the commits, in words. */
  readonly demands: readonly string[];
}

/** The account with which GitHub commits what people do on its pages. */
const WEB_FLOW: Person = { login: 'web-flow', id: 19_864_447 };

/** Whether people did it on the pages of GitHub; GitHub Enterprise Server has no account for that. */
function isWebFlow({ name, email, account }: CommitPerson): boolean {
  if (account !== undefined) return samePerson(account, WEB_FLOW);
  return name === 'GitHub Enterprise' && email.startsWith('noreply@');
}

/** How many commits are named before the rest is counted. */
const MOST_NAMED = 5;

/**
 * Checks the commits of a pull request.
 *
 * @param known the pull request's author, owners and admins
 */
export function checkCommits(
  commits: readonly CommitFacts[],
  known: readonly Person[],
  policy: CommitsPolicy,
): Authorship {
  const among = (people: readonly Person[], { account }: CommitPerson): boolean =>
    account !== undefined && people.some((person) => samePerson(person, account));
  const coAuthors = commits.flatMap((commit) =>
    // Anybody can write a name into a commit: co-authors count only in commits of people who are known.
    among(known, commit.author) ? commit.coAuthors.flatMap(({ account }) => account ?? []) : [],
  );
  const welcome = [...known, ...coAuthors];
  const strangers = commits.flatMap((commit) => {
    const people = isWebFlow(commit.committer) ? [commit.author] : [commit.author, commit.committer];
    const unknown = people.find((one) => !among(welcome, one));
    return unknown ? [`commit ${commit.id.slice(0, 12)} is from ${personText(unknown)}`] : [];
  });
  // Merges are left out: they only bring commits together.
  const own = commits.filter(({ parents }) => parents < 2);
  const unsigned = policy.signOff ? own.filter((commit) => !isSignedOff(commit)) : [];
  const unverified = policy.verified ? own.filter(({ verified }) => verified === false) : [];
  const isUnknown = policy.verified && own.some(({ verified }) => verified === undefined);
  return {
    strangers: firstTexts(strangers),
    demands: [
      ...demandTexts(unsigned, 'has no Signed-off-by line from its author (git commit --amend --signoff)'),
      ...demandTexts(unverified, 'has no verified signature on GitHub (git commit --amend -S)'),
      ...(isUnknown ? ['whether signatures are verified can be seen on the pull request alone'] : []),
    ],
  };
}

/**
 * Commits as git has them, where no forge names their accounts: all count as the author's own, who gains no right by it.
 */
export function claimedCommits(commits: readonly Commit[], author: Person): CommitFacts[] {
  return commits.map((commit) => ({
    id: commit.id,
    parents: commit.parents.length,
    author: { ...commit.author, account: author },
    committer: { ...commit.committer, account: author },
    coAuthors: [],
    signedOffBy: signedOffBy(commit.trailers),
    verified: undefined,
  }));
}

/** Whether a commit has a `Signed-off-by` line of its own author, as the Developer Certificate of Origin asks. */
function isSignedOff({ author, signedOffBy }: CommitFacts): boolean {
  // Without an address nobody signed.
  return (
    author.email !== '' && signedOffBy.some((email) => email.toLowerCase() === author.email.toLowerCase())
  );
}

function demandTexts(commits: readonly CommitFacts[], what: string): string[] {
  return firstTexts(commits.map(({ id }) => `commit ${id.slice(0, 12)} ${what}`));
}

/** The first texts, and the number of those that are left out. */
function firstTexts(texts: readonly string[]): string[] {
  const rest = texts.length - MOST_NAMED;
  return rest <= 0
    ? [...texts]
    : [...texts.slice(0, MOST_NAMED), `${rest} more commits have the same problem`];
}

function personText({ name, account }: CommitPerson): string {
  return account ? `@${account.login}` : `${JSON.stringify(name)}, whose email belongs to no GitHub account`;
}

/** The people in `Co-authored-by` lines, with the accounts that GitHub finds for their addresses. */
export function trailerPeople(
  trailers: readonly Trailer[],
  accounts: ReadonlyMap<string, Person>,
): CommitPerson[] {
  return trailers
    .filter(({ key }) => key === 'co-authored-by')
    .map(signerOf)
    .map(({ name, email }) => ({
      name,
      email,
      account: accounts.get(email.toLowerCase()) ?? accountOfNoReply(email),
    }));
}

/** The account in an address that GitHub gives to those who keep theirs to themselves. */
function accountOfNoReply(email: string): Person | undefined {
  const [, id, login] =
    /^([1-9][0-9]*)\+([A-Za-z0-9-]+(?:\[bot\])?)@users\.noreply\.github\.com$/i.exec(email) ?? [];
  return id === undefined || login === undefined ? undefined : { login, id: Number(id) };
}

/** Addresses in `Signed-off-by` lines. */
export function signedOffBy(trailers: readonly Trailer[]): string[] {
  return trailers.filter(({ key }) => key === 'signed-off-by').map((trailer) => signerOf(trailer).email);
}

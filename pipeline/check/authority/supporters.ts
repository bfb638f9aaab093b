/** The supporters of a change: its author, the people who approved it, and programs within their scope. */
import type { AreaChange, Change, PackageChange } from '../../change/change.ts';
import {
  type Directory,
  type Identity,
  type Person,
  resolvePeople,
  samePerson,
} from '../../policy/identity.ts';
import type { Automation, Policy } from '../../policy/policy.ts';
import { matchesGlob } from '../../text.ts';
import { isCurrent, lastDecisions, type Review } from './approval.ts';
import { type Authorship, type CommitFacts, checkCommits } from './authorship.ts';
import type { Reach, Supporter } from './required-approvals.ts';

/** The owners and admins who support a subject: the author, and those who approved the head's changes. */
export function supportersOf(
  given: AuthorityFacts,
  subject: string,
  owners: readonly Person[],
): { supporters: Supporter[]; reasons: string[] } {
  const { author, pusher, admins, decisions } = given;
  const supporters: Supporter[] = [];
  const reasons: string[] = [];
  const mayApprove = (person: Person): boolean =>
    includesPerson(admins, person) || includesPerson(owners, person);
  const support = (person: Person, isAuthor: boolean): void => {
    supporters.push({ person, admin: includesPerson(admins, person), author: isAuthor });
  };
  const doubt = mayApprove(author)
    ? doubtOf(given, owners)
    : `@${author.login} is neither an owner nor an admin`;
  if (doubt === undefined) {
    support(author, true);
    reasons.push(`@${author.login} is ${includesPerson(admins, author) ? 'an admin' : 'an owner'}`);
  } else reasons.push(doubt);
  const pinned = { by: given.policy.approval.pin, head: given.head, content: given.content };
  for (const review of decisions) {
    const person = review.author;
    if (review.state !== 'approved' || person.bot === true || !mayApprove(person)) continue;
    // Neither the author nor who pushed the head approves with a review: it would be their own change.
    if (samePerson(person, author) || (pusher && samePerson(person, pusher))) continue;
    if (!isCurrent(review, subject, pinned)) reasons.push(`@${person.login} approved different content`);
    else {
      support(person, false);
      reasons.push(`@${person.login} approved`);
    }
  }
  return { supporters, reasons };
}

/**
 * Whether the base branch has changed what the head replaces since the head left it. Whoever approves the head then
 * approves another change than the merge would make.
 */
export function isOutdated({ content, headContent }: AuthorityFacts, subject: string): boolean {
  return content.get(subject) !== headContent.get(subject);
}

/** Why the word of an author who is an owner or admin is not enough here; undefined when it is. */
function doubtOf(given: AuthorityFacts, owners: readonly Person[]): string | undefined {
  const { author, policy, automation } = given;
  if (automation) return `the policy limits what @${author.login} may change`;
  if (!policy.approval.ownerSelfApproval) return 'someone other than the author must approve';
  return commitDoubt(given, owners)?.found;
}

/** Why the commits keep the author from counting as a supporter, and what the author can do; undefined if they do not. */
export function commitDoubt(
  given: AuthorityFacts,
  owners: readonly Person[],
): { readonly found: string; readonly remedy: string } | undefined {
  const { author, pusher, admins, policy, automation, authorship } = given;
  const remedy = `@${author.login} must push a new commit`;
  // Such an author never counts as a supporter, whatever the commits are: no new commit helps.
  if (automation || !policy.approval.ownerSelfApproval) return undefined;
  if (policy.approval.pusherMustBeOwner) {
    if (!pusher) return { found: 'it is unknown who pushed the head', remedy };
    if (!samePerson(pusher, author) && !includesPerson(admins, pusher) && !includesPerson(owners, pusher))
      return {
        found: `@${pusher.login}, who pushed the head, is neither an owner nor an admin`,
        remedy,
      };
  }
  const [found] = authorship.strangers;
  const rewrite = `@${author.login} must rewrite it (git commit --amend --reset-author), or its author must open the pull request`;
  return found === undefined ? undefined : { found, remedy: rewrite };
}

/**
 * Whether the author is a program's account whose scope covers the whole change of a package. Errors that only an advisory
 * makes warnings need a person: the check would otherwise stop the program.
 */
export function mayAlone(given: AuthorityFacts, change: PackageChange): boolean {
  const { automation } = given;
  if (given.accepted.has(change.name)) return false;
  if (!automation || !speaksForItself(given) || given.change.packages.size > automation.maxPackages)
    return false;
  const { packages, may, paths } = automation;
  return (
    packages.some((pattern) => matchesGlob(pattern, change.name)) &&
    [...change.classes].every((name) => may.includes(name)) &&
    [...change.kinds].every((kind) => paths === undefined || paths.includes(kind))
  );
}

/**
 * Whether the policy lets the author change an area alone. Whole catalogs are for programs that may change every package.
 */
export function mayAloneInArea(given: AuthorityFacts, { area }: AreaChange): boolean {
  const { automation } = given;
  const isWholeCatalog = area === 'new-catalog' || area === 'delete-catalog';
  return (
    isWholeCatalog &&
    automation !== undefined &&
    speaksForItself(given) &&
    automation.packages.includes('*') &&
    automation.may.includes(area)
  );
}

/**
 * Whether the head and all commits are the program's own: commits of others must not pass with its rights.
 */
function speaksForItself({ author, pusher, policy, admins, authorship }: AuthorityFacts): boolean {
  const pushed =
    !policy.approval.pusherMustBeOwner ||
    (pusher !== undefined && (samePerson(pusher, author) || includesPerson(admins, pusher)));
  return pushed && authorship.strangers.length === 0;
}

// The facts for a decision: everything that is known of a pull request, with its people looked up.

export interface AuthorityInput {
  /** Undefined when the policy on the base branch cannot be read: then nothing is allowed. */
  readonly policy: Policy | undefined;
  readonly change: Change;
  readonly author: Person;
  /** The account that pushed the head; undefined if unknown. */
  readonly pusher: Person | undefined;
  /** Id of the head commit. */
  readonly head: string;
  /** Digest of each subject as the merge will change it, by {@link subjectOf}. */
  readonly content: ReadonlyMap<string, string>;
  /** The same as of the head: what whoever approves the head approves. Others where the base branch has moved on. */
  readonly headContent: ReadonlyMap<string, string>;
  /** In the order in which they were submitted. */
  readonly reviews: readonly Review[];
  /** The pull request's commits; undefined without a forge that names their accounts. */
  readonly commits: readonly CommitFacts[] | undefined;
  readonly directory: Directory;
  /** Packages in which the rule against pruning found something. */
  readonly prunesRefused: ReadonlySet<string>;
  /** Packages of which an advisory made errors warnings. */
  readonly accepted: ReadonlySet<string>;
  /** How many clusters the merge reaches; undefined where no fleet is known. */
  readonly reach: Reach | undefined;
  /** Reasons of others not to merge: a draft, a label. */
  readonly holds: readonly string[];
}

export interface AuthorityFacts extends AuthorityInput {
  readonly policy: Policy;
  readonly admins: readonly Person[];
  /** The author as a program's account; admins are not held to its scope. */
  readonly automation: Automation | undefined;
  readonly authorship: Authorship;
  /** The latest decision of each reviewer. */
  readonly decisions: readonly Review[];
  /** Decisions add to them. */
  readonly warnings: string[];
}

/**
 * What all decisions about a change go by: admins, automation, authors of commits, and the last word of each reviewer.
 */
export function factsOf(input: AuthorityInput, policy: Policy): AuthorityFacts {
  const warnings: string[] = [];
  const admins = peopleOf(policy.owners.admins, { policy, directory: input.directory, warnings });
  const isAdmin = includesPerson(admins, input.author);
  const owners = [...input.change.packages.values()].flatMap((change) =>
    peopleOf(change.owners.identities, { policy, directory: input.directory, warnings }),
  );
  const known = [input.author, ...admins, ...owners];
  const authorship = checkCommits(input.commits ?? [], known, policy.commits);
  warnings.push(...authorship.strangers);
  for (const { owners: named } of input.change.packages.values())
    for (const { severity, message } of named.findings) if (severity === 'warning') warnings.push(message);
  return {
    ...input,
    policy,
    admins,
    automation: isAdmin ? undefined : policy.automation.find((one) => samePerson(one, input.author)),
    authorship,
    decisions: lastDecisions(input.reviews),
    warnings,
  };
}

interface Resolving {
  readonly policy: Policy;
  readonly directory: Directory;
  readonly warnings: string[];
}

/** The people of a list of owners; what of it does not count becomes a warning. */
export function peopleOf(
  identities: readonly Identity[],
  { policy, directory, warnings }: Resolving,
): readonly Person[] {
  const { people, ignored } = resolvePeople(identities, { directory, allowTeams: policy.owners.allowTeams });
  warnings.push(...ignored.map((reason) => `owner not counted: ${reason}`));
  return people;
}

/** Whether somebody is among people; false for nobody (undefined). */
export function includesPerson(people: readonly Person[], person: Person | undefined): boolean {
  return person !== undefined && people.some((other) => samePerson(other, person));
}

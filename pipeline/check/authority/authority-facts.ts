/** The facts for a decision: everything that is known of a pull request, with its people looked up. */
import type { Change } from '../../change/change.ts';
import {
  type Directory,
  type Identity,
  type Person,
  resolvePeople,
  samePerson,
} from '../../policy/identity.ts';
import type { Automation, Policy } from '../../policy/policy.ts';
import { lastWords, type Review } from './approval.ts';
import { type Authorship, type CommitFacts, checkCommits } from './authorship.ts';
import type { Reach } from './required-approvals.ts';

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
  readonly words: readonly Review[];
  readonly warnings: string[];
}

export function factsOf(input: AuthorityInput, policy: Policy): AuthorityFacts {
  const warnings: string[] = [];
  const admins = peopleOf(policy.owners.admins, { policy, directory: input.directory, warnings });
  const isAdmin = includes(admins, input.author);
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
    words: lastWords(input.reviews),
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

export function includes(people: readonly Person[], person: Person | undefined): boolean {
  return person !== undefined && people.some((other) => samePerson(other, person));
}

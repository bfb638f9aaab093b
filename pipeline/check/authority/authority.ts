/**
 * Who may make a change: allow, needs or deny, from the author, what the pull request
 * changes, the policy and owners of the base branch, and the reviews. A pure function:
 * nothing is asked of GitHub here.
 *
 * The table is made of demands, class by class, that people must stand behind: the
 * author, where the author's own word counts, and everybody whose approval is of what
 * the head brings. More paths mean more demands, fewer approvals fewer people; so
 * neither ever turns a refusal into a permission.
 */
import { type AreaChange, type PackageChange, subjectOf } from '../../change/change.ts';
import { type Person, samePerson } from '../../policy/identity.ts';
import { sameOwners } from '../../policy/owners/owners.ts';
import type { AllowableClass } from '../../policy/policy.ts';
import {
  type Candidates,
  loginsBut,
  mergeNeeds,
  type Need,
  needsFor,
  needText,
} from './missing-approvals.ts';
import {
  type Demand,
  demandsOfReach,
  demandsOnArea,
  demandsOnPackage,
  hasOnlyAdmin,
  isFree,
  isMet,
  missingFor,
  type Supporter,
} from './required-approvals.ts';
import {
  type AuthorityFacts,
  type AuthorityInput,
  commitDoubt,
  factsOf,
  includesPerson,
  isOutdated,
  mayAlone,
  mayAloneInArea,
  peopleOf,
  supportersOf,
} from './supporters.ts';

export type { AuthorityInput } from './supporters.ts';

type Authority = 'allow' | 'needs' | 'deny';

export interface AuthorityDecision {
  readonly authority: Authority;
  /** One line: who must act, and what is missing. */
  readonly headline: string;
  readonly subjects: readonly SubjectDecision[];
  readonly needs: readonly Need[];
  /** Why nothing is merged although it is allowed. */
  readonly holds: readonly string[];
  /** Why Portolan leaves the merge of what is allowed to people; the status does not wait for it. */
  readonly byHand: readonly string[];
  /** Owners' entries that do not count, and what is odd about the commits. */
  readonly warnings: readonly string[];
}

/** The decision for a package, or for a part of the repository. */
interface SubjectDecision {
  /** As {@link subjectOf} names it. */
  readonly subject: string;
  readonly classes: readonly AllowableClass[];
  readonly authority: Authority;
  readonly reasons: readonly string[];
}

/** Decides whether the author may make this change, and which approvals it still needs. */
export function decideAuthority(input: AuthorityInput): AuthorityDecision {
  const { policy } = input;
  if (!policy) return refusal('cannot read the policy on the base branch: an admin must correct it there');
  const given = factsOf(input, policy);
  const refused = refusedFor(given);
  if (refused !== undefined) return refusal(refused, given.warnings);
  const decided = [
    ...[...input.change.packages.values()].map((change) => decidePackage(given, change)),
    ...input.change.areas.map((change) => decideArea(given, change)),
  ];
  const needs = mergeNeeds([...wholeNeeds(given), ...decided.flatMap((subject) => subject.needs)]);
  const subjects = decided.map(({ decision }) => decision);
  return {
    authority: needs.length === 0 ? 'allow' : 'needs',
    headline: needs.length === 0 ? allowText(subjects) : needText(needs),
    subjects,
    needs,
    holds: [...input.holds, ...objections(given)],
    byHand: missingReviews(given),
    warnings: [...new Set(given.warnings)],
  };
}

/**
 * Joins the decisions on a pull request and on the commit that its merge makes: a refusal if either is one,
 * else with what either of them needs.
 */
export function bothOf(one: AuthorityDecision, other: AuthorityDecision): AuthorityDecision {
  const denied = [one, other].find(({ authority }) => authority === 'deny');
  if (denied) return denied;
  const needs = mergeNeeds([...one.needs, ...other.needs]);
  return {
    authority: needs.length === 0 ? 'allow' : 'needs',
    headline: needs.length === 0 ? one.headline : needText(needs),
    subjects: joinedSubjects([...one.subjects, ...other.subjects]),
    needs,
    holds: [...new Set([...one.holds, ...other.holds])],
    byHand: [...new Set([...one.byHand, ...other.byHand])],
    warnings: [...new Set([...one.warnings, ...other.warnings])],
  };
}

/** One decision for each subject: anything but an approval outweighs an approval. */
function joinedSubjects(all: readonly SubjectDecision[]): SubjectDecision[] {
  const joined = new Map<string, SubjectDecision>();
  for (const decision of all) {
    const known = joined.get(decision.subject) ?? decision;
    joined.set(decision.subject, {
      subject: decision.subject,
      classes: [...new Set([...known.classes, ...decision.classes])],
      authority: known.authority === 'allow' ? decision.authority : known.authority,
      reasons: [...new Set([...known.reasons, ...decision.reasons])],
    });
  }
  return [...joined.values()];
}

/** A decision that no approval can change. */
function refusal(reason: string, warnings: readonly string[] = []): AuthorityDecision {
  return {
    authority: 'deny',
    headline: `denied: ${reason}`,
    subjects: [],
    needs: [],
    holds: [],
    byHand: [],
    warnings,
  };
}

/** Why the change is refused whatever anybody approves; undefined if approvals can help. */
function refusedFor(given: AuthorityFacts): string | undefined {
  const { change, policy, author } = given;
  const [defect] = [...change.unsafe, ...change.ownerDefects];
  if (defect) return defect.message;
  const foreign = change.foreign.find(({ owners, placeOwners }) => !sameOwners(owners, placeOwners));
  if (foreign) {
    const { file, line } = foreign.location;
    return `${file}:${line} adds content of package ${JSON.stringify(foreign.package)} to the folder of ${JSON.stringify(foreign.place)}, which has other owners`;
  }
  if (includesPerson(peopleOf(policy.owners.blocked, given), author))
    return `@${author.login} is blocked by the policy`;
  const gate = change.areas.some(({ area }) => area === 'gate');
  if (
    gate &&
    (change.areas.length > 1 || change.packages.size > 0) &&
    !isOfOwnersAlone(change) &&
    !isBesideCatalogs(change)
  ) {
    return "policy changes need their own pull request: move Portolan's policy and workflows, CODEOWNERS and OWNERS_ALIASES to a separate one";
  }
  return undefined;
}

/** Whether a change is of prow's owners alone: aliases are of no use without the OWNERS that name them. */
function isOfOwnersAlone({ areas, packages }: AuthorityFacts['change']): boolean {
  return packages.size === 0 && areas.every(({ paths }) => paths.every((path) => PROW_OWNERS.test(path)));
}

/** Whether a change has files of owners, and files outside of catalogs: admins are asked for both. */
function isBesideCatalogs({ areas, packages }: AuthorityFacts['change']): boolean {
  return (
    packages.size === 0 &&
    areas.every(({ area, paths }) =>
      area === 'gate' ? paths.every((path) => OF_OWNERS.test(path)) : BESIDE.has(area),
    )
  );
}

/** Areas of files that no package and no gate has. */
const BESIDE: ReadonlySet<AreaChange['area']> = new Set(['repository', 'root', 'unknown']);
/** Files that name the owners of the whole repository. */
const OF_OWNERS = /(?:^|\/)CODEOWNERS$|^OWNERS_ALIASES$/;
/** Files of owners as prow reads them. */
const PROW_OWNERS = /(?:^|\/)OWNERS$|^OWNERS_ALIASES$/;

interface Decided {
  readonly decision: SubjectDecision;
  readonly needs: readonly Need[];
}

/** Decides who must still approve the changes of one package. */
function decidePackage(given: AuthorityFacts, change: PackageChange): Decided {
  const { policy } = given;
  const subject = subjectOf(change);
  const classes = [...change.classes];
  // A program's scope does not replace the approvals for the number of clusters that a merge reaches.
  if (mayAlone(given, change) && demandsOfReach(given).length === 0) {
    const reasons = [`the policy allows @${given.author.login} this change`];
    return { decision: { subject, classes, authority: 'allow', reasons }, needs: [] };
  }
  const owners = peopleOf(change.owners.identities, given);
  // If the author is the only admin, an owner must be another person.
  const others = hasOnlyAdmin(policy)
    ? owners.filter((owner) => !includesPerson(given.admins, owner))
    : owners;
  const demands = demandsOnPackage(change, { ...given, hasOwners: others.length > 0 });
  const decided = decideDemands(given, { subject, classes, owners, demands });
  const unnamed = ownersMissing(given, change);
  if (!unnamed) return decided;
  const decision: SubjectDecision = { ...decided.decision, authority: 'needs' };
  return { decision, needs: [unnamed, ...decided.needs] };
}

/** Decides who must still approve the changes of an area, such as the policy or files outside of catalogs. It has no owners. */
function decideArea(given: AuthorityFacts, change: AreaChange): Decided {
  if (mayAloneInArea(given, change)) {
    const reasons = [`the policy allows @${given.author.login} this change`];
    return {
      decision: { subject: subjectOf(change), classes: [change.area], authority: 'allow', reasons },
      needs: [],
    };
  }
  if (isFree(change, given.policy)) {
    const reasons = ['the policy lets anybody change files outside the catalogs'];
    const decision = {
      subject: subjectOf(change),
      classes: [change.area],
      authority: 'allow' as const,
      reasons,
    };
    return { decision, needs: [] };
  }
  const demands = demandsOnArea(change, given);
  return decideDemands(given, { subject: subjectOf(change), classes: [change.area], owners: [], demands });
}

interface Subject {
  readonly subject: string;
  readonly classes: readonly AllowableClass[];
  readonly owners: readonly Person[];
  readonly demands: readonly Demand[];
}

/** Compares what is demanded with who approved. @returns `needs` with the people who can meet what is missing */
function decideDemands(given: AuthorityFacts, { subject, classes, owners, demands }: Subject): Decided {
  const { supporters, reasons } = supportersOf(given, subject, owners);
  const missing = missingFor(demands, supporters);
  // Their approval is there already, or would not count: nobody asks them.
  const notAsked = [
    given.author,
    ...(given.pusher ? [given.pusher] : []),
    ...supporters.map(({ person }) => person),
  ];
  const why = [
    ...new Set(demands.filter((demand) => !isMet(demand, supporters)).map((demand) => demand.why)),
  ].join(', ');
  const candidates = {
    admins: loginsBut(given.admins, notAsked),
    owners: loginsBut(owners, notAsked),
    subject,
    why,
  };
  const asked = needsFor(missing, candidates);
  const stuck = asked.some(({ from, count }) => from.length < count);
  const own = stuck ? ownCommitNeed(given, { subject, owners, demands, supporters, candidates }) : undefined;
  const needs = own ? [own] : asked;
  // First of all: until the base branch comes in, no approval counts.
  if (needs.length > 0 && isOutdated(given, subject)) needs.unshift(updateNeed(given, subject));
  const authority = needs.length === 0 ? 'allow' : 'needs';
  return { decision: { subject, classes, authority, reasons }, needs };
}

interface Stuck extends Pick<Subject, 'subject' | 'owners' | 'demands'> {
  readonly supporters: readonly Supporter[];
  readonly candidates: Candidates;
}

/**
 * What the author must do where nobody is left who could approve, although somebody could if the head were pushed and
 * its commits were written by other people; undefined where that would not help.
 */
function ownCommitNeed(given: AuthorityFacts, stuck: Stuck): Need | undefined {
  const { author, pusher, admins } = given;
  const { subject, owners, demands, supporters, candidates } = stuck;
  const need = (why: string): Need => ({
    who: 'author',
    count: 1,
    from: [author.login],
    subjects: [subject],
    why,
  });
  const isEnough = (more: readonly Supporter[]): boolean =>
    needsFor(missingFor(demands, [...supporters, ...more]), candidates).every(
      ({ from, count }) => from.length >= count,
    );
  const doesAuthorCount = supporters.some((one) => one.author);
  if (!doesAuthorCount && (includesPerson(admins, author) || includesPerson(owners, author))) {
    const doubt = commitDoubt(given, owners);
    const own = { person: author, admin: includesPerson(admins, author), author: true };
    if (doubt && isEnough([own])) return need(`${doubt.found}, and nobody else can approve: ${doubt.remedy}`);
  }
  if (!pusher || pusher.bot === true || samePerson(pusher, author)) return undefined;
  const mayPusherApprove = includesPerson(admins, pusher) || includesPerson(owners, pusher);
  const other = { person: pusher, admin: includesPerson(admins, pusher), author: false };
  if (!mayPusherApprove || !isEnough([other])) return undefined;
  return need(
    `@${pusher.login} pushed the head, and nobody else can approve: @${author.login} must push a new commit, so that @${pusher.login} can approve it`,
  );
}

/** The base branch must come into the pull request before anybody can approve what it changes. */
function updateNeed({ author }: AuthorityFacts, subject: string): Need {
  const why = `the base branch has since changed what this pull request replaces in ${subject}: merge the base branch into the pull request so that it can be approved`;
  return { who: 'author', count: 1, from: [author.login], subjects: [subject], why };
}

/** A new package must come with owners who are somebody, unless an admin brings it. */
function ownersMissing(given: AuthorityFacts, change: PackageChange): Need | undefined {
  const { policy, admins, author } = given;
  if (!change.classes.has('new-package') || includesPerson(admins, author)) return undefined;
  if (peopleOf(change.ownersAfter.identities, given).length > 0) return undefined;
  const file = policy.owners.sources.find(({ path }) => path.includes('{package}'))?.path;
  if (file === undefined) return undefined;
  const why = `${file.replaceAll('{package}', () => change.name)} must list owners of the new package`;
  return { who: 'author', count: 1, from: [author.login], subjects: [subjectOf(change)], why };
}

/** What is still needed for the pull request as a whole. */
function wholeNeeds(given: AuthorityFacts): Need[] {
  const { change, policy, author, authorship } = given;
  const demands = [...authorship.demands];
  if (change.packages.size + change.areas.length === 0) demands.push('the pull request changes nothing');
  const needs = demands.map(
    (why): Need => ({ who: 'author', count: 1, from: [author.login], subjects: [], why }),
  );
  if (policy.approval.multiPackage === 'admins' && change.packages.size > 1) {
    const demand = { anyOf: [{ owners: 0, admins: 1 }], otherAdmin: false, why: 'changes several packages' };
    const names = [...change.packages.values()].map(subjectOf);
    // An admin must stand behind each of them: approvals are of contents, not of pull requests.
    for (const subject of names) {
      needs.push(...decideDemands(given, { subject, classes: [], owners: [], demands: [demand] }).needs);
    }
  }
  return needs;
}

/** Owners and admins whose last word is against the change. */
function objections(given: AuthorityFacts): string[] {
  const owners = [...given.change.packages.values()].flatMap((change) =>
    peopleOf(change.owners.identities, given),
  );
  return given.decisions
    .filter(
      ({ state, author }) =>
        state === 'changes-requested' && includesPerson([...given.admins, ...owners], author),
    )
    .map(({ author }) => `@${author.login} requested changes`);
}

/**
 * Why Portolan leaves the merge to people: files outside the catalogs that nobody had to approve, and no
 * admin did. Portolan merges only what somebody had to approve.
 */
function missingReviews(given: AuthorityFacts): string[] {
  const isAsked = (change: AreaChange): boolean =>
    !isFree(change, given.policy) ||
    supportersOf(given, subjectOf(change), []).supporters.some(({ admin }) => admin);
  const owned = new Set([...given.change.packages.values()].flatMap(({ paths }) => paths));
  const free = given.change.areas
    .filter((change) => !isAsked(change))
    .flatMap(({ paths }) => paths.filter((path) => !owned.has(path)));
  const [first] = free;
  if (first === undefined) return [];
  const more = free.length > 1 ? ` and ${free.length - 1} more` : '';
  return [`nobody is asked about ${first}${more}, outside the catalogs: merge it by hand`];
}

/** The first reason of each subject, two at most: a status shows one line. */
function allowText(subjects: readonly SubjectDecision[]): string {
  const reasons = new Set(subjects.flatMap(({ reasons: [first] }) => first ?? []));
  return `allowed: ${[...reasons].slice(0, 2).join('; ')}`;
}

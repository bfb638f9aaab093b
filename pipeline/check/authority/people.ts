/** The people of a pull request: what is known of them, and who must act. */

import { compareFindings, type Finding } from '../../../catalog/finding.ts';
import { reachedClusters } from '../../../catalog/olm/fleet/count.ts';
import { RULES } from '../../../catalog/rules/index.ts';
import { type Change, subjectDigests } from '../../change/change.ts';
import type { Trees } from '../../change/classification-input.ts';
import { PipelineError } from '../../error.ts';
import { leftBranchAt } from '../../git/merge.ts';
import { broughtCommits } from '../../git/merged-commits.ts';
import type { Repository } from '../../git/repository.ts';
import {
  type Directory,
  EMPTY_DIRECTORY,
  type Identity,
  type Person,
  resolvePeople,
  samePerson,
} from '../../policy/identity.ts';
import type { Policy } from '../../policy/policy.ts';
import type { CatalogResult } from '../content/catalog-rules.ts';
import type { FleetResult } from '../fleet/check-fleet.ts';
import { type GivenReview, lastDecisions, type Review } from './approval.ts';
import { type AuthorityDecision, type AuthorityInput, bothOf, decideAuthority } from './authority.ts';
import { type CommitFacts, claimedCommits } from './authorship.ts';
import type { Reach } from './required-approvals.ts';

/** The author of a pull request, its commits and its reviews. */
export interface People {
  readonly author: Person;
  readonly pusher: Person | undefined;
  /** In the order in which they were submitted. */
  readonly reviews: readonly GivenReview[];
  /** Undefined without a forge that lists them: what the policy asks of commits is then read from git. */
  readonly commits: readonly CommitFacts[] | undefined;
  /**
   * Id of the newest commit that was the base branch's tip and is an ancestor of a reviewed commit; undefined when
   * there is none. It is found in the clone's history without.
   */
  readonly leftBaseAt?: (commit: string) => Promise<string | undefined>;
  /** Looks up who the names in owners' lists are; without it they are what they say. */
  readonly directoryFor?: (identities: readonly Identity[]) => Promise<Directory>;
  /** Reasons of others not to merge: a draft, a label. */
  readonly holds: readonly string[];
}

/** Rules about removed versions and upgrades that somebody still needs. */
const PRUNING: ReadonlySet<string> = new Set(
  RULES.filter(({ harm }) => harm?.kind === 'loss').map(({ id }) => id),
);

/** A pull request's commits, what it changes, and the policy that holds. */
interface PullRequestChange {
  readonly base: string;
  readonly head: string;
  /** Id of their latest common ancestor, where the clone has no history to find it in. */
  readonly ancestor?: string;
  readonly change: Change;
  /** The change with what the merge itself commits; undefined where it commits nothing of its own. */
  readonly committed: Change | undefined;
  readonly policy: Policy;
  /** The same between other trees, under the same policy. */
  readonly changeBetween: (trees: Trees) => Promise<BothChanges>;
}

/** The changes of a pull request, without and with the merge's own commit. */
export type BothChanges = Pick<PullRequestChange, 'change' | 'committed'>;

/** Looks up accounts and their reviews. */
interface PeopleLookups {
  /** For the change itself, and for what the merge commits, whose approvals are of the same reviews. */
  readonly own: KnownReviews;
  readonly committed: KnownReviews;
  readonly directory: Directory;
  readonly commits: readonly CommitFacts[] | undefined;
}

type KnownReviews = Pick<AuthorityInput, 'content' | 'headContent' | 'reviews'>;

/**
 * What the decision about a change needs to know of people: the directory, and what each review has seen.
 *
 * @throws PipelineError as the looking up
 */
export async function knownOf(
  repository: Repository,
  changed: PullRequestChange,
  people: People,
): Promise<PeopleLookups> {
  const { head, change, committed, policy } = changed;
  const identities = identitiesIn(policy, committed ? [change, committed] : [change]);
  const [atHead, directory = EMPTY_DIRECTORY, commits] = await Promise.all([
    changeAt(repository, changed, { commit: head, people }),
    people.directoryFor?.(identities),
    commitsOf(repository, changed, people),
  ]);
  const asked = resolvePeople(identities, { directory, allowTeams: policy.owners.allowTeams });
  const seen = await changesSeen(repository, changed, { people, asked: asked.people });
  // For the change itself, and once more with what the merge commits.
  const knownFor = (one: keyof BothChanges): KnownReviews => ({
    content: digestsOf(changed, one),
    // An approval of a head that cannot be read counts as outdated. If nobody approved it, the change itself stands in.
    headContent: digestsOf(atHead ?? (isApproved(people, head) ? undefined : changed), one),
    reviews: people.reviews.map((review): Review => {
      const changes = review.commit === head ? atHead : seen.get(review.commit ?? '');
      const content = digestsOf(changes, one);
      if (one === 'committed' && review.commit !== head) forgetUnseen(content, changes?.change);
      return { ...review, content };
    }),
  });
  return { own: knownFor('change'), committed: knownFor('committed'), directory, commits };
}

/**
 * The commits to check: as the forge lists them, or from git if the policy asks for sign-offs or signatures.
 */
async function commitsOf(
  repository: Repository,
  { base, head, policy }: PullRequestChange,
  { commits, author }: People,
): Promise<People['commits']> {
  const { signOff, verified } = policy.commits;
  if (commits || !(signOff || verified)) return commits;
  return claimedCommits(await broughtCommits(repository, base, head), author);
}

/** Whether anybody approved this very commit. */
function isApproved({ reviews }: People, commit: string): boolean {
  return reviews.some((review) => review.commit === commit && review.state === 'approved');
}

/** Digests of the subjects of a change; none if the change is unknown, so that no approval matches it. */
function digestsOf(changes: BothChanges | undefined, one: keyof BothChanges): Map<string, string> {
  return new Map(changes?.[one] ? subjectDigests(changes[one]) : []);
}

/**
 * Removes the digests of subjects that only the merge writes: no commit shows them, so only an approval of
 * the head counts for them.
 */
function forgetUnseen(content: Map<string, string>, own: Change | undefined): void {
  const seen = own && subjectDigests(own);
  for (const subject of [...content.keys()]) if (!seen?.has(subject)) content.delete(subject);
}

interface CheckedPeople extends Pick<PullRequestChange, 'head' | 'change' | 'committed' | 'policy'> {
  readonly results: readonly CatalogResult[];
  readonly known: PeopleLookups | undefined;
  readonly fleet: FleetResult;
}

/** The people who must act; undefined if authority was not checked. */
export function checkPeople(
  { head, change, committed, policy, results, known, fleet }: CheckedPeople,
  people: People | undefined,
): AuthorityDecision | undefined {
  if (!people || !known) return undefined;
  const accepted = results.flatMap((result) => result.accepted ?? []);
  const findings: readonly Finding[] = [...results.flatMap((result) => result.findings), ...accepted].sort(
    compareFindings,
  );
  const refused = findings.filter(({ rule, severity }) => PRUNING.has(rule) && severity === 'error');
  const given = {
    directory: known.directory,
    policy,
    author: people.author,
    pusher: people.pusher,
    head,
    commits: known.commits,
    prunesRefused: packagesOf(refused),
    accepted: packagesOf(accepted),
    holds: people.holds,
    reach: reachOf(fleet),
  };
  const decision = decideAuthority({ ...given, ...known.own, change });
  // The commit that the merge makes gets no check of its own: it is decided here.
  return committed
    ? bothOf(decision, decideAuthority({ ...given, ...known.committed, change: committed }))
    : decision;
}

function packagesOf(findings: readonly Finding[]): Set<string> {
  return new Set(findings.flatMap(({ package: name }) => name ?? []));
}

/** How many clusters the merge reaches; `unknown` where the fleet cannot be read, undefined where there is none. */
function reachOf({ report, why }: FleetResult): Reach | undefined {
  if (report) return { clusters: reachedClusters(report), total: report.total };
  return why === undefined ? undefined : 'unknown';
}

/** Everybody whom the policy and the packages' owners name. */
function identitiesIn({ owners }: Policy, changes: readonly Change[]): Identity[] {
  const ofPackages = changes
    .flatMap(({ packages }) => [...packages.values()])
    .flatMap((change) => [...change.owners.identities, ...change.ownersAfter.identities]);
  return [...owners.admins, ...owners.blocked, ...ofPackages];
}

/** For each commit that somebody with a say approved, and that is not the head, what it changes. */
async function changesSeen(
  repository: Repository,
  changed: PullRequestChange,
  { people, asked }: { readonly people: People; readonly asked: readonly Person[] },
): Promise<Map<string, BothChanges>> {
  const seen = new Map<string, BothChanges>();
  for (const { commit, state, author } of lastDecisions(people.reviews)) {
    if (commit === undefined || commit === changed.head || seen.has(commit)) continue;
    // Anybody may review: what strangers approved is not looked at.
    if (state !== 'approved' || !asked.some((person) => samePerson(person, author))) continue;
    const changes = await changeAt(repository, changed, { commit, people });
    if (changes) seen.set(commit, changes);
  }
  return seen;
}

/**
 * What a commit changes against the base branch where it left it; undefined for a commit that cannot be read any more,
 * or that never was on the branch: an approval of it approves nothing.
 */
async function changeAt(
  repository: Repository,
  { base, head, ancestor: known, changeBetween, ...now }: PullRequestChange,
  { commit, people }: { readonly commit: string; readonly people: People },
): Promise<BothChanges | undefined> {
  try {
    await repository.bring([commit]);
    if (!(await repository.objects.info(commit))) return undefined;
    // What nobody approved need not be known so exactly: a common ancestor may have come in with a merge.
    const leftBase =
      commit === head && known !== undefined && (known === base || !isApproved(people, commit))
        ? known
        : await (people.leftBaseAt?.(commit) ?? leftBranchAt(repository, base, commit));
    if (leftBase === undefined) return undefined;
    if (commit === head && leftBase === base) return now;
    await repository.bring([leftBase]);
    return await changeBetween({ base: leftBase, merged: commit });
  } catch (error) {
    if (error instanceof PipelineError && UNREADABLE.has(error.code)) return undefined;
    throw error;
  }
}

const UNREADABLE: ReadonlySet<string> = new Set(['not-found', 'too-large']);

/** The people of a pull request: what is known of them, and who must act. */
import { compareFindings, type Finding } from '../../catalog/finding.ts';
import type { Change } from '../change/change.ts';
import { contentDigests, type DigestInput } from '../change/digest.ts';
import { PipelineError } from '../error.ts';
import type { Repository } from '../git/repository.ts';
import type { Review } from '../github/approval.ts';
import { type AuthorityDecision, type AuthorityInput, bothOf, judgeAuthority } from '../github/authority.ts';
import type { CommitFacts } from '../github/authorship.ts';
import { type Directory, EMPTY_DIRECTORY, type Identity, type Person } from '../github/identity.ts';
import type { GivenReview } from '../github/pull-request.ts';
import type { Policy } from '../policy/policy.ts';
import type { Judgement } from './judge.ts';

/** Who wrote a pull request and what was said of it. */
export interface People {
  readonly author: Person;
  readonly pusher: Person | undefined;
  /** In the order in which they were submitted. */
  readonly reviews: readonly GivenReview[];
  readonly commits: readonly CommitFacts[] | undefined;
  /** Looks up who the names in owners' lists are; without it they are what they say. */
  readonly directoryFor?: (identities: readonly Identity[]) => Promise<Directory>;
  /** Reasons of others not to merge: a draft, a label. */
  readonly holds: readonly string[];
}

/** Rules whose findings mean that what was taken away is missed by somebody. */
const PRUNING: ReadonlySet<string> = new Set([
  'graph/strands-installed-v0',
  'graph/strands-installed-v1',
  'graph/upgrade-lost-v1',
  'graph/channel-removed',
  'graph/package-removed',
]);

/** A pull request's commits, what it changes, and the policy that holds. */
export interface Changed {
  readonly base: string;
  readonly head: string;
  readonly change: Change;
  /** The change with what the merge itself commits; undefined where it commits nothing of its own. */
  readonly committed: Change | undefined;
  readonly policy: Policy;
}

/** What is looked up of people and their reviews. */
export type Known = Pick<AuthorityInput, 'content' | 'reviews' | 'directory'>;

/** @throws PipelineError as the looking up */
export async function knownOf(repository: Repository, changed: Changed, people: People): Promise<Known> {
  const { base, head, change, committed, policy } = changed;
  const [content, reviews, directory = EMPTY_DIRECTORY] = await Promise.all([
    contentDigests(repository, { base, commit: head, change, policy }),
    readReviewed(repository, changed, people.reviews),
    people.directoryFor?.(identitiesIn(policy, committed ? [change, committed] : [change])),
  ]);
  return { content, reviews, directory };
}

export interface Judged extends Changed {
  readonly judgements: readonly Judgement[];
  readonly known: Known | undefined;
}

/** Who must act; undefined where nobody was named to judge. */
export function judgePeople(
  { head, change, committed, policy, judgements, known }: Judged,
  people: People | undefined,
): AuthorityDecision | undefined {
  if (!people || !known) return undefined;
  const findings: readonly Finding[] = judgements
    .flatMap((judgement) => judgement.findings)
    .sort(compareFindings);
  const refused = findings.filter(({ rule, severity }) => PRUNING.has(rule) && severity === 'error');
  const given = {
    ...known,
    policy,
    author: people.author,
    pusher: people.pusher,
    head,
    commits: people.commits,
    prunesRefused: new Set(refused.flatMap(({ package: name }) => (name === undefined ? [] : [name]))),
    holds: people.holds,
  };
  const decision = judgeAuthority({ ...given, change });
  // Nobody judges a commit of the merge any more. What is nowhere at the head is approved with the head alone.
  return committed ? bothOf(decision, judgeAuthority({ ...given, change: committed })) : decision;
}

/** Everybody whom the policy and the packages' owners name. */
function identitiesIn({ owners }: Policy, changes: readonly Change[]): Identity[] {
  const ofPackages = changes
    .flatMap(({ packages }) => [...packages.values()])
    .flatMap((change) => [...change.owners.identities, ...change.ownersAfter.identities]);
  return [...owners.admins, ...owners.blocked, ...ofPackages];
}

/** Approvals with what they were of; a commit that cannot be read any more approves nothing. */
async function readReviewed(
  repository: Repository,
  { base, head, change, policy }: Changed,
  reviews: readonly GivenReview[],
): Promise<Review[]> {
  const contents = new Map<string, ReadonlyMap<string, string> | undefined>();
  for (const { commit, state } of reviews) {
    if (commit === undefined || commit === head || state !== 'approved' || contents.has(commit)) continue;
    contents.set(commit, await contentAt(repository, { base, commit, change, policy }));
  }
  return reviews.map((review) => ({ ...review, content: contents.get(review.commit ?? '') }));
}

async function contentAt(
  repository: Repository,
  input: DigestInput,
): Promise<ReadonlyMap<string, string> | undefined> {
  try {
    await repository.bring([input.commit]);
    return await contentDigests(repository, input);
  } catch (error) {
    if (error instanceof PipelineError && error.code === 'not-found') return undefined;
    throw error;
  }
}

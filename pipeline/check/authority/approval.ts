/**
 * Approvals: reviews by people, each for what it saw: what the reviewed commit replaced,
 * by what, and the classes of that change. When any of them is another now, the review
 * says nothing about it.
 */
import { type Person, samePerson } from '../../policy/identity.ts';

/** A review as somebody gave it. */
export interface GivenReview {
  readonly author: Person;
  readonly state: 'approved' | 'changes-requested' | 'dismissed' | 'commented';
  /** Id of the reviewed commit; undefined when GitHub no longer knows. */
  readonly commit: string | undefined;
}

export interface Review extends GivenReview {
  /** Digest of each subject as of that commit; undefined when the commit cannot be read. */
  readonly content: ReadonlyMap<string, string> | undefined;
}

/** The state that an approval must still match. */
interface Pinned {
  readonly by: 'content' | 'head';
  readonly head: string;
  /** Digest of each subject as the merge will change it. */
  readonly content: ReadonlyMap<string, string>;
}

/**
 * Each reviewer's latest decision, in the order of these decisions. A comment decides nothing: on GitHub, an
 * approval holds when its author comments later.
 */
export function lastDecisions<T extends Pick<Review, 'author' | 'state'>>(reviews: readonly T[]): T[] {
  const decisions: T[] = [];
  for (const review of reviews) {
    if (review.state === 'commented') continue;
    const before = decisions.findIndex(({ author }) => samePerson(author, review.author));
    if (before >= 0) decisions.splice(before, 1);
    decisions.push(review);
  }
  return decisions;
}

/** Whether a review is of what the merge changes of a subject. */
export function isCurrent({ commit, content }: Review, subject: string, pinned: Pinned): boolean {
  if (pinned.by === 'head' && commit !== pinned.head) return false;
  // Contents are compared even at the head: once the base branch has moved, the same head makes another change.
  const seen = content?.get(subject);
  return seen !== undefined && seen === pinned.content.get(subject);
}

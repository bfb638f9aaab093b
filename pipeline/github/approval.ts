/**
 * Approvals: reviews by people, each for what it saw. A review stands for the content
 * of a package at the commit that was reviewed; when that content is no longer what the
 * pull request brings, the review says nothing about it.
 */
import { type Person, samePerson } from './identity.ts';

export interface Review {
  readonly author: Person;
  readonly state: 'approved' | 'changes-requested' | 'dismissed' | 'commented';
  /** Id of the reviewed commit; undefined when GitHub no longer knows. */
  readonly commit: string | undefined;
  /** Digest of each subject at that commit; undefined when the commit cannot be read. */
  readonly content: ReadonlyMap<string, string> | undefined;
}

/** What an approval must still be true of. */
export interface Pinned {
  readonly by: 'content' | 'head';
  readonly head: string;
  /** Digest of each subject at the head. */
  readonly content: ReadonlyMap<string, string>;
}

/** The last word of everybody who decided something, in the order of these words. */
export function lastWords(reviews: readonly Review[]): Review[] {
  const words: Review[] = [];
  for (const review of reviews) {
    if (review.state === 'commented') continue;
    const before = words.findIndex(({ author }) => samePerson(author, review.author));
    if (before >= 0) words.splice(before, 1);
    words.push(review);
  }
  return words;
}

/** Whether a review is of what the head brings for a subject. */
export function isCurrent({ commit, content }: Review, subject: string, pinned: Pinned): boolean {
  if (commit === pinned.head) return true;
  if (pinned.by === 'head') return false;
  const seen = content?.get(subject);
  return seen !== undefined && seen === pinned.content.get(subject);
}

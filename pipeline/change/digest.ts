/**
 * Digests of what an approval is of: of each subject, what the change replaces (before
 * and after, place by place) and its classes. A merge of the base branch that touches
 * neither side keeps them; other content below or above, or another class, does not.
 */
import { createHash } from 'node:crypto';
import { type AreaChange, type Change, type PackageChange, subjectOf } from './change.ts';

/** Digest of each subject of a change, by the subject's name. */
export function subjectDigests(change: Change): ReadonlyMap<string, string> {
  return new Map(
    [...change.packages.values(), ...change.areas].map((subject) => [subjectOf(subject), digestOf(subject)]),
  );
}

function digestOf(subject: PackageChange | AreaChange): string {
  const classes = 'name' in subject ? [...subject.classes].sort() : [subject.area];
  const sides = [...subject.sides].sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify([classes, sides]))
    .digest('hex');
}

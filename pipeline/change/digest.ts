/**
 * Digests of what an approval is of: of each subject, what the change replaces (before
 * and after, place by place) and its classes. A merge of the base branch that touches
 * neither side keeps them; other content below or above, or another class, does not.
 */
import { createHash } from 'node:crypto';
import { groupedBy } from '../../catalog/go/grouped.ts';
import { type AreaChange, type Change, type PackageChange, subjectOf } from './change.ts';

/** Digest of each subject of a change, by the subject's name: of all that is called so, such as a catalog in two folders. */
export function subjectDigests(change: Change): ReadonlyMap<string, string> {
  const subjects = groupedBy([...change.packages.values(), ...change.areas], subjectOf);
  return new Map(
    [...subjects].map(([name, parts]) => {
      const [first = '', ...others] = parts.map(digestOf);
      return [name, others.length === 0 ? first : hashOf([first, ...others])];
    }),
  );
}

/** Digest of a part of a subject: of its classes and sides, in whatever order they were found. */
function digestOf(subject: PackageChange | AreaChange): string {
  const classes = 'name' in subject ? [...subject.classes].sort() : [subject.area];
  const sides = [...subject.sides].sort(([a], [b]) => (a < b ? -1 : 1));
  return hashOf([classes, sides]);
}

function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}

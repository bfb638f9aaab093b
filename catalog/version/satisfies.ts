/** Whether a version is in a range, however many alternatives that has. */
import { firstHolder } from './first-holder.ts';
import { type Comparator, compareVersions, type Version, type VersionRange } from './version.ts';

/** From so many on, the alternatives, or the comparators of one, are asked by way of an index. */
const MANY = 32;

const indexes = new WeakMap<VersionRange, (version: Version) => number>();

export function satisfies(version: Version, range: VersionRange): boolean {
  if (range.alternatives.length >= MANY || range.alternatives.some(({ length }) => length >= MANY)) {
    const index = indexes.get(range) ?? firstHolder([range]);
    indexes.set(range, index);
    return index(version) >= 0;
  }
  return range.alternatives.some(
    (comparators) => comparators.length > 0 && comparators.every((comparator) => holds(version, comparator)),
  );
}

function holds(version: Version, { operator, version: bound }: Comparator): boolean {
  const order = compareVersions(version, bound);
  switch (operator) {
    case '=':
      return order === 0;
    case '!=':
      return order !== 0;
    case '>':
      return order > 0;
    case '>=':
      return order >= 0;
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
  }
}

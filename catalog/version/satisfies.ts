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

/** The highest of some versions that a range holds, or undefined if it holds none. */
export function highestIn(ascending: readonly Version[], range: VersionRange): Version | undefined {
  const found = range.alternatives
    .flatMap((comparators) => highestOf(ascending, comparators) ?? [])
    .sort(compareVersions);
  return found.at(-1);
}

function highestOf(ascending: readonly Version[], comparators: readonly Comparator[]): Version | undefined {
  if (comparators.length === 0) return undefined;
  let from = 0;
  let to = ascending.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (comparators.some((comparator) => isBeyond(ascending[middle] as Version, comparator))) to = middle;
    else from = middle + 1;
  }
  // Below that, a version fails because the range excludes it, or because it and all others are too low.
  for (let at = from - 1; at >= 0; at--) {
    const version = ascending[at] as Version;
    const failed = comparators.filter((comparator) => !holds(version, comparator));
    if (failed.length === 0) return version;
    if (failed.some(({ operator }) => operator !== '!=')) return undefined;
  }
  return undefined;
}

/** Whether a version is higher than a comparator allows. */
function isBeyond(version: Version, { operator, version: bound }: Comparator): boolean {
  const order = compareVersions(version, bound);
  return operator === '<' ? order >= 0 : (operator === '<=' || operator === '=') && order > 0;
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

/** The part of a list of sorted versions that a range contains, as intervals of positions. */
import { type Comparator, compareVersions, type Version, type VersionRange } from '../version/version.ts';

/** Positions from `start` on, before `end`. */
export interface Interval {
  readonly start: number;
  readonly end: number;
}

/** The positions of sorted versions that a range covers: intervals in order, without overlap. */
export function intervalsOf(range: VersionRange, versions: readonly Version[]): Interval[] {
  const parts = range.alternatives
    .flatMap((comparators) => coveredBy(comparators, versions))
    .filter(({ start, end }) => start < end)
    .sort((a, b) => a.start - b.start);
  const joined: Interval[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (last && part.start <= last.end) {
      joined[joined.length - 1] = { start: last.start, end: Math.max(last.end, part.end) };
    } else joined.push(part);
  }
  return joined;
}

/** The interval that all comparators of an alternative allow, split where a version is excluded. */
function coveredBy(comparators: readonly Comparator[], versions: readonly Version[]): Interval[] {
  let [start, end] = [0, versions.length];
  const holes: Interval[] = [];
  for (const { operator, version } of comparators) {
    const at = { start: firstFrom(versions, version, 0), end: firstFrom(versions, version, 1) };
    if (operator === '!=') holes.push(at);
    if (operator === '=' || operator === '>=') start = Math.max(start, at.start);
    if (operator === '>') start = Math.max(start, at.end);
    if (operator === '=' || operator === '<=') end = Math.min(end, at.end);
    if (operator === '<') end = Math.min(end, at.start);
  }
  const parts: Interval[] = [];
  for (const hole of holes.sort((a, b) => a.start - b.start)) {
    parts.push({ start, end: Math.min(end, hole.start) });
    start = Math.max(start, hole.end);
  }
  return [...parts, { start, end }];
}

/** Position of the first version that is at least (0), or higher than (1), another. */
function firstFrom(versions: readonly Version[], version: Version, least: 0 | 1): number {
  let [low, high] = [0, versions.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareVersions(versions[middle] as Version, version) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

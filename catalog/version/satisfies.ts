/** Whether a version is in a range, however many alternatives that has. */
import { onceFor } from '../go/once.ts';
import { type Comparator, compareVersions, type Version, type VersionRange } from './version.ts';

/** From so many on, the alternatives, or the comparators of one, are asked by way of an index. */
const MANY = 32;

const indexOf = onceFor((range: VersionRange) => firstHolder([range]));

/** Whether a version is in a range. An alternative without comparators holds nothing. */
export function satisfies(version: Version, range: VersionRange): boolean {
  if (range.alternatives.length >= MANY || range.alternatives.some(({ length }) => length >= MANY)) {
    return indexOf(range)(version) >= 0;
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

/** The highest of sorted versions that meets all comparators, found by bisection. */
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

/** Whether a version meets a comparator. */
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

// Of many ranges, the first that holds a version. Built in O(n log n) and asked in
// O(log n), so that a channel of thousands of entries, each with a skipRange over all
// that came before, costs no square of them.

/** Position of the first range that holds the version, or -1. */
type FirstHolder = (version: Version) => number;

/**
 * Finds for a version the first of the ranges that holds it. The bounds of all ranges cut the line of versions into points
 * and the gaps between them; each is painted once, by the first range that covers it.
 */
export function firstHolder(ranges: readonly (VersionRange | undefined)[]): FirstHolder {
  const bounds = sortedBounds(ranges);
  const line = new Line(bounds.length * 2 + 1);
  const painted = new Set<VersionRange>();
  for (const [position, range] of ranges.entries()) {
    if (!range || painted.has(range)) continue;
    painted.add(range);
    for (const comparators of range.alternatives) paint(line, position, comparators, bounds);
  }
  return (version) => line.colour(cellOf(version, bounds));
}

/** The versions that stand in ranges, each once, the lowest first. */
function sortedBounds(ranges: readonly (VersionRange | undefined)[]): readonly Version[] {
  return [...new Set(ranges)]
    .flatMap((range) => range?.alternatives.flat() ?? [])
    .map(({ version }) => version)
    .sort(compareVersions)
    .filter((version, i, all) => i === 0 || compareVersions(all[i - 1] as Version, version) !== 0);
}

/** The cell of a version on the line of bounds: odd for a bound itself, even for the gap before a bound. */
function cellOf(version: Version, bounds: readonly Version[]): number {
  let low = 0;
  let high = bounds.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const order = compareVersions(bounds[middle] as Version, version);
    if (order === 0) return middle * 2 + 1;
    if (order < 0) low = middle + 1;
    else high = middle;
  }
  return low * 2;
}

/**
 * Paints the cells where all comparators hold. Cells of bounds and of the gaps between them alternate, so `>` begins
 * one cell later than `>=`. An empty list holds no version.
 */
function paint(
  line: Line,
  colour: number,
  comparators: readonly Comparator[],
  bounds: readonly Version[],
): void {
  if (comparators.length === 0) return;
  let from = 0;
  let to = bounds.length * 2;
  const holes = new Set<number>();
  for (const { operator, version } of comparators) {
    const cell = cellOf(version, bounds);
    if (operator === '!=') holes.add(cell);
    if (operator === '=' || operator === '>=') from = Math.max(from, cell);
    if (operator === '>') from = Math.max(from, cell + 1);
    if (operator === '=' || operator === '<=') to = Math.min(to, cell);
    if (operator === '<') to = Math.min(to, cell - 1);
  }
  line.paint(from, to, { colour, holes });
}

/**
 * Cells that keep the first colour that they are given. Painting passes over painted cells at once, so that each is
 * painted only once.
 */
class Line {
  readonly #colours: Int32Array;
  /** For each cell a cell at or after it, such that all before that one are painted. */
  readonly #blank: Int32Array;

  constructor(cells: number) {
    this.#colours = new Int32Array(cells).fill(-1);
    this.#blank = Int32Array.from({ length: cells + 1 }, (_, cell) => cell);
  }

  colour(cell: number): number {
    return this.#colours[cell] ?? -1;
  }

  /** Gives a colour to the cells from one to another that have none, except holes. */
  paint(from: number, to: number, { colour, holes }: { colour: number; holes: ReadonlySet<number> }): void {
    for (let cell = this.#nextBlank(from); cell <= to; cell = this.#nextBlank(cell + 1)) {
      if (holes.has(cell)) continue;
      this.#colours[cell] = colour;
      this.#blank[cell] = cell + 1;
    }
  }

  /** The first cell at or after a place that is not painted. */
  #nextBlank(from: number): number {
    let cell = from;
    while (this.#blank[cell] !== cell) {
      const next = this.#blank[cell] ?? cell;
      // Halving the path keeps later walks short.
      this.#blank[cell] = this.#blank[next] ?? next;
      cell = next;
    }
    return cell;
  }
}

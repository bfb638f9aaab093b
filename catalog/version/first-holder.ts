/**
 * Of many ranges, the first that holds a version. Built in O(n log n) and asked in
 * O(log n), so that a channel of thousands of entries, each with a skipRange over all
 * that came before, costs no square of them.
 */
import { type Comparator, compareVersions, type Version, type VersionRange } from './version.ts';

/** Position of the first range that holds the version, or -1. */
type FirstHolder = (version: Version) => number;

/**
 * The bounds of all ranges cut the line of versions into points and the gaps between
 * them; each is painted once, by the first range that covers it.
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

function sortedBounds(ranges: readonly (VersionRange | undefined)[]): readonly Version[] {
  return [...new Set(ranges)]
    .flatMap((range) => range?.alternatives.flat() ?? [])
    .map(({ version }) => version)
    .sort(compareVersions)
    .filter((version, i, all) => i === 0 || compareVersions(all[i - 1] as Version, version) !== 0);
}

/** The cell of a version: odd for the bound itself, even for the gap before a bound. */
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

/** Cells that take the first colour they are given, and forget that they were ever blank. */
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

  paint(from: number, to: number, { colour, holes }: { colour: number; holes: ReadonlySet<number> }): void {
    for (let cell = this.#nextBlank(from); cell <= to; cell = this.#nextBlank(cell + 1)) {
      if (holes.has(cell)) continue;
      this.#colours[cell] = colour;
      this.#blank[cell] = cell + 1;
    }
  }

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

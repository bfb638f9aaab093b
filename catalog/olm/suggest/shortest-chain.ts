/**
 * The shortest chain of entries below a head that gives every installation an upgrade: a covering problem, with the
 * condition that each entry of the chain may follow the one before. It is solved exactly within a budget;
 * beyond that the result is a good chain together with a lower bound.
 */

export interface ChainProblem {
  /** Positions are 0 to size - 1, from the lowest version to the head, which is the last. */
  readonly size: number;
  /** Positions that may be entries, ascending; the head is one of them. */
  readonly candidates: readonly number[];
  /** Positions that must be entries. */
  readonly required: ReadonlySet<number>;
  /** Whether a position may be upgraded directly to a candidate above it. */
  readonly may: (from: number, to: number) => boolean;
}

interface Chain {
  /** Ascending; the last is the head. */
  readonly positions: readonly number[];
  /** No chain has fewer entries; equal to the number of positions where the chain is proven to be the shortest. */
  readonly atLeast: number;
}

/** Positions that searches may still look at. */
export interface SearchBudget {
  left: number;
  /** Pairs of an installation and a version that planners may still compare. */
  pairs: number;
}

/** Enough to prove the shortest chains of every real package, and about a second; 10 s for all pairs. */
export function searchBudget(): SearchBudget {
  return { left: 20_000_000, pairs: 10_000_000 };
}

/**
 * Finds the shortest chain.
 *
 * @param budget what it gives up proving without
 * @returns undefined where no chain is found that covers every position
 */
export function shortestChain(
  problem: ChainProblem,
  budget: SearchBudget = searchBudget(),
): Chain | undefined {
  const search = new Search(problem, budget);
  const least = search.chosen.length;
  const known = search.greedy();
  const most = known?.length ?? problem.candidates.length + 1;
  // The first limit within which there is a chain is its length.
  for (let limit = least; limit < most; limit++) {
    const found = search.within(limit);
    if (found === 'gave-up') return known && { positions: known, atLeast: limit };
    if (found) return { positions: found, atLeast: limit };
  }
  return known && { positions: known, atLeast: known.length };
}

class Search {
  readonly #problem: ChainProblem;
  readonly #head: number;
  /** How many chosen entries each position may be upgraded to. */
  readonly #covered: Int32Array;
  readonly #isChosen: Uint8Array;
  readonly #isExcluded: Uint8Array;
  readonly #options = new Map<number, readonly number[]>();
  #size = 0;
  readonly #budget: SearchBudget;

  constructor(problem: ChainProblem, budget: SearchBudget) {
    this.#problem = problem;
    this.#budget = budget;
    this.#head = problem.size - 1;
    this.#covered = new Int32Array(problem.size);
    this.#isChosen = new Uint8Array(problem.size);
    this.#isExcluded = new Uint8Array(problem.size);
    for (const position of [...problem.required, this.#head]) this.#choose(position);
    this.#chooseForced();
  }

  /** Ascending. */
  get chosen(): number[] {
    return this.#problem.candidates.filter((position) => this.#isChosen[position] === 1);
  }

  /** A chain that need not be the shortest, or undefined where none is found. */
  greedy(): number[] | undefined {
    const before = this.chosen;
    const found = this.#fillGreedily() ? this.#withoutNeedless(new Set(before)) : undefined;
    for (const position of this.chosen) if (!before.includes(position)) this.#drop(position);
    return found;
  }

  /**
   * Searches a chain of at most `limit` entries.
   *
   * @returns `gave-up` if the budget is spent, undefined if there is none
   */
  within(limit: number): number[] | 'gave-up' | undefined {
    this.#budget.left -= this.#problem.size;
    if (this.#budget.left < 0) return 'gave-up';
    const options = this.#openQuestion();
    if (!options) return this.#size <= limit ? this.chosen : undefined;
    if (this.#size >= limit) return undefined;
    const tried: number[] = [];
    let result: number[] | 'gave-up' | undefined;
    for (const option of options) {
      this.#choose(option);
      result = this.within(limit);
      this.#drop(option);
      if (result) break;
      // Every chain with this option has been seen.
      this.#isExcluded[option] = 1;
      tried.push(option);
    }
    for (const option of tried) this.#isExcluded[option] = 0;
    return result;
  }

  /** Candidates of which a valid chain has at least one, or undefined where the chosen ones are a valid chain. */
  #openQuestion(): readonly number[] | undefined {
    let fewest: readonly number[] | undefined;
    for (let position = 0; position < this.#head; position++) {
      if (this.#covered[position] !== 0) continue;
      const options = this.#optionsOf(position).filter((option) => this.#isExcluded[option] === 0);
      if (!fewest || options.length < fewest.length) fewest = options;
      // No question is cheaper than one with a single answer, or none.
      if (fewest.length < 2) return fewest;
    }
    return fewest ?? this.#gap();
  }

  /** The candidates between two neighbors of the chain where the upper one must not follow the lower one directly. */
  #gap(): readonly number[] | undefined {
    const { candidates, may } = this.#problem;
    const { chosen } = this;
    for (const [i, above] of chosen.entries()) {
      const below = chosen[i - 1];
      if (below === undefined || may(below, above)) continue;
      return candidates.filter(
        (position) => position > below && position < above && this.#isExcluded[position] === 0,
      );
    }
    return undefined;
  }

  /** The positions to which an upgrade may lead from one. */
  #optionsOf(position: number): readonly number[] {
    const { candidates, may } = this.#problem;
    let options = this.#options.get(position);
    if (!options) {
      // The highest first: it usually covers most.
      options = candidates.filter((to) => to > position && may(position, to)).reverse();
      this.#options.set(position, options);
    }
    return options;
  }

  /** Chooses what is the only way up for some position. */
  #chooseForced(): void {
    for (let position = this.#head - 1; position >= 0; position--) {
      if (this.#covered[position] !== 0) continue;
      const [only, another] = this.#optionsOf(position);
      if (only !== undefined && another === undefined) this.#choose(only);
    }
  }

  /**
   * Chooses, again and again, the entry that serves most of the positions without one.
   *
   * @returns whether all are served, and the chain has no gaps
   */
  #fillGreedily(): boolean {
    for (;;) {
      const gains = new Map<number, number>();
      for (let position = 0; position < this.#head; position++) {
        if (this.#covered[position] !== 0) continue;
        const options = this.#optionsOf(position);
        if (options.length === 0) return false;
        for (const option of options) gains.set(option, (gains.get(option) ?? 0) + 1);
      }
      const [best] = [...gains].sort(([a, x], [b, y]) => y - x || b - a);
      if (!best) break;
      this.#choose(best[0]);
    }
    return this.#closeGaps();
  }

  /** Adds the fewest candidates between neighbors that may not upgrade directly. @returns false if a gap cannot be closed */
  #closeGaps(): boolean {
    const { may } = this.#problem;
    const { chosen } = this;
    for (const [i, above] of chosen.entries()) {
      const below = chosen[i - 1];
      if (below === undefined || may(below, above)) continue;
      const between = this.#shortestBetween(below, above);
      if (!between) return false;
      for (const position of between) this.#choose(position);
    }
    return true;
  }

  /** The fewest candidates that lead from one to another, breadth first. */
  #shortestBetween(from: number, to: number): number[] | undefined {
    const { may } = this.#problem;
    const inner = this.#problem.candidates.filter((position) => position > from && position < to);
    const cameFrom = new Map<number, number>();
    let edge = [from];
    while (edge.length > 0) {
      const next: number[] = [];
      for (const at of edge) {
        if (at !== from && may(at, to)) return pathTo(at, from, cameFrom);
        for (const position of inner) {
          if (position <= at || cameFrom.has(position) || !may(at, position)) continue;
          cameFrom.set(position, at);
          next.push(position);
        }
      }
      edge = next;
    }
    return undefined;
  }

  /** The chosen ones without those that can go, the lowest first. */
  #withoutNeedless(keep: ReadonlySet<number>): number[] {
    for (const position of this.chosen) {
      if (keep.has(position)) continue;
      this.#drop(position);
      if (this.#openQuestion()) this.#choose(position);
    }
    return this.chosen;
  }

  #choose(position: number): void {
    if (this.#isChosen[position] === 1) return;
    this.#isChosen[position] = 1;
    this.#size++;
    this.#countDirectUpgrades(position, 1);
  }

  /** Takes a candidate out of the chain, and what it counted for out of the counts. */
  #drop(position: number): void {
    this.#isChosen[position] = 0;
    this.#size--;
    this.#countDirectUpgrades(position, -1);
  }

  /**
   * Counts a chosen position for each one that upgrades to it directly.
   *
   * @param by 1 for a position that is chosen, -1 for one that is given up
   */
  #countDirectUpgrades(to: number, by: number): void {
    const { may } = this.#problem;
    for (let from = 0; from < to; from++) {
      if (may(from, to)) this.#covered[from] = (this.#covered[from] ?? 0) + by;
    }
  }
}

/** The positions from behind `from` to `at`, by where a search came from. */
function pathTo(at: number, from: number, cameFrom: ReadonlyMap<number, number>): number[] {
  const path: number[] = [];
  for (let position: number | undefined = at; position !== undefined && position !== from; ) {
    path.push(position);
    position = cameFrom.get(position);
  }
  return path.reverse();
}

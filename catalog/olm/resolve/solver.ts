/**
 * A small solver for what OLM v0 asks of its own: find a set of bundles in which every
 * requirement is met, choosing among several ways the one that is named first. It makes the choices
 * of OLM's solver in the same order, so it finds the same set.
 *
 * @see https://github.com/operator-framework/operator-lifecycle-manager/tree/master/pkg/controller/registry/resolver/solver
 */
import { compareText } from '../../go/text.ts';

/** A variable that may be part of a solution. */
export interface Variable {
  readonly id: string;
  readonly constraints: readonly Constraint[];
}

export type Constraint =
  /** Must be part of the solution. */
  | { readonly kind: 'mandatory'; readonly text: string }
  | { readonly kind: 'prohibited'; readonly text: string }
  /** Needs one of these, rather an earlier one. */
  | { readonly kind: 'dependency'; readonly ids: readonly string[]; readonly text: string }
  | { readonly kind: 'conflict'; readonly id: string; readonly text: string }
  /**
   * At most one of these may be part of the solution, whether the subject is or not. What
   * stands here twice counts twice, and so may never be chosen.
   */
  | { readonly kind: 'at-most-one'; readonly ids: readonly string[]; readonly text: string };

type Solution =
  /** Identifiers in the order in which they were chosen. */
  | { readonly kind: 'solved'; readonly chosen: readonly string[] }
  /** Texts of constraints that cannot hold together, sorted; none of them can be left out. */
  | { readonly kind: 'unsatisfiable'; readonly because: readonly string[] }
  /** More guesses than `MAX_GUESSES`. */
  | { readonly kind: 'undecided' };

/** How often a choice may be made or taken back. Real catalogs need a few dozen. */
const MAX_GUESSES = 50_000;

/** Largest problem whose conflict is narrowed down, in constraints: each takes another search. */
const MAX_EXPLAINED = 400;

/**
 * Finds the solution that OLM's solver finds, or a set of constraints that contradict each other.
 *
 * @throws Error when a constraint names an unknown identifier: a bug of the caller
 */
export function solveConstraints(variables: readonly Variable[]): Solution {
  const outcome = new Search(variables).run();
  if (outcome !== 'unsatisfiable') return outcome;
  return { kind: 'unsatisfiable', because: conflictOf(variables) };
}

interface Choice {
  readonly ids: readonly string[];
  /** How many of them were tried. */
  tried: number;
}

interface Guess {
  readonly choice: Choice;
  /** Undefined where an earlier guess already met the choice. */
  readonly id: string | undefined;
  readonly added: number;
}

class Search {
  readonly #variables: ReadonlyMap<string, Variable>;
  readonly #anchors: readonly string[];
  /** For each identifier the groups of which at most one may be chosen. */
  readonly #groups = new Map<string, Group[]>();
  readonly #enemies = new Map<string, Set<string>>();
  readonly #chosen = new Set<string>();

  constructor(variables: readonly Variable[]) {
    this.#variables = new Map(variables.map((variable) => [variable.id, variable]));
    this.#anchors = variables
      .filter(({ constraints }) => constraints.some(({ kind }) => kind === 'mandatory'))
      .map(({ id }) => id);
    for (const { id, constraints } of variables) {
      for (const constraint of constraints) {
        if (constraint.kind === 'conflict') this.#makeEnemies(id, constraint.id);
        if (constraint.kind === 'at-most-one') this.#group(constraint.ids);
      }
    }
  }

  /** Searches a solution as OLM's solver does. What a choice needs is decided after everything that waits already. */
  run(): Exclude<Solution, { kind: 'unsatisfiable' }> | 'unsatisfiable' {
    const waiting: Choice[] = this.#anchors.map((id) => ({ ids: [id], tried: 0 }));
    const guesses: Guess[] = [];
    let next = 0;
    let effort = 0;
    while (next < waiting.length) {
      if (++effort > MAX_GUESSES) return { kind: 'undecided' };
      const choice = waiting[next] as Choice;
      const guess = this.#guess(choice, waiting, next);
      if (guess) {
        guesses.push(guess);
        next++;
        continue;
      }
      // After another guess before it, all of its possibilities are open again.
      choice.tried = 0;
      const last = this.#takeBack(guesses, waiting);
      if (!last) return 'unsatisfiable';
      // Each guess answers one of the waiting choices, in their order.
      next = guesses.length;
    }
    return { kind: 'solved', chosen: [...this.#chosen] };
  }

  /** Notes that two variables cannot both be true. */
  #makeEnemies(a: string, b: string): void {
    for (const [one, other] of [
      [a, b],
      [b, a],
    ] as const) {
      const enemies = this.#enemies.get(one) ?? new Set();
      enemies.add(other);
      this.#enemies.set(one, enemies);
    }
  }

  /** Makes a group of which at most one may be chosen. What is listed twice may never be. */
  #group(ids: readonly string[]): void {
    const once = new Set<string>();
    const twice = new Set<string>();
    for (const id of ids) (once.has(id) ? twice : once).add(id);
    const group: Group = { taken: 0, twice };
    for (const id of once) this.#groups.set(id, [...(this.#groups.get(id) ?? []), group]);
  }

  /** Takes the next possibility for a choice; undefined if none is left. */
  #guess(choice: Choice, waiting: Choice[], at: number): Guess | undefined {
    if (this.#isMet(choice)) return { choice, id: undefined, added: 0 };
    while (choice.tried < choice.ids.length) {
      const id = choice.ids[choice.tried++] as string;
      if (!this.#isPossible(id)) continue;
      this.#choose(id);
      const needs = this.#constraintsOf(id).flatMap((constraint) =>
        constraint.kind === 'dependency' ? [{ ids: constraint.ids, tried: 0 }] : [],
      );
      for (const need of needs) waiting.push(need);
      if (this.#leavesWays(waiting, at + 1)) return { choice, id, added: needs.length };
      this.#release(id);
      waiting.length -= needs.length;
    }
    return undefined;
  }

  #isMet(choice: Choice): boolean {
    return choice.ids.some((id) => this.#chosen.has(id));
  }

  /** Whether each waiting choice can still be met in some way: finds dead ends before walking into them. */
  #leavesWays(waiting: readonly Choice[], from: number): boolean {
    for (let i = from; i < waiting.length; i++) {
      const choice = waiting[i] as Choice;
      if (!this.#isMet(choice) && !choice.ids.some((id) => this.#isPossible(id))) return false;
    }
    return true;
  }

  /** Undoes guesses down to the last one that had another way. */
  #takeBack(guesses: Guess[], waiting: Choice[]): Guess | undefined {
    for (let guess = guesses.pop(); guess; guess = guesses.pop()) {
      if (guess.id === undefined) continue;
      this.#release(guess.id);
      waiting.length -= guess.added;
      if (guess.choice.tried < guess.choice.ids.length) return guess;
      guess.choice.tried = 0;
    }
    return undefined;
  }

  /** Whether a bundle may still be chosen: nothing chosen excludes it, and nothing that it needs is missing by itself. */
  #isPossible(id: string): boolean {
    if (this.#groups.get(id)?.some(({ taken, twice }) => taken > 0 || twice.has(id))) return false;
    // A bundle that excludes itself can never be chosen.
    for (const enemy of this.#enemies.get(id) ?? [])
      if (enemy === id || this.#chosen.has(enemy)) return false;
    return !this.#constraintsOf(id).some(
      (constraint) =>
        constraint.kind === 'prohibited' || (constraint.kind === 'dependency' && constraint.ids.length === 0),
    );
  }

  #choose(id: string): void {
    this.#chosen.add(id);
    for (const group of this.#groups.get(id) ?? []) group.taken++;
  }

  #release(id: string): void {
    this.#chosen.delete(id);
    for (const group of this.#groups.get(id) ?? []) group.taken--;
  }

  #constraintsOf(id: string): readonly Constraint[] {
    const variable = this.#variables.get(id);
    if (!variable) throw new Error(`no variable ${id}`);
    return variable.constraints;
  }
}

interface Group {
  taken: number;
  readonly twice: ReadonlySet<string>;
}

/** A smallest set of constraints that contradict each other, found by leaving out one after the other. */
function conflictOf(variables: readonly Variable[]): string[] {
  let remaining = variables.map((variable) => ({ ...variable }));
  const total = remaining.reduce((count, { constraints }) => count + constraints.length, 0);
  if (total > MAX_EXPLAINED) return [];
  for (const [i, { constraints }] of remaining.entries()) {
    for (const constraint of constraints) {
      const without = remaining.map((variable, j) =>
        j === i
          ? { ...variable, constraints: variable.constraints.filter((c) => c !== constraint) }
          : variable,
      );
      if (new Search(without).run() === 'unsatisfiable') remaining = without;
    }
  }
  return [...new Set(remaining.flatMap(({ constraints }) => constraints.map(({ text }) => text)))].sort(
    compareText,
  );
}

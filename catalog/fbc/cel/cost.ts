/**
 * What a rule in CEL costs. A rule is refused before it runs if its estimate is too high, and is stopped when it has cost
 * too much, as Kubernetes does: rules come from strangers.
 *
 * @see https://kubernetes.io/docs/reference/using-api/cel/#resource-constraints
 */
import type { ASTNode } from '@marcbachmann/cel-js';
import { MOST_STEPS, type Steps, StepsError } from '../../go/steps.ts';

/** Most that one evaluation may cost: a step, an element of a list that is made, or a hundred characters of text. */
const MOST_PER_CALL = 1_000_000;
/** Characters that cost as much as one step. */
const CHARACTERS = 100;

/** How many elements a list is assumed to have when its size is not known: the properties of a bundle. */
const ELEMENTS = 100;

const MACROS: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);

/** For each variable of a macro, the elements in its value, with those in its elements. */
type Sizes = ReadonlyMap<string, number>;

interface Estimate {
  /** Steps. Each match adds what its pattern takes for one character. */
  readonly cost: number;
  /** Most elements that the value has, at any depth. */
  readonly size: number;
}

/**
 * An upper bound of what a rule costs if no list in the properties has more than 100 elements.
 *
 * @param costOfMatch steps for each character of a call that matches a pattern; undefined for other calls
 */
export function estimateCost(rule: ASTNode, costOfMatch: (call: ASTNode) => number | undefined): Estimate {
  // The estimate of one node. The operators have the library's names: `id` is a variable, `value` a literal, `rcall` a call
  // with a receiver.
  const estimateOf = (node: ASTNode, sizes: Sizes): Estimate => {
    const { op } = node;
    if (op === 'id') return { cost: 1, size: sizes.get(String(node.args)) ?? ELEMENTS };
    if (op === 'rcall' && MACROS.has(node.args[0])) return estimateOfMacro(node, sizes);
    const parts = childrenOf(node).map((child) => estimateOf(child, sizes));
    const sum = parts.reduce((total, { size }) => total + size, 0);
    const cost = parts.reduce((total, part) => total + part.cost, 1) + (costOfMatch(node) ?? 0);
    if (op === 'value') return { cost: 1, size: 1 };
    // A part has at most the elements of the whole.
    if (op === '.' || op === '[]') return { cost, size: parts[0]?.size ?? 1 };
    // Any other value counts as all of its operands together. These operators make a new value: what it holds is paid for.
    const makes = op === '+' || op === 'list' || op === 'map';
    return { cost: makes ? cost + sum : cost, size: Math.max(1, sum) };
  };
  // A macro such as `all` or `map`: its body runs once for each element of the list.
  const estimateOfMacro = (node: ASTNode, sizes: Sizes): Estimate => {
    const [name, receiver, parameters] = node.args as [string, ASTNode, ASTNode[]];
    const list = estimateOf(receiver, sizes);
    const [variable, ...bodies] = parameters;
    const inner = new Map(sizes).set(String(variable?.args), Math.max(1, list.size));
    const parts = bodies.map((body) => estimateOf(body, inner));
    const each = parts.reduce((total, part) => total + part.cost, 1);
    const count = lengthOf(receiver, list.size);
    const size = name === 'map' ? count * (parts.at(-1)?.size ?? 1) : name === 'filter' ? list.size : 1;
    return { cost: list.cost + count * each + size, size };
  };
  return estimateOf(rule, new Map());
}

/** How often a macro runs: a list that is written has its length, and others at most their size. */
function lengthOf(list: ASTNode, size: number): number {
  if (list.op === 'list') return list.args.length;
  if (list.op === 'rcall' && MACROS.has(list.args[0])) return lengthOf(list.args[1], size);
  return size;
}

/** The nodes directly below a node, in whatever lists its arguments hold them. */
export function childrenOf(node: ASTNode): readonly ASTNode[] {
  return [node.args]
    .flat(3)
    .filter((part): part is ASTNode => typeof part === 'object' && part !== null && 'op' in part);
}

/** Counts what evaluations cost. */
export interface Meter {
  /** What is left for all evaluations of a catalog's rules: matches charge it, too. */
  readonly steps: Steps;
  /** Begins an evaluation. @throws StepsError when all evaluations before it have cost too much */
  begin(): void;
  /** @throws StepsError */
  spend(cost: number): void;
}

const TOO_EXPENSIVE = 'the rule is too expensive to evaluate here';

/**
 * Counts the steps of CEL rules, and ends a rule that takes too many. Once all together took too many, no rule is run any
 * more.
 */
export function newMeter(): Meter {
  const steps = { left: MOST_STEPS };
  let call = 0;
  return {
    steps,
    begin: () => {
      if (steps.left < 0) throw new StepsError(TOO_EXPENSIVE);
      call = 0;
    },
    spend: (cost) => {
      call += cost;
      steps.left -= cost;
      if (call > MOST_PER_CALL || steps.left < 0) throw new StepsError(TOO_EXPENSIVE);
    },
  };
}

/** Functions that parse a text, in the library with the square of its length or worse. */
const PARSES: ReadonlySet<string> = new Set(['duration', 'timestamp', 'int', 'uint', 'double', 'bool']);
/** Longest text that is parsed, in characters. */
const LONGEST_PARSED = 64;

/**
 * What parsing a value as a number or a time costs: the library takes the square of the text's length.
 *
 * @throws StepsError
 */
function costOfParsing(value: unknown): number {
  if (typeof value !== 'string') return 0;
  if (value.length > LONGEST_PARSED) throw new StepsError(TOO_EXPENSIVE);
  return value.length ** 2;
}

type Evaluate = (this: ASTNode, ...rest: unknown[]) => unknown;

/** Operators whose values are new: what they hold is paid for. */
const MAKES: ReadonlySet<string> = new Set(['+', 'list', 'map', 'rcall', 'call']);
/** Operators that may look at all that their operands hold. */
const LOOKS: ReadonlySet<string> = new Set(['==', '!=', 'in', '<', '<=', '>', '>=', 'rcall', 'call']);

/** Changes a parsed rule so that each part of it is counted before it is evaluated. */
export function meterRule(rule: ASTNode, meter: Meter): void {
  const sizeOf = sizeReader();
  // Charges a node when it is evaluated: a step, and what its value holds if that is new or its parent looks at all of it.
  const attach = (node: ASTNode, isLookedAt: boolean, isParsed: boolean): void => {
    const isPaid = isLookedAt || MAKES.has(node.op);
    const isMacro = node.op === 'rcall' && MACROS.has(node.args[0]);
    const parses = node.op === 'call' && PARSES.has(node.args[0]);
    for (const child of childrenOf(node)) attach(child, LOOKS.has(node.op) && !isMacro, parses);
    const at = node as unknown as { evaluate: Evaluate };
    let { evaluate } = at;
    const metered: Evaluate = (...rest) => {
      meter.spend(1);
      const value = evaluate.apply(node, rest);
      if (isPaid) meter.spend(sizeOf(value));
      if (isParsed) meter.spend(costOfParsing(value));
      return value;
    };
    // The library replaces this function by a faster one when it is called first.
    Object.defineProperty(at, 'evaluate', {
      get: () => metered,
      set: (faster: Evaluate) => {
        evaluate = faster;
      },
    });
  };
  attach(rule, false, false);
}

/** Gives a function that counts everything in a value. Shared parts count each time, and are read once. */
function sizeReader(): (value: unknown) => number {
  const known = new WeakMap<object, number>();
  const sizeOf = (value: unknown): number => {
    if (typeof value === 'string') return 1 + value.length / CHARACTERS;
    if (typeof value !== 'object' || value === null) return 1;
    if (value instanceof Uint8Array) return 1 + value.length / CHARACTERS;
    const seen = known.get(value);
    if (seen !== undefined) return seen;
    const parts: Iterable<unknown> =
      value instanceof Map
        ? value.values()
        : Symbol.iterator in value
          ? (value as Iterable<unknown>)
          : Object.values(value);
    let size = 1;
    for (const part of parts) size += sizeOf(part);
    known.set(value, size);
    return size;
  };
  return sizeOf;
}

/**
 * Rules of `olm.constraint` properties in the Common Expression Language, over the
 * properties of a bundle. The library is loaded when a catalog has such a rule.
 *
 * @see https://github.com/operator-framework/api/blob/master/pkg/constraints/cel.go
 */
import type { ASTNode, Environment } from '@marcbachmann/cel-js';
import type { GoRegexp } from '../go/regexp.ts';
import { compareVersions, parseTolerant } from '../version/version.ts';
import type { Property } from './model.ts';

/** Compiles rules; null is a rule that needs more work than a catalog may cause. */
export interface Cel {
  /** @throws CelError when the rule is none, or does not say yes or no */
  compile(rule: string): CelRule | null;
}

/** Whether a bundle with these properties satisfies a rule; what cannot be evaluated does not. */
export type CelRule = (properties: readonly Property[]) => boolean;

/** Why a text is not a rule. */
export class CelError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CelError';
  }
}

const LIMITS = { maxAstNodes: 500, maxDepth: 50, maxListElements: 100, maxMapEntries: 100 };

/** Most evaluations of a part of a rule, for one bundle: rules come from strangers. */
const MAX_COST = 100_000;

/** How many properties a bundle is assumed to have when the cost of a rule is estimated. */
const PROPERTIES = 100;

type CompilePattern = (source: string) => GoRegexp | undefined;

/** Takes the place of `matches`, which the library evaluates with JavaScript's regular expressions. */
const MATCHES = 'matchesAsGo';

/** Longest text that is matched, in characters. */
const LONGEST_TEXT = 10_000;

export async function loadCel(): Promise<Cel> {
  const { Environment } = await import('@marcbachmann/cel-js');
  const { compileGoRegexp } = await import('../go/regexp.ts');
  const compilePattern = compiledOnce(compileGoRegexp);
  const matchesAsGo = matcherOf(compilePattern);
  const environment = new Environment({ limits: LIMITS })
    .registerVariable('properties', 'list<map<string, dyn>>')
    .registerFunction(`string.${MATCHES}(string): bool`, matchesAsGo)
    .registerFunction(`${MATCHES}(string, string): bool`, matchesAsGo)
    .registerFunction('semver_compare(dyn, dyn): int', (a: unknown, b: unknown) => {
      return BigInt(compareVersions(parseTolerant(String(a)), parseTolerant(String(b))));
    });
  const compiled = new Map<string, CelRule | null>();
  return {
    compile(rule) {
      const known = compiled.get(rule);
      if (known !== undefined) return known;
      const fresh = compile({ environment, compilePattern }, rule);
      compiled.set(rule, fresh);
      return fresh;
    },
  };
}

/** Compiles each pattern once: for the cost of its rule, and for all that the rule matches. */
function compiledOnce(compilePattern: CompilePattern): CompilePattern {
  const compiled = new Map<string, GoRegexp | undefined>();
  return (source) => {
    if (!compiled.has(source)) compiled.set(source, compilePattern(source));
    return compiled.get(source);
  };
}

/**
 * Matches texts with the patterns of rules. The function throws for a text that is too
 * long: like every part that cannot be evaluated, it does not satisfy its rule.
 */
function matcherOf(compilePattern: CompilePattern): (text: string, source: string) => boolean {
  return (text, source) => {
    if (text.length > LONGEST_TEXT) throw new Error('the text is too long to match');
    const pattern = compilePattern(source);
    if (!pattern) throw new Error('not a regular expression');
    return pattern.test(text);
  };
}

interface Engine {
  readonly environment: Environment;
  readonly compilePattern: CompilePattern;
}

function compile({ environment, compilePattern }: Engine, rule: string): CelRule | null {
  try {
    const program = environment.parse(rule);
    replaceMatches(program.ast);
    if (costOf(program.ast, compilePattern) > MAX_COST) return null;
    const { valid, type, error } = program.check();
    // The library knows `has` of names only, where CEL allows every expression.
    if (!valid && firstLine(error).startsWith('has() invalid argument')) return null;
    if (!valid) throw new CelError(firstLine(error));
    if (String(type) !== 'bool') throw new CelError('cel expressions must have type Bool');
    return (properties) => {
      try {
        return program({ properties: properties.map(({ type, value }) => ({ type, value })) }) === true;
      } catch {
        return false;
      }
    };
  } catch (error) {
    throw error instanceof CelError ? error : new CelError(firstLine(error));
  }
}

function firstLine(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return (message.split('\n')[0] ?? '').replaceAll(MATCHES, 'matches');
}

/** Calls our function wherever the rule calls `matches`. */
function replaceMatches(node: ASTNode): void {
  if ((node.op === 'call' || node.op === 'rcall') && node.args[0] === 'matches') node.args[0] = MATCHES;
  for (const child of childrenOf(node)) replaceMatches(child);
}

const MACROS: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);

/** An upper bound of the parts of a rule that are evaluated, and of the steps of its matches for each character. */
function costOf(rule: ASTNode, compilePattern: CompilePattern): number {
  const costOfMatch = (pattern: ASTNode | undefined): number => {
    // A pattern must stand in the rule itself, so that its size is known before anything is matched.
    const source = pattern?.op === 'value' ? pattern.args : undefined;
    return (typeof source === 'string' && compilePattern(source)?.size) || Number.POSITIVE_INFINITY;
  };
  const cost = (node: ASTNode): number => {
    if (node.op === 'rcall') {
      const [name, receiver, parameters] = node.args as [string, ASTNode, ASTNode[]];
      if (name === MATCHES) return cost(receiver) + costOfMatch(parameters[0]);
      const body = sum(parameters.map(cost));
      return cost(receiver) + body * (MACROS.has(name) ? size(receiver) : 1);
    }
    if (node.op === 'call' && node.args[0] === MATCHES) {
      const [text, pattern] = node.args[1] as ASTNode[];
      return (text ? cost(text) : 0) + costOfMatch(pattern);
    }
    return 1 + sum(childrenOf(node).map(cost));
  };
  return cost(rule);
}

/** How many elements the value of a node may have. */
function size(node: ASTNode): number {
  if (node.op === 'list') return node.args.length;
  if (node.op === '+') return size(node.args[0]) + size(node.args[1]);
  if (node.op === 'rcall' && MACROS.has(node.args[0])) return size(node.args[1]);
  return PROPERTIES;
}

function childrenOf(node: ASTNode): readonly ASTNode[] {
  return [node.args]
    .flat(3)
    .filter((part): part is ASTNode => typeof part === 'object' && part !== null && 'op' in part);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

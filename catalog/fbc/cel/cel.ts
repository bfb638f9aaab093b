/**
 * Rules of `olm.constraint` properties in the Common Expression Language, over the
 * properties of a bundle. The library is loaded when a catalog has such a rule.
 *
 * @see https://github.com/operator-framework/api/blob/master/pkg/constraints/cel.go
 */
import type { ASTNode, Environment } from '@marcbachmann/cel-js';
import type { GoRegexp } from '../../go/regexp.ts';
import { type Steps, StepsError } from '../../go/steps.ts';
import { compareVersions, parseTolerant } from '../../version/version.ts';
import type { Property } from '../model.ts';
import { childrenOf, estimateCost, type Meter, meterRule, newMeter } from './cost.ts';

/** Compiles rules; null is a rule that is not evaluated: it costs too much, the library lacks a part of CEL, or it is too large for it. */
export interface Cel {
  /** @throws CelError when the rule is none, or does not say yes or no */
  compile(rule: string): CelRule | null;
}

/**
 * Whether a bundle with these properties satisfies a rule; what cannot be evaluated does not.
 *
 * @throws StepsError when the rule costs more than a catalog may cause
 */
type CelRule = (properties: readonly Property[]) => boolean;

/** Why a text is not a rule. */
export class CelError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CelError';
  }
}

/** What a rule may hold at most for the library, which walks its tree by recursion. A larger one is not evaluated. */
const LIMITS = { maxAstNodes: 500, maxDepth: 50, maxListElements: 100, maxMapEntries: 100 };

/** Most that a rule may cost by its estimate, for one bundle. */
const MAX_COST = 100_000;

type CompilePattern = (source: string) => GoRegexp | undefined;

/** Takes the place of `matches`, which the library evaluates with JavaScript's regular expressions. */
const MATCHES = 'matchesAsGo';

/** Longest text that is matched, in characters. */
const LONGEST_TEXT = 10_000;

/** Loads the CEL library, with the functions that OLM adds. Each rule is compiled once. */
export async function loadCel(): Promise<Cel> {
  const { Environment } = await import('@marcbachmann/cel-js');
  const { compileGoRegexp } = await import('../../go/regexp.ts');
  const meter = newMeter();
  const compilePattern = compiledOnce((source) => compileGoRegexp(source, meter.steps));
  const matchesAsGo = matcherOf(compilePattern, meter.steps);
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
      const fresh = compile({ environment, compilePattern, meter }, rule);
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
function matcherOf(compilePattern: CompilePattern, steps: Steps): (text: string, source: string) => boolean {
  return (text, source) => {
    if (text.length > LONGEST_TEXT) throw new Error('the text is too long to match');
    const pattern = compilePattern(source);
    if (!pattern) throw new Error('not a regular expression');
    return pattern.test(text, steps);
  };
}

interface Engine {
  readonly environment: Environment;
  readonly compilePattern: CompilePattern;
  readonly meter: Meter;
}

/**
 * Compiles a rule of a constraint.
 *
 * @returns null if OLM may accept the rule, but Portolan cannot decide it
 * @throws CelError for a rule that OLM refuses
 */
function compile({ environment, compilePattern, meter }: Engine, rule: string): CelRule | null {
  try {
    const program = environment.parse(rule);
    replaceMatches(program.ast);
    refuseExtensions(program.ast);
    if (estimateCost(program.ast, matchCostWith(compilePattern)).cost > MAX_COST) return null;
    const { valid, type, error } = program.check();
    // The library knows `has` of names only, where CEL allows every expression.
    if (!valid && firstLine(error).startsWith('has() invalid argument')) return null;
    if (!valid) throw new CelError(firstLine(error));
    if (String(type) !== 'bool') throw new CelError('cel expressions must have type Bool');
    meterRule(program.ast, meter);
    return (properties) => {
      meter.begin();
      try {
        return program({ properties: properties.map(({ type, value }) => ({ type, value })) }) === true;
      } catch (error) {
        if (error instanceof StepsError) throw error;
        return false;
      }
    };
  } catch (error) {
    if (isBeyondLimits(error)) return null;
    throw error instanceof CelError ? error : new CelError(firstLine(error));
  }
}

/** Whether a rule is too large or too deep for the library, which says nothing about OLM. */
function isBeyondLimits(error: unknown): boolean {
  return error instanceof RangeError || error instanceof StepsError || /^Exceeded max/.test(firstLine(error));
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

/**
 * Functions and macros that the library adds to those of CEL's standard. OLM does not know them.
 *
 * @see https://github.com/google/cel-spec/blob/master/doc/langdef.md
 */
const EXTENSIONS: ReadonlySet<string> = new Set([
  ...['lowerAscii', 'upperAscii', 'trim', 'indexOf', 'lastIndexOf', 'substring', 'split', 'join'],
  ...['json', 'hex', 'string', 'at', 'bind'],
]);

/** Refuses what the library has beyond CEL as OLM knows it. @throws CelError */
function refuseExtensions(node: ASTNode): void {
  if (node.op === 'rcall' && EXTENSIONS.has(node.args[0]))
    throw new CelError(`undeclared reference to '${node.args[0]}' (in container '')`);
  for (const child of childrenOf(node)) refuseExtensions(child);
}

/** Steps of a call that matches a pattern, for each character. */
function matchCostWith(compilePattern: CompilePattern): (call: ASTNode) => number | undefined {
  return (call) => {
    if ((call.op !== 'call' && call.op !== 'rcall') || call.args[0] !== MATCHES) return undefined;
    const pattern = call.op === 'call' ? call.args[1][1] : call.args[2][0];
    // A pattern must stand in the rule itself, so that its size is known before anything is matched.
    const source = pattern?.op === 'value' ? pattern.args : undefined;
    return (typeof source === 'string' && compilePattern(source)?.size) || Number.POSITIVE_INFINITY;
  };
}

/**
 * Regular expressions of Go's `regexp`, which OLM's CEL rules and prow's OWNERS files use. A match takes time that is
 * linear in the text, so that no author of an expression can make it take long.
 *
 * @see https://github.com/google/re2/wiki/Syntax
 */
import { RE2JS, RE2JSException } from 're2js';
import { type Steps, spendSteps } from './steps.ts';

export interface GoRegexp {
  readonly source: string;
  /** Instructions of the compiled expression: the most steps that a match takes for each character. */
  readonly size: number;
  /**
   * Whether any part of a text matches.
   *
   * @throws StepsError when it takes more steps than are left
   */
  test(text: string, steps: Steps): boolean;
}

/** Longest expression that is compiled, in characters, and the largest size that is accepted. */
const LONGEST = 500;
const LARGEST = 1000;

/** What compiling takes, in steps of a match (20 to 50 ns): for a character, an instruction, and a class of Unicode. */
const CHARACTER = 400;
const INSTRUCTION = 1000;
const CLASS = 60_000;

/**
 * Compiles an expression; undefined where Go refuses it, or where it exceeds the limits.
 *
 * @throws StepsError when it takes more steps than are left
 */
export function compileGoRegexp(source: string, steps: Steps): GoRegexp | undefined {
  if (source.length > LONGEST) return undefined;
  const classes = source.match(/\\[pP]/g)?.length ?? 0;
  spendSteps(steps, CHARACTER * source.length + CLASS * classes);
  try {
    const expression = RE2JS.compile(source);
    const size = expression.programSize();
    spendSteps(steps, INSTRUCTION * size);
    if (size > LARGEST) return undefined;
    return {
      source,
      size,
      test: (text, matchSteps) => {
        spendSteps(matchSteps, size * (text.length + 1));
        return expression.matcher(text).find();
      },
    };
  } catch (error) {
    if (error instanceof RE2JSException) return undefined;
    throw error;
  }
}

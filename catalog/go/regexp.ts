/**
 * Regular expressions of Go's `regexp`, which OLM's CEL rules and prow's OWNERS files use. A match takes time that is
 * linear in the text, so that no author of an expression can make it take long.
 *
 * @see https://github.com/google/re2/wiki/Syntax
 */
import { RE2JS, RE2JSException } from 're2js';

export interface GoRegexp {
  readonly source: string;
  /** Instructions of the compiled expression: the most steps that a match takes for each character. */
  readonly size: number;
  /** Whether any part of a text matches. */
  test(text: string): boolean;
}

/** Longest expression that is compiled, in characters, and the largest size that is accepted. */
const LONGEST = 500;
const LARGEST = 1000;

/** Compiles an expression; undefined where Go refuses it, or where it exceeds the limits. */
export function compileGoRegexp(source: string): GoRegexp | undefined {
  if (source.length > LONGEST) return undefined;
  try {
    const expression = RE2JS.compile(source);
    const size = expression.programSize();
    return size > LARGEST ? undefined : { source, size, test: (text) => expression.matcher(text).find() };
  } catch (error) {
    if (error instanceof RE2JSException) return undefined;
    throw error;
  }
}

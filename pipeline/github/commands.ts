/** Commands in comments on pull requests: each is the whole first line, so that none is given in passing. */
import type { Question } from '../report/answer.ts';

const RECHECK = /^\/recheck[ \t]*(?:\r?\n|$)/;

/** Questions about the report, which is made again for them. */
const WHO = /^\/who[ \t]*(?:\r?\n|$)/;
const EXPLAIN = /^\/explain[ \t]+([a-z0-9-]{1,50}\/[a-z0-9-]{1,50})[ \t]*(?:\r?\n|$)/;

/** The command of a comment, `/recheck` where it has no question; undefined if it has none. */
export function commandIn(body: string): { question?: Question } | undefined {
  const [, rule] = EXPLAIN.exec(body) ?? [];
  if (rule !== undefined) return { question: { kind: 'explain', rule } };
  if (WHO.test(body)) return { question: { kind: 'who' } };
  return RECHECK.test(body) ? {} : undefined;
}

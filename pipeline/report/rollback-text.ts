/** What a pull request says that brings a catalog back to what it was. */
import { compareFindings, type Finding } from '../../catalog/finding.ts';
import { withinBudget } from './budget.ts';
import { COMMENT_BYTES, code, escaped } from './markdown.ts';

export interface RollbackText {
  readonly catalog: string;
  /** Id of the commit that is gone back to. */
  readonly to: string;
  readonly findings: readonly Finding[];
}

/** The body, as Markdown: who is stranded first. */
export function rollbackBody({ catalog, to, findings }: RollbackText): string {
  const rows = [...findings]
    .sort(compareFindings)
    .map(
      ({ severity, rule, message, hint = '' }) =>
        `| ${severity} | ${escaped(message)} | ${escaped(hint)} | ${code(rule)} |`,
    );
  const table = ['| | what | what to do | rule |', '|---|---|---|---|', ...rows].join('\n');
  const first = `${escaped(catalog)} as ${to} had it. It is a new publish, after all that came since.`;
  const accepted =
    'What the way back does to clusters that installed what came since. Whoever proposed it has accepted that; whoever merges it does, too.';
  return withinBudget(
    [{ text: first }, ...(rows.length === 0 ? [] : [{ text: accepted }, { text: table, cuttable: true }])],
    COMMENT_BYTES,
  );
}

/** Answers to questions that people ask in a comment, as Markdown. Nobody is mentioned by them, and nothing is decided. */
import { nearest } from '../../catalog/spelling.ts';
import type { Need } from '../check/authority/missing-approvals.ts';
import type { CheckReport } from '../check/report.ts';
import { RULE_IDS } from '../policy/rule-ids.ts';
import { amountText, fileLineText } from '../text.ts';
import { codeSpan, escapedMarkdown } from './markdown.ts';
import { ruleOf, rulePage } from './rule-help.ts';

export type Question =
  | { readonly kind: 'explain'; readonly rule: string }
  /** Who can approve, and what is missing. */
  | { readonly kind: 'who' };

/** Most findings that an explanation lists. */
const SHOWN = 10;

/** The answer to a question about a pull request, as Markdown. */
export function answerText(report: CheckReport, question: Question): string {
  const lines = question.kind === 'who' ? whoLines(report) : explainLines(report, question.rule);
  return `${lines.join('\n')}\n`;
}

/** Who must still act, as lines of Markdown. */
function whoLines(report: CheckReport): string[] {
  const { authority, findings, holds, waitsFor, verdict } = report;
  const { decision, missing = [], author = '', reasons } = authority;
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  const denied = decision === 'deny' ? reasons.map((reason) => `- refused: ${escapedMarkdown(reason)}`) : [];
  const todo = [
    ...denied,
    ...missing.map((need) => `- ${needLine(need, author)}`),
    ...(verdict === 'fail' ? [`- the author must correct ${amountText(errors, 'error')}`] : []),
    ...holds.map((hold) => `- held: ${escapedMarkdown(hold)}`),
    ...waitsFor.map((wait) => `- waits: ${escapedMarkdown(wait)}`),
  ];
  const title = '**Who can approve this, and what is missing**';
  if (todo.length > 0) return [title, '', ...todo];
  return decision === 'not judged'
    ? [title, '', 'Permissions were not checked.']
    : [title, '', 'No approval is missing.'];
}

/** One approval or commit that is missing, who can give it, and why it is needed. */
function needLine({ who, count, from, subjects, why }: Need, author: string): string {
  if (who === 'author') return `a new commit by ${codeSpan(author)}: ${escapedMarkdown(why)}`;
  const what = subjects.length > 0 ? ` for ${escapedMarkdown(subjects.join(', '))}` : '';
  const people = from.length > 0 ? from.map((login) => codeSpan(login)).join(', ') : 'nobody, by the policy';
  const role = who === 'admin' ? 'admins' : 'owners';
  return `${amountText(count, 'approval')} by ${role}${what}; can be given by ${people}: it ${escapedMarkdown(why)}`;
}

/** What a rule is about, and what it found here, as lines of Markdown. */
function explainLines({ findings }: CheckReport, id: string): string[] {
  const rule = ruleOf(id);
  const page = rulePage(id);
  if (!rule || page === undefined) {
    const similarRule = nearest(id, RULE_IDS);
    const meant = similarRule === undefined ? '' : ` Did you mean ${codeSpan(similarRule)}?`;
    return [`There is no rule ${codeSpan(id)}.${meant}`];
  }
  const own = findings.filter((finding) => finding.rule === id);
  const found = own
    .slice(0, SHOWN)
    .map(({ severity, message, location }) =>
      `- ${severity}: ${escapedMarkdown(message)} ${placeText(fileLineText(location))}`.trimEnd(),
    );
  const rest = own.length > SHOWN ? [`- and ${own.length - SHOWN} more`] : [];
  return [
    `**[${codeSpan(id)}](${page})** (${rule.severity} by default): ${escapedMarkdown(rule.summary)}.`,
    ...(rule.fix === undefined ? [] : ['', `Fix: ${codeSpan(rule.fix)}`]),
    '',
    own.length === 0
      ? 'This pull request has no finding of the rule.'
      : `This pull request has ${amountText(own.length, 'finding')} of the rule:`,
    ...found,
    ...rest,
  ];
}

function placeText(where: string): string {
  return where === '' ? '' : `(${codeSpan(where)})`;
}

/** What a rule says of itself, and its page. */
import type { Finding } from '../../catalog/finding.ts';
import { RULES } from '../../catalog/rules/index.ts';
import type { Rule } from '../../catalog/rules/rule.ts';
import { escapeXml } from '../text.ts';

/** Where Portolan's sources and pages are. */
export const HOME = 'https://github.com/portolan/portolan';

const BY_ID: ReadonlyMap<string, Rule> = new Map(RULES.map((rule) => [rule.id, rule]));

export function ruleOf(id: string): Rule | undefined {
  return BY_ID.get(id);
}

/** The pages of the rules of findings, by id. */
export function rulePagesOf(findings: readonly Pick<Finding, 'rule'>[]): Readonly<Record<string, string>> {
  const pages = findings.map(({ rule }) => [rule, rulePage(rule)] as const);
  return Object.fromEntries(pages.filter((one): one is readonly [string, string] => one[1] !== undefined));
}

/** The page of a rule; undefined for what no rule reports, such as a mistake in the policy. */
export function rulePage(id: string): string | undefined {
  return BY_ID.has(id) ? `${HOME}/blob/main/docs/rules.md#${id.replace('/', '-')}` : undefined;
}

/** The id of a rule as HTML, with a link to its page where it has one. */
export function ruleLink(rule: string): string {
  const page = rulePage(rule);
  const name = `<code>${escapeXml(rule)}</code>`;
  return page === undefined ? name : `<a href="${escapeXml(page)}">${name}</a>`;
}

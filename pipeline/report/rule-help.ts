/** What a rule says of itself, and its page. */
import { RULES } from '../../catalog/rules/index.ts';
import type { Rule } from '../../catalog/rules/rule.ts';

/** Where Portolan's sources and pages are. */
export const HOME = 'https://github.com/portolan/portolan';

const BY_ID: ReadonlyMap<string, Rule> = new Map(RULES.map((rule) => [rule.id, rule]));

export function ruleOf(id: string): Rule | undefined {
  return BY_ID.get(id);
}

/** The page of a rule; undefined for what no rule reports, such as a mistake in the policy. */
export function rulePage(id: string): string | undefined {
  return BY_ID.has(id) ? `${HOME}/blob/main/docs/rules.md#${id.replace('/', '-')}` : undefined;
}

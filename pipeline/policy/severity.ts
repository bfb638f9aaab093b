/** The policy's word on rules. */
import type { Rule, SeverityOf } from '../../catalog/rules/rule.ts';
import type { Policy, RuleSetting } from './policy.ts';

/** What the policy says of a rule by its id, else of its group. */
export function settingOf({ rules }: Policy, id: string): RuleSetting | undefined {
  return rules.get(id) ?? rules.get(`${id.split('/')[0]}/*`);
}

/** The severity of each rule under a policy. */
export function severitiesOf(policy: Policy): SeverityOf {
  return (rule: Rule) => settingOf(policy, rule.id)?.severity ?? rule.severity;
}

/** The policy's word on rules. */
import type { Finding } from '../../catalog/finding.ts';
import type { Rule, SeverityOf } from '../../catalog/rules/rule.ts';
import { matchesGlob } from './layout.ts';
import type { Policy, RuleSetting } from './policy.ts';

/** What the policy says of a rule by its id, else of its group. */
export function settingOf({ rules }: Policy, id: string): RuleSetting | undefined {
  return rules.get(id) ?? rules.get(`${id.split('/')[0]}/*`);
}

/** The severity of each rule under a policy. */
export function severitiesOf(policy: Policy): SeverityOf {
  return (rule: Rule) => settingOf(policy, rule.id)?.severity ?? rule.severityInChecks ?? rule.severity;
}

/** Whether findings of a rule can fail a check. */
export function isEnforced(policy: Policy, id: string): boolean {
  return settingOf(policy, id)?.enforce !== 'off';
}

/** A finding, only said where the policy allows it in its channel. */
export function inChannel(policy: Policy, finding: Finding): Finding {
  const { channel, rule } = finding;
  if (channel === undefined) return finding;
  const { allowChannels = [] } = settingOf(policy, rule) ?? {};
  return allowChannels.some((pattern) => matchesGlob(pattern, channel))
    ? { ...finding, severity: 'info' }
    : finding;
}

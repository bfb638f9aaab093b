/** The policy's word on rules. */
import type { Finding, Severity } from '../../catalog/finding.ts';
import type { Rule, SeverityOf } from '../../catalog/rules/rule.ts';
import { matchesGlob } from '../text.ts';
import type { Policy, RuleSetting } from './policy.ts';
import { presetSeverities } from './presets/presets.ts';

/** What the policy says of a rule by its id, else of its group. */
export function settingOf({ rules }: Policy, id: string): RuleSetting | undefined {
  return rules.get(id) ?? rules.get(`${id.split('/')[0]}/*`);
}

/** The severity of each rule under a policy: what it says of the rule counts first, then its presets. */
export function severitiesOf(policy: Policy): SeverityOf {
  const ofPresets = presetSeverities(policy.presets);
  // Each state of each catalog asks for all rules.
  const known = new Map<Rule, Severity | 'off'>();
  return (rule: Rule) => {
    const severity =
      known.get(rule) ??
      settingOf(policy, rule.id)?.severity ??
      ofPresets.get(rule.id) ??
      defaultSeverity(policy, rule);
    known.set(rule, severity);
    return severity;
  };
}

/**
 * The severity of a rule of which the policy sets none. An optional rule is off unless the policy names it,
 * if only to set `enforce`.
 */
function defaultSeverity(policy: Policy, rule: Rule): Severity | 'off' {
  const { severity, severityInChecks = severity, isOptional } = rule;
  return isOptional && !settingOf(policy, rule.id) ? 'off' : severityInChecks;
}

/** Says whether a policy or one of its presets names a rule. */
export function namedBy(policy: Policy): (id: string) => boolean {
  const ofPresets = presetSeverities(policy.presets);
  return (id) => settingOf(policy, id) !== undefined || ofPresets.has(id);
}

/** Whether findings of a rule can fail a check. */
export function isEnforced(policy: Policy, id: string): boolean {
  return settingOf(policy, id)?.enforce !== 'off';
}

/** The finding, as information only if the policy allows the rule in its channel (`allowChannels`). */
export function inChannel(policy: Policy, finding: Finding): Finding {
  const { channel, rule } = finding;
  if (channel === undefined) return finding;
  const { allowChannels = [] } = settingOf(policy, rule) ?? {};
  return allowChannels.some((pattern) => matchesGlob(pattern, channel))
    ? { ...finding, severity: 'info' }
    : finding;
}

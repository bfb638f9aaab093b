/** The results that the gates of a policy's presets would have for a pull request. */
import { type Finding, milderSeverity, type Severity } from '../../../catalog/finding.ts';
import type { Policy } from '../../policy/policy.ts';
import type { Preset, PresetRow } from '../../policy/presets/preset.ts';
import { PRESETS, rulesOf } from '../../policy/presets/presets.ts';
import { settingOf } from '../../policy/severity.ts';
import type { GateReport } from '../report.ts';

/**
 * What the gates of the policy's presets would say.
 *
 * @param findings everything that was found, known or waived: a gate knows neither a base branch nor waivers
 */
export function gateReports(policy: Policy, findings: readonly Finding[]): GateReport[] {
  return policy.presets.map((name) => gateReport(PRESETS[name], policy, findings));
}

/** What another gate would say of these findings, by the checks of its preset. */
function gateReport(preset: Preset, policy: Policy, findings: readonly Finding[]): GateReport {
  const checks = preset.rows.flatMap((row) => {
    const counted = severitiesIn(row, policy, findings);
    const count = (severity: Severity): number => counted.filter((one) => one === severity).length;
    const [errors, warnings] = [count('error'), count('warning')];
    return errors + warnings === 0 ? [] : [{ check: row.check, errors, warnings }];
  });
  return {
    preset: preset.name,
    gate: preset.gate,
    source: `https://github.com/${preset.repository}/tree/${preset.commit}`,
    date: preset.date,
    verdict: checks.some(({ errors }) => errors > 0) ? 'fail' : 'pass',
    checks,
    notChecked: preset.rows.flatMap((row) => {
      const why = whyNotChecked(row, policy);
      return why === undefined ? [] : [{ check: row.check, why }];
    }),
  };
}

/** The severity that each finding of a row has in the gate. */
function severitiesIn(row: PresetRow, policy: Policy, findings: readonly Finding[]): Severity[] {
  const rules = rulesOf(row);
  return findings.flatMap(({ rule, severity }) => {
    const own = rules.get(rule);
    if (own === undefined) return [];
    // A rule may report a finding that is milder than usual. A severity that the policy sets the gate does not know.
    return [settingOf(policy, rule)?.severity === undefined ? milderSeverity(own, severity) : own];
  });
}

/** Why a check of a gate was not made, or not in full; undefined if it was made. */
function whyNotChecked(row: PresetRow, policy: Policy): string | undefined {
  if ('notChecked' in row) return row.notChecked;
  const off = [...rulesOf(row).keys()].filter((id) => settingOf(policy, id)?.severity === 'off');
  return off.length === 0 ? undefined : `the policy turns off ${off.join(', ')}`;
}

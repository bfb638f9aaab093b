/**
 * Findings as GitLab's Code Quality report, which merge requests show on their lines.
 *
 * @see https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
 */
import type { Severity } from '../../catalog/finding.ts';
import type { CheckReport } from '../check/report.ts';
import { POLICY_PATH } from '../policy/read-policy.ts';
import { plain } from '../text.ts';
import { findingPrints } from './finding-prints.ts';

const SEVERITIES: Readonly<Record<Severity, string>> = { error: 'critical', warning: 'minor', info: 'info' };

export function codeQualityReport({ findings }: Pick<CheckReport, 'findings'>): string {
  const printOf = findingPrints();
  const issues = findings.map((finding) => {
    const { rule, severity, message, hint, location } = finding;
    // GitLab shows nothing without a file: what has none is shown at the policy.
    const { file, line } = location.file === '' ? { file: POLICY_PATH, line: 1 } : location;
    return {
      type: 'issue',
      check_name: rule,
      description: plain(hint === undefined ? message : `${message}. Fix: ${hint}`),
      categories: ['Bug Risk'],
      severity: SEVERITIES[severity],
      fingerprint: printOf(finding),
      location: { path: file, lines: { begin: line } },
    };
  });
  return `${JSON.stringify(issues, null, 2)}\n`;
}

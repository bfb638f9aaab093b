/**
 * Findings as GitLab's Code Quality report, which merge requests show on their lines.
 *
 * @see https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
 */

import { createHash } from 'node:crypto';
import type { Finding, Severity } from '../../catalog/finding.ts';
import type { CheckReport } from '../check/report.ts';
import { POLICY_PATH } from '../policy/read-policy.ts';
import { plainText } from '../text.ts';

const SEVERITIES: Readonly<Record<Severity, string>> = { error: 'critical', warning: 'minor', info: 'info' };

/** The findings in the format of GitLab's Code Quality reports. */
export function codeQualityReport({ findings }: Pick<CheckReport, 'findings'>): string {
  const printOf = findingPrints();
  const issues = findings.map((finding) => {
    const { rule, severity, message, hint, location } = finding;
    // GitLab shows nothing without a file: what has none is shown at the policy.
    const { file, line } = location.file === '' ? { file: POLICY_PATH, line: 1 } : location;
    return {
      type: 'issue',
      check_name: rule,
      description: plainText(hint === undefined ? message : `${message}. Fix: ${hint}`),
      categories: ['Bug Risk'],
      severity: SEVERITIES[severity],
      fingerprint: printOf(finding),
      location: { path: file, lines: { begin: line } },
    };
  });
  return `${JSON.stringify(issues, null, 2)}\n`;
}

// What findings are recognized by from one report to the next.

/** References to lines, which change with every edit above them. */
const LINES = /:\d+(?::\d+)?\b/g;

/**
 * Makes the fingerprints of one report's findings: of the rule and what it is about, never a line. Findings that have
 * that in common are numbered, so each fingerprint is there once.
 */
export function findingPrints(): (finding: Finding) => string {
  const seen = new Map<string, number>();
  return ({ rule, package: packageName, channel, subject, installed, message, location }) => {
    const about = subject ?? installed ?? message.replaceAll(LINES, '');
    const identity = JSON.stringify([rule, packageName, channel, about, location.file]);
    const digest = createHash('sha256').update(identity).digest('hex').slice(0, 32);
    const count = (seen.get(digest) ?? 0) + 1;
    seen.set(digest, count);
    return `${digest}:${count}`;
  };
}

import { expect, test } from 'vitest';
import type { Finding } from '../../../catalog/finding.ts';
import { textReport } from '../../../pipeline/report/text-report.ts';
import { GREEN } from '../../fakes/report.ts';

test('takes findings in any number', () => {
  const location = { file: 'catalog.yaml', line: 3, column: 1 };
  const finding: Finding = { rule: 'graph/cycle', severity: 'error', message: 'it goes round', location };
  const text = textReport({ ...GREEN, findings: new Array<Finding>(300_000).fill(finding) });
  expect(text.endsWith('\n300000 errors\n')).toBe(true);
});

test('a denied pull request is said to be denied once', () => {
  const denied = (verdict: 'pass' | 'inconclusive') =>
    textReport({
      ...GREEN,
      verdict,
      headline: 'denied: why',
      authority: { ...GREEN.authority, decision: 'deny' },
    }).split('\n')[0];
  expect(denied('pass')).toBe('DENIED: why');
  expect(denied('inconclusive')).toBe('INCONCLUSIVE: denied: why');
});

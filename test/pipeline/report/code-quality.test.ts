import { expect, test } from 'vitest';
import type { Finding } from '../../../catalog/finding.ts';
import { codeQualityReport } from '../../../pipeline/report/code-quality.ts';

const FILE = 'catalogs/v4.20/etcd/catalog.yaml';

const finding = (more: Partial<Finding> = {}): Finding => ({
  rule: 'channel/head',
  severity: 'error',
  message: 'two heads',
  location: { file: FILE, line: 3, column: 7 },
  ...more,
});

interface Issue {
  readonly fingerprint: string;
  readonly severity: string;
  readonly location: object;
}

const issuesOf = (...findings: readonly Finding[]): Issue[] => JSON.parse(codeQualityReport({ findings }));

test('an issue has what GitLab asks for: description, check, fingerprint, severity, path and line', () => {
  expect(issuesOf(finding({ hint: 'remove one' }))).toEqual([
    {
      type: 'issue',
      check_name: 'channel/head',
      description: 'two heads. Fix: remove one',
      categories: ['Bug Risk'],
      severity: 'critical',
      fingerprint: expect.stringMatching(/^[0-9a-f]{32}:1$/),
      location: { path: FILE, lines: { begin: 3 } },
    },
  ]);
});

test('a report without findings is an empty list', () => {
  expect(codeQualityReport({ findings: [] })).toBe('[]\n');
});

test('severities are those of GitLab', () => {
  const all = (['error', 'warning', 'info'] as const).map((severity) => finding({ severity }));
  expect(issuesOf(...all).map(({ severity }) => severity)).toEqual(['critical', 'minor', 'info']);
});

test('a fingerprint is there once, and stays when lines move', () => {
  const [first, second] = issuesOf(finding(), finding());
  expect(first?.fingerprint).not.toBe(second?.fingerprint);
  const [moved] = issuesOf(finding({ location: { file: FILE, line: 90, column: 1 } }));
  expect(moved?.fingerprint).toBe(first?.fingerprint);
});

test('what is about no file is shown at the policy', () => {
  const [issue] = issuesOf(finding({ location: { file: '', line: 0, column: 0 } }));
  expect(issue?.location).toEqual({ path: '.github/portolan.yaml', lines: { begin: 1 } });
});

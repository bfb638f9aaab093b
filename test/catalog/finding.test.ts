import { expect, test } from 'vitest';
import { addFinding, type Finding, MOST_FINDINGS } from '../../catalog/finding.ts';

test('105: behind the limit of findings there is one that says so', () => {
  const findings: Finding[] = [];
  for (let line = 1; line <= MOST_FINDINGS + 2; line++)
    addFinding(findings, {
      rule: 'entry/name',
      severity: 'warning',
      message: 'an entry has no name',
      location: { file: 'c.yaml', line, column: 1 },
    });
  expect(findings).toHaveLength(MOST_FINDINGS + 1);
  expect(findings.at(-1)).toMatchObject({
    rule: 'fbc/limits',
    severity: 'error',
    message: 'there are more than 200000 findings, and no others are reported',
    location: { line: MOST_FINDINGS + 1 },
  });
});

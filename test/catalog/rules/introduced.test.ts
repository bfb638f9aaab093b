import { expect, test } from 'vitest';
import type { Finding } from '../../../catalog/finding.ts';
import { introduced } from '../../../catalog/rules/introduced.ts';

const finding = (rule: string, message: string, line = 1): Finding => ({
  rule,
  severity: 'error',
  message,
  location: { file: 'catalog.yaml', line, column: 1 },
  package: 'p',
});

test('what was there before is not introduced, though lines and versions move on', () => {
  const before = [finding('graph/a', 'from 1.0.0 it takes 11 upgrades', 4)];
  const after = [finding('graph/a', 'from 1.0.0 it takes 12 upgrades', 9)];
  expect(introduced(before, after)).toEqual([]);
});

test('one more of a kind is introduced, and so is what another rule says', () => {
  const known = finding('graph/a', 'p.v1.0.0 is stuck');
  const more = finding('graph/a', 'p.v1.1.0 is stuck', 2);
  const other = finding('graph/b', 'p.v1.0.0 is stuck');
  expect(introduced([known], [known, more, other])).toEqual([more, other]);
  expect(introduced([known, more], [known])).toEqual([]);
});

import { expect, test } from 'vitest';
import type { Rehearsal } from '../../../pipeline/check/rehearsal/rehearsal.ts';
import { worstLines } from '../../../pipeline/report/rehearsal-text.ts';

test.each([
  ['Merge pull request #7 from anna/fix-5', '#7, aaaaaaaaaaaa'],
  ["Merge pull request 'Repair #5' (#7) from anna/fix into main", '#7, aaaaaaaaaaaa'],
  ['Repair what issue #5 says (#7)', '#7, aaaaaaaaaaaa'],
  ['Repair what issue #5 says', 'aaaaaaaaaaaa'],
])('the most serious error of %j is said with %j', (subject, where) => {
  const merge: Rehearsal['merges'][number] = {
    commit: 'a'.repeat(40),
    date: '2026-01-01',
    subject,
    author: undefined,
    state: 'failure',
    denied: false,
    headline: '',
    packages: [],
    errors: [
      {
        rule: 'graph/stranded-v0',
        severity: 'error',
        message: 'm',
        location: { file: '', line: 1, column: 1 },
      },
    ],
    needs: [],
    asked: [],
  };
  const rehearsal: Rehearsal = {
    from: '2026-01-01',
    to: '2026-01-01',
    merges: [merge],
    rules: [],
    people: [],
    stranded: [],
    intended: { policy: '', lines: [] },
    unchecked: [],
  };
  expect(worstLines(rehearsal)[0]).toBe(`most serious: 2026-01-01 ${subject} (${where})`);
});

import { expect, test } from 'vitest';
import { daysBetween } from '../../../../pipeline/check/monitor/monitor.ts';

test.each([
  ['2026-02-27', '2026-03-02', 3],
  ['2026-03-01T20:00:00Z', '2026-03-03', 1],
  ['2026-03-02', '2026-02-27', 0],
])('from %s to %s, %i days pass', (from, to, days) => {
  expect(daysBetween(from, to)).toBe(days);
});

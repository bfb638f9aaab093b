import { expect, test } from 'vitest';
import { withinBudget } from '../../../pipeline/report/budget.ts';

const table = (rows: number): string =>
  ['| a |', '|---|', ...Array.from({ length: rows }, (_, i) => `| ${i} ü |`)].join('\n');

test('what fits is whole', () => {
  expect(withinBudget([{ text: 'first' }, { text: '' }, { text: table(3), cuttable: true }], 1000)).toBe(
    `first\n\n${table(3)}\n`,
  );
});

test('tables end between rows, parts that may not be cut are left out, later ones may still fit', () => {
  const text = withinBudget(
    [{ text: 'first' }, { text: table(500), cuttable: true }, { text: 'x'.repeat(900) }, { text: 'z' }],
    1000,
  );
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1000);
  expect(text).toMatch(/^first\n\n\| a \|\n\|---\|\n\| 0 ü \|\n/);
  expect(text).toMatch(/\| \d+ ü \|\n\n(?:z\n\n)?The rest does not fit here; the full report has it\.\n$/);
});

test('what is first gets its room before a long table that stands before it', () => {
  const last = 'z'.repeat(500);
  const text = withinBudget(
    [
      { text: table(500), cuttable: true },
      { text: last, isFirst: true },
    ],
    1000,
  );
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1000);
  expect(text).toMatch(/^\| a \|\n/);
  expect(text).toContain(last);
});

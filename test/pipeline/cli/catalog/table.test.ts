import { expect, test } from 'vitest';
import { tableText } from '../../../../pipeline/cli/catalog/table.ts';

const PAGE = { isScreen: false, columns: 80 };

test('45: one long cell does not make every row as long', () => {
  const rows = Array.from({ length: 2000 }, (_, i) => [i === 7 ? 'x'.repeat(100_000) : 'name', `${i}`]);
  const text = tableText(['NAME', 'N'], rows, PAGE);
  expect(text).toContain('x'.repeat(100_000));
  expect(text.length).toBeLessThan(3_000_000);
});

test('columns are aligned', () => {
  expect(
    tableText(
      ['A', 'B'],
      [
        ['long', '1'],
        ['x', '2'],
      ],
      PAGE,
    ),
  ).toBe('A     B\nlong  1\nx     2\n');
});

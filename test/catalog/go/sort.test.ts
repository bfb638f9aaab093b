import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { sortAsGo } from '../../../catalog/go/sort.ts';

/** Keys that were sorted by Go 1.26's sort.Slice, and the order in which it left their indexes. */
const recorded = JSON.parse(readFileSync('test/catalog/go/fixtures/go-sort.json', 'utf8')) as readonly {
  readonly keys: readonly number[];
  readonly order: readonly number[];
}[];

test.each(recorded)('sorts $keys.length items as Go does', ({ keys, order }) => {
  const items = keys.map((key, index) => ({ key, index }));
  expect(sortAsGo(items, (a, b) => a.key < b.key).map(({ index }) => index)).toEqual(order);
});

test('a long list of few keys, and one that no pivot divides well, end sorted', () => {
  for (const keys of [
    Array.from({ length: 5000 }, (_, i) => (i * 7919) % 13),
    Array.from({ length: 5000 }, (_, i) => (i % 2 === 0 ? i : 5000 - i)),
  ]) {
    const sorted = sortAsGo([...keys], (a, b) => a < b);
    expect(sorted).toEqual(keys.sort((a, b) => a - b));
  }
});

import { expect, test } from 'vitest';
import { orderOf } from '../../../../pipeline/check/world/order.ts';

const ALL = Number.POSITIVE_INFINITY;

test.each([
  ['versions, without an order', [], ['v4.9', 'v4.20', 'v4.10'], ['v4.9', 'v4.10', 'v4.20']],
  ['versions before a stage', [], ['v4.10-x', 'v4.9-x'], ['v4.9-x', 'v4.10-x']],
  ['a written order', ['blue', 'green'], ['green', 'blue'], ['blue', 'green']],
  [
    'a newer catalog that the order leaves out',
    ['v4.18', 'v4.19'],
    ['v4.18', 'v4.19', 'v4.20'],
    ['v4.18', 'v4.19', 'v4.20'],
  ],
  [
    'one between, and one before',
    ['v4.18', 'v4.20'],
    ['v4.17', 'v4.18', 'v4.19', 'v4.20'],
    ['v4.17', 'v4.18', 'v4.19', 'v4.20'],
  ],
  [
    'a misspelled name',
    ['v4.18', 'v4.91', 'v4.20'],
    ['v4.18', 'v4.19', 'v4.20'],
    ['v4.18', 'v4.19', 'v4.20'],
  ],
  ['no name that there is', ['v4.1x'], ['v4.19', 'v4.20'], ['v4.19', 'v4.20']],
  [
    'a version behind a stage that comes first',
    ['canary', 'v4.19'],
    ['canary', 'v4.18', 'v4.19'],
    ['canary', 'v4.18', 'v4.19'],
  ],
])('clusters go on through all catalogs: %s', (_case, written, catalogs, expected) => {
  const order = orderOf(written, catalogs);
  const [first = ''] = expected;
  expect([first, ...order.after(first, ALL)]).toEqual(expected);
  expect(order.before(expected.at(-1) ?? '', ALL)).toEqual(expected.toReversed().slice(1));
  expect(catalogs.toSorted(order.compare)).toEqual(expected);
});

test.each([
  ['versions, without an order', []],
  ['a written order of one stage', ['v4.19', 'v4.20']],
])('no cluster goes from one stage to another: %s', (_case, written) => {
  const order = orderOf(written, ['v4.19', 'stage-v4.20', 'v4.20', 'stage-v4.21', 'v4.22-stage']);
  expect(order.after('v4.19', ALL)).toEqual(['v4.20']);
  expect(order.after('stage-v4.20', ALL)).toEqual(['stage-v4.21']);
});

test('a catalog without a version that the order leaves out has no place', () => {
  const order = orderOf(['v4.19', 'v4.20'], ['v4.19', 'v4.20', 'extras']);
  expect([...order.after('extras', ALL), ...order.before('extras', ALL)]).toEqual([]);
  expect(order.after('v4.19', ALL)).toEqual(['v4.20']);
});

import { describe, expect, test } from 'vitest';
import { compareMinors, limitAllows, limitOf, tryParseMinor } from '../../../catalog/fbc/openshift.ts';

const limit = (...values: unknown[]) =>
  limitOf(values.map((value) => ({ type: 'olm.maxOpenShiftVersion', value })));

describe('olm.maxOpenShiftVersion', () => {
  test.each([
    ['4.19', { major: 4, minor: 19 }],
    [4.19, { major: 4, minor: 19 }],
    ['4', { major: 4, minor: 0 }],
    ['v4.8', { major: 4, minor: 8 }],
  ])('%j is read', (value, max) => expect(limit(value)).toEqual({ kind: 'limit', max }));

  test.each([['4.19.3'], ['"4.19"'], ['4.19.0-rc.1'], [''], ['four'], [null], [{}]])('%j is not', (value) => {
    expect(limit(value).kind).toBe('invalid');
  });

  test('stands once', () => {
    expect(limit()).toEqual({ kind: 'none' });
    expect(limit('4.19', '4.20').kind).toBe('invalid');
  });

  test('keeps clusters from later versions, and from all where it cannot be read', () => {
    const to = { major: 4, minor: 20 };
    expect([limit('4.19'), limit('4.20'), limit(), limit('x')].map((one) => limitAllows(one, to))).toEqual([
      false,
      true,
      true,
      false,
    ]);
  });

  test.each([
    ['4.22', false, false],
    ['4.23', true, false],
    ['5.0', true, false],
    ['5.1', true, true],
  ])('%s across the change from 4 to 5', (max, to50, to51) => {
    const cluster = [0, 1].map((minor) => limitAllows(limit(max), { major: 5, minor }));
    expect(cluster).toEqual([to50, to51]);
    expect(limitAllows(limit(max), { major: 4, minor: 23 })).toBe(to50);
    expect(limitAllows(limit(max), { major: 4, minor: 22 })).toBe(true);
  });
});

test('5.0 is the release that was to be 4.23', () => {
  expect(compareMinors({ major: 4, minor: 23 }, { major: 5, minor: 0 })).toBe(0);
  expect(compareMinors({ major: 4, minor: 22 }, { major: 5, minor: 0 })).toBeLessThan(0);
  expect(compareMinors({ major: 4, minor: 9 }, { major: 4, minor: 10 })).toBeLessThan(0);
});

test.each([
  ['4.20', { major: 4, minor: 20 }],
  ['v4.9', { major: 4, minor: 9 }],
  ['4.20.1', undefined],
  ['stable', undefined],
])('a catalog called %s is for %j', (name, minor) => expect(tryParseMinor(name)).toEqual(minor));

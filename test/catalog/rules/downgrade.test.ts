import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { intervalsOf } from '../../../catalog/rules/downgrade.ts';
import { satisfies } from '../../../catalog/version/satisfies.ts';
import { compareVersions, parseRange, parseVersion } from '../../../catalog/version/version.ts';
import { runs } from '../../fakes/runs.ts';

const LINE = ['1.0.0-rc.1', '1.0.0', '1.1.0', '1.1.0', '1.2.0', '2.0.0'].map((text) => parseVersion(text));

describe('the positions of a line that a range covers', () => {
  test.each([
    ['>=1.0.0 <1.2.0', [[1, 4]]],
    ['>1.0.0', [[2, 6]]],
    ['<=1.1.0', [[0, 4]]],
    ['1.1.0', [[2, 4]]],
    [
      '>=1.0.0 !=1.1.0',
      [
        [1, 2],
        [4, 6],
      ],
    ],
    [
      '<1.0.0 || >=2.0.0',
      [
        [0, 1],
        [5, 6],
      ],
    ],
    ['<1.1.0 || >=1.1.0', [[0, 6]]],
    ['>=1.0.0 <1.2.0 || >=1.1.0 <2.0.0', [[1, 5]]],
    ['>=1.1.0 <1.1.0', []],
    ['>2.0.0', []],
  ])('%s', (range, expected) => {
    expect(intervalsOf(parseRange(range), LINE)).toEqual(expected.map(([start, end]) => ({ start, end })));
  });

  test('are those of the versions that satisfy it', () => {
    const version = fc
      .tuple(fc.nat(2), fc.nat(2), fc.nat(2), fc.constantFrom('', '-rc.1'))
      .map(([major, minor, patch, suffix]) => `${major}.${minor}.${patch}${suffix}`);
    const comparator = fc
      .tuple(fc.constantFrom('<', '<=', '>', '>=', '=', '!='), version)
      .map((all) => all.join(''));
    const alternative = fc.array(comparator, { minLength: 1, maxLength: 3 }).map((all) => all.join(' '));
    const range = fc.array(alternative, { minLength: 1, maxLength: 3 }).map((all) => all.join(' || '));
    fc.assert(
      fc.property(range, fc.array(version, { maxLength: 12 }), (text, versions) => {
        const [wanted, line] = [parseRange(text), versions.map(parseVersion).sort(compareVersions)];
        const intervals = intervalsOf(wanted, line);
        const covered = line.filter((_, at) => intervals.some(({ start, end }) => start <= at && at < end));
        expect(covered).toEqual(line.filter((one) => satisfies(one, wanted)));
        for (const [i, { start, end }] of intervals.entries()) {
          expect(start).toBeLessThan(end);
          expect(start).toBeGreaterThan(intervals[i - 1]?.end ?? -1);
        }
      }),
      runs(300),
    );
  });
});

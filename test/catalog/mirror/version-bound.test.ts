import { expect, test } from 'vitest';
import { isWithin, parseBound } from '../../../catalog/mirror/version-bound.ts';
import { tryParseVersion } from '../../../catalog/version/version.ts';

test.each([
  ['1', 1],
  ['1.2', 2],
  ['v1.2.3', 3],
  ['1.2.3-rc.1+b', 3],
  ['1-rc.1', 1],
])('%s has %i parts', (text, parts) => {
  expect(parseBound(text)?.parts).toBe(parts);
});

test.each(['', 'x', '1.x', '1.2.3.4', '>=1'])('"%s" is no bound', (text) => {
  expect(parseBound(text)).toBeUndefined();
});

test.each([
  // Both bounds belong to the range.
  ['1.0.0', '1.0.0', '2.0.0', true],
  ['2.0.0', '1.0.0', '2.0.0', true],
  ['0.9.0', '1.0.0', '', false],
  ['2.0.1', '', '2.0.0', false],
  ['7.0.0', '', '', true],
  // What an upper bound leaves out may be anything, what a lower one leaves out is 0.
  ['2.9.9', '', '2', true],
  ['3.0.0', '', '2', false],
  ['2.1.9', '', '2.1', true],
  ['2.2.0', '', '2.1', false],
  ['1.9.0', '', '2.1', true],
  ['2.0.9', '2.1', '', false],
  // A pre-release counts only where a bound is one.
  ['1.5.0-rc.1', '1.0.0', '2.0.0', false],
  ['1.5.0-rc.1', '1.0.0-rc.1', '2.0.0', true],
  ['1.5.0-rc.1', '', '2.0.0-rc.1', true],
  ['1.0.0-rc.1', '1.0.0-rc.2', '', false],
])('%s from "%s" to "%s": %s', (version, least, most, expected) => {
  const parsed = tryParseVersion(version);
  expect(parsed && isWithin(parsed, parseBound(least), parseBound(most))).toBe(expected);
});

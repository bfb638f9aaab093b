import fc from 'fast-check';
import valid from 'semver/functions/valid.js';
import { describe, expect, test } from 'vitest';
import { highestIn, satisfies } from '../../../catalog/version/satisfies.ts';
import {
  compareVersions,
  formatVersion,
  parseRange,
  parseRelease,
  parseVersion,
  tryParseRange,
  tryParseVersion,
} from '../../../catalog/version/version.ts';

describe('parseVersion', () => {
  test.each([
    '0.0.0',
    '1.0.0-alpha.1',
    '1.0.0--',
    '1.0.0-0a',
    '1.0.0+00',
    '1.2.3-rc.1+build.5',
    '18446744073709551615.0.0',
  ])('reads %s and writes it as it was', (text) => expect(formatVersion(parseVersion(text))).toBe(text));

  test.each([
    ['', 'Version string empty'],
    ['1.0', 'No Major.Minor.Patch elements found'],
    ['v1.0.0', 'Invalid character(s) found in major number "v1"'],
    ['1.0.0.0', 'Invalid character(s) found in patch number "0.0"'],
    ['1.00.0', 'Minor number must not contain leading zeroes "00"'],
    ['1.0.0-', 'Prerelease is empty'],
    ['1.0.0-01', 'Numeric PreRelease version must not contain leading zeroes "01"'],
    ['1.0.0+', 'Build meta data is empty'],
    ['1..0', 'strconv.ParseUint: parsing "": invalid syntax'],
    ['18446744073709551616.0.0', 'strconv.ParseUint: parsing "18446744073709551616": value out of range'],
  ])('refuses %j as blang does', (text, message) => {
    expect(() => parseVersion(text)).toThrow(message);
    expect(tryParseVersion(text)).toBeUndefined();
  });
});

test('a text has a version exactly if it can be parsed', () => {
  const part = fc.constantFrom('0', '1', '10', '00', '', '.', '-', '+', 'v', 'rc', ' ', '9007199254740993');
  fc.assert(
    fc.property(fc.array(part, { maxLength: 9 }), (parts) => {
      const text = parts.join('');
      let parsed: unknown;
      try {
        parsed = parseVersion(text);
      } catch {
        // The text is not a version.
      }
      expect(tryParseVersion(text)).toEqual(parsed);
    }),
  );
});

describe('what npm reads otherwise', () => {
  test.each([
    ['leading v', 'v1.0.0'],
    ['space in front', ' 1.0.0'],
    ['space behind', '1.0.0 '],
    ['a line break behind', '1.0.0\n'],
  ])('is read as blang reads it: %s', (_, text) => {
    expect(valid(text)).not.toBeNull();
    expect(tryParseVersion(text)).toBeUndefined();
  });

  test.each([
    ['1.0.0-9007199254740993', '1.0.0-9007199254740994'],
    ['1.0.0-rc.9007199254740991', '1.0.0-rc.9007199254740992'],
    ['9007199254740993.0.0', '9007199254740994.0.0'],
    [`1.0.0-${'a'.repeat(300)}`, `1.0.0-${'a'.repeat(300)}b`],
  ])('is read and compared exactly: %s', (lower, higher) => {
    expect(formatVersion(parseVersion(lower))).toBe(lower);
    expect(compare(lower, higher)).toBe(-1);
    expect(compare('1.0.0-2', lower)).toBe(-1);
  });
});

describe('compareVersions', () => {
  test('gives the answer of blang for what npm compares', () => {
    const part = fc.oneof(fc.nat(3), fc.nat()).map(String);
    const suffix = fc.array(fc.oneof(part, fc.stringMatching(/^[0-9]{0,2}[A-Za-z-][0-9a-z-]{0,2}$/)), {
      maxLength: 3,
    });
    const version = fc
      .tuple(part, part, part, suffix)
      .map(([a, b, c, rest]) => `${a}.${b}.${c}${rest.length > 0 ? `-${rest.join('.')}` : ''}`);
    fc.assert(
      fc.property(version, version, (a, b) => {
        const [x, y] = [parseVersion(a), parseVersion(b)];
        // A copy is not of npm's class, and compared by our port.
        expect(compareVersions(x, y)).toBe(compareVersions({ ...x }, { ...y }));
      }),
    );
  });

  test('orders numbers beyond 2^53 exactly', () => {
    expect(compare('9007199254740993.0.0', '9007199254740992.0.0')).toBe(1);
    expect(compare('1.0.0-9007199254740993', '1.0.0-9007199254740992')).toBe(1);
  });

  test('follows the specification: pre-releases before releases, numbers before text', () => {
    const ordered = [
      '1.0.0-0',
      '1.0.0-1',
      '1.0.0-11',
      '1.0.0-A',
      '1.0.0-alpha',
      '1.0.0-alpha.1',
      '1.0.0',
      '1.0.1',
    ];
    for (const [i, lower] of ordered.entries()) {
      for (const higher of ordered.slice(i + 1)) {
        expect([lower, higher, compare(lower, higher), compare(higher, lower)]).toEqual([
          lower,
          higher,
          -1,
          1,
        ]);
      }
    }
  });

  test('ignores build metadata', () => expect(compare('1.0.0+a', '1.0.0+b')).toBe(0));
});

describe('ranges', () => {
  test.each([
    ['>=1.0.0 <2.0.0', '2.0.0-rc.1', true],
    ['>=1.0.0', '1.0.0-rc.1', false],
    ['<1.0.0 || >=2.0.0', '2.1.0', true],
    ['1.x', '1.9.9', true],
    ['1.x', '2.0.0', false],
    ['1.2.x', '1.2.7', true],
    ['>1.x', '2.0.0', true],
    ['<=1.x', '1.99.0', true],
    ['!1.0.0', '1.0.1', true],
    ['> 1.0.0', '1.0.1', true],
  ])('%s holds %s: %s', (range, version, holds) => {
    expect(satisfies(parseVersion(version), parseRange(range))).toBe(holds);
  });

  test('keeps the quirks that clusters have', () => {
    // Tokens of one character are lost, so a hyphen range is two exact versions at once.
    expect(satisfies(parseVersion('1.5.0'), parseRange('1.0.0 - 2.0.0'))).toBe(false);
    // "Not 1.x" asks for below 1.0.0 and from 2.0.0 on at the same time.
    expect(satisfies(parseVersion('3.0.0'), parseRange('!=1.x'))).toBe(false);
    // Only one of two wildcards is raised.
    expect(satisfies(parseVersion('1.1.0'), parseRange('1.x.x'))).toBe(false);
    // An empty alternative crashes Go when it is asked; here it matches nothing.
    expect(satisfies(parseVersion('9.0.0'), parseRange('1.0.0 || || 2.0.0'))).toBe(false);
  });

  test.each([
    ['', "Last element in range is '||'"],
    ['*', "Last element in range is '||'"],
    ['|| 1.0.0', "First element in range is '||'"],
    ['^1.0.0', 'Could not parse Range "^1.0.0": Could not parse comparator "^" in "^1.0.0"'],
    ['>=1.0', 'Could not parse version "1.0" in ">=1.0": No Major.Minor.Patch elements found'],
    ['>=a', 'Could not get version from string: ">=a"'],
  ])('refuses %j', (range, message) => {
    expect(() => parseRange(range)).toThrow(message);
    expect(tryParseRange(range)).toBeUndefined();
  });

  test('the highest version of a range is the last one of a list that satisfies it', () => {
    const version = fc.tuple(fc.nat(2), fc.nat(3)).map(([minor, patch]) => `1.${minor}.${patch}`);
    const comparator = fc.tuple(fc.constantFrom('', '=', '!=', '<', '<=', '>', '>='), version);
    const alternative = fc.array(comparator, { minLength: 1, maxLength: 4 });
    const range = fc
      .array(alternative, { minLength: 1, maxLength: 3 })
      .map((all) => all.map((one) => one.map((each) => each.join('')).join(' ')).join(' || '));
    fc.assert(
      fc.property(fc.array(version), range, (texts, text) => {
        const ascending = texts.map(parseVersion).sort(compareVersions);
        const parsed = parseRange(text);
        const expected = ascending.filter((one) => satisfies(one, parsed)).at(-1);
        const found = highestIn(ascending, parsed);
        expect(found && compareVersions(found, expected ?? parseVersion('0.0.0'))).toBe(expected && 0);
      }),
    );
  });

  test('a version is in its own closed range and outside of its open ones', () => {
    fc.assert(
      fc.property(fc.nat(99), fc.nat(99), fc.nat(99), (major, minor, patch) => {
        const text = `${major}.${minor}.${patch}`;
        const version = parseVersion(text);
        expect(satisfies(version, parseRange(`>=${text} <=${text}`))).toBe(true);
        expect(satisfies(version, parseRange(`<${text} || >${text}`))).toBe(false);
      }),
    );
  });
});

test('parseRelease reads identifiers and says what is wrong with each', () => {
  expect(parseRelease('')).toEqual([]);
  expect(parseRelease('1.beta')).toEqual([1, 'beta']);
  expect(() => parseRelease('01.a_b')).toThrow(/segment 0: .*leading zeroes.*\nsegment 1: /s);
  expect(() => parseRelease('a'.repeat(21))).toThrow('exceeds maximum length of 20 characters');
});

function compare(a: string, b: string): number {
  return compareVersions(parseVersion(a), parseVersion(b));
}

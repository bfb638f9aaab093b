import { describe, expect, test } from 'vitest';
import { compileGoRegexp } from '../../../catalog/go/regexp.ts';

describe("answers are those of Go's regexp", () => {
  test.each([
    ['\\.md$', 'docs/a.md', true],
    ['\\.md$', 'docs/amd', false],
    ['^docs/.*\\.md$', 'docs/a.md', true],
    ['(?i)\\.md$', 'A.MD', true],
    ['(?i:K)', '\u212a', true],
    ['[[:alpha:]]+', '1a', true],
    ['[[:^alpha:]]', 'a', false],
    ['\\pL', 'é', true],
    ['\\p{Greek}', 'a', false],
    ['(?s)a.b', 'a\nb', true],
    ['a.b', 'a\nb', false],
    ['b$', 'b\n', false],
    ['(?m)^b$', 'a\nb', true],
    ['a(?i)b', 'aB', true],
    ['\\Qa.b\\E', 'a.b', true],
    ['\\Aa\\-b\\z', 'a-b', true],
    ['[]a]', ']', true],
    ['\\s', '\u2028', false],
    ['^.$', '😀', true],
  ])('%s on %j: %s', (source, text, matches) => expect(compileGoRegexp(source)?.test(text)).toBe(matches));

  test.each([
    '(',
    'a)',
    '[',
    '*',
    'a**',
    'a{2,1}',
    'a{1001}',
    '(?=a)',
    '(?<=a)b',
    '(a)\\1',
    '\\',
    '[z-a]',
    '\\p{Nothing}',
    '\\Z',
  ])('%s is refused', (source) => expect(compileGoRegexp(source)).toBeUndefined());
});

test.each(['a'.repeat(501), '(\\pL{99}){20}', `${'('.repeat(240)}a{999}${')'.repeat(240)}`])(
  'an expression beyond the limits is not compiled: %#',
  (source) => expect(compileGoRegexp(source)).toBeUndefined(),
);

test.each(['^(a+)+$', '^(a|a)*$', '(.*)*x(.*)*y$', '^(a?){100}a{100}b$'])('%s does not backtrack', (source) =>
  expect(compileGoRegexp(source)?.test(`${'a'.repeat(3000)}!`)).toBe(false),
);

import { describe, expect, test } from 'vitest';
import { compileGoRegexp as compile, type GoRegexp } from '../../../catalog/go/regexp.ts';
import { MOST_STEPS, StepsError } from '../../../catalog/go/steps.ts';

const compileGoRegexp = (source: string): GoRegexp | undefined => compile(source, { left: MOST_STEPS });

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
  ])('%s on %j: %s', (source, text, matches) =>
    expect(compileGoRegexp(source)?.test(text, { left: MOST_STEPS })).toBe(matches),
  );

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
  expect(compileGoRegexp(source)?.test(`${'a'.repeat(3000)}!`, { left: MOST_STEPS })).toBe(false),
);

describe('steps', () => {
  test.each([
    'a{1000}'.repeat(70),
    '(|a|b){1000}'.repeat(30),
    '\\pL'.repeat(100),
    'a'.repeat(500),
    `${'(a*)*'.repeat(60)}(a|aa|[a-z]{1,9}){1,30}`,
  ])('that are left limit what is compiled: %#', (source) => {
    const steps = { left: MOST_STEPS };
    expect(() => {
      for (let i = 0; i < 300; i++) compile(source, steps);
    }).toThrow(StepsError);
  });

  test('of a match are the instructions for each character', () => {
    const steps = { left: MOST_STEPS };
    const pattern = compile('(a*)*b', steps);
    const left = { left: 1e6 };
    pattern?.test('a'.repeat(99), left);
    expect(left.left).toBe(1e6 - 100 * (pattern?.size ?? 0));
    expect(() => pattern?.test('a'.repeat(1e6), left)).toThrow(StepsError);
  });

  test('suffice for what projects write', () => {
    const steps = { left: MOST_STEPS / 10 };
    for (let i = 0; i < 100; i++) compile('^(?:catalogs|operators)/.*\\.ya?ml$', steps);
    expect(steps.left).toBeGreaterThan(0);
  });
});

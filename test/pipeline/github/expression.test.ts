import { describe, expect, test } from 'vitest';
import { readExpression } from '../../../pipeline/github/expression.ts';

const TEXTS = [
  '',
  'a',
  'aa',
  'b',
  'ab',
  'docs/a.md',
  'docs/amd',
  'etcd/x.yaml',
  'A.MD',
  'a\nb',
  '1.2.0',
  'x-y',
  'é',
  'a]',
  'a{1',
];

describe('means what JavaScript means by it', () => {
  test.each([
    ...[
      '',
      'a',
      '\\.md$',
      '^docs/',
      '^docs/.*\\.md$',
      '(?i)\\.md$',
      '^(a|docs)/',
      '^(?:a|b)*$',
      'a+',
      '^a{2}$',
      '^a{1,}$',
    ],
    ...[
      '^a{0,1}b?$',
      '[^/]+\\.yaml$',
      '^[\\w.-]+$',
      '^\\d+(\\.\\d+)*$',
      '(?s)a.b',
      'a.b',
      '(?m)^b$',
      '\\bmd',
      'a\\B',
      '^(a|)$',
    ],
    ...[
      '^.*?$',
      '^(|a)+$',
      '^(a*)*$',
      '^(a*){2,3}b$',
      '[a\\]]$',
      '\\p{L}',
      '^(?P<name>a)$',
      '[/.]',
      '^\\/?a',
      'a\\]',
    ],
  ])('%s', (source) => {
    const [, flags = '', rest = ''] = /^(?:\(\?([ims]+)\))?(.*)$/s.exec(source.replace('?P<', '?<')) ?? [];
    const expected = new RegExp(rest, `u${flags}`);
    const expression = readExpression(source);
    expect(TEXTS.filter((text) => expression?.test(text))).toEqual(
      TEXTS.filter((text) => expected.test(text)),
    );
    expect(expression).toBeDefined();
  });
});

test('what only Go means by it', () => {
  expect(readExpression('\\Aa\\-b\\z')?.test('a-b')).toBe(true);
  expect(readExpression('^a}\\{,$')?.test('a}{,')).toBe(true);
});

test.each([
  ...[
    '(',
    ')',
    'a)',
    '[',
    '[a',
    '[]a]',
    '[[:alpha:]]',
    '*',
    'a**',
    '^*',
    'a{2,1}',
    '(?=a)',
    '(?!a)',
    '(?<=a)b',
    '(a)\\1',
  ],
  ...[
    '\\Qa\\E',
    '\\',
    'a(?i)b',
    '(?-i)a',
    'a{1000}',
    '((a{99}){99}){99}',
    'a'.repeat(501),
    '[z-a]',
    '\\p{Nothing}',
  ],
])('%s is not read', (source) => {
  expect(readExpression(source)).toBeUndefined();
});

test.each(['^(a+)+$', '^(a|a)*$', '^(a*)*b$', '(.*)*x(.*)*y$', '^(a?){100}a{100}b$'])(
  '%s takes no longer for being written so',
  (source) => {
    const started = performance.now();
    expect(readExpression(source)?.test(`${'a'.repeat(300)}!`)).toBe(false);
    expect(performance.now() - started).toBeLessThan(2000);
  },
);

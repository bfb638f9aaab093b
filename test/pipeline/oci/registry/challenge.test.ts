import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseChallenges } from '../../../../pipeline/oci/registry/challenge.ts';

const read = (header: string) =>
  parseChallenges(header).map(({ scheme, parameters }) => [scheme, Object.fromEntries(parameters)]);

test.each([
  ['Basic realm="x"', [['basic', { realm: 'x' }]]],
  [
    'Bearer realm="https://auth/token",service="reg",scope="repository:a/b:pull,push"',
    [['bearer', { realm: 'https://auth/token', service: 'reg', scope: 'repository:a/b:pull,push' }]],
  ],
  ['bearer REALM=plain', [['bearer', { realm: 'plain' }]]],
  ['Bearer realm = "a" , service = "b"', [['bearer', { realm: 'a', service: 'b' }]]],
  [
    'Basic realm="a", Bearer realm="b"',
    [
      ['basic', { realm: 'a' }],
      ['bearer', { realm: 'b' }],
    ],
  ],
  [
    'Negotiate, Basic realm="a"',
    [
      ['negotiate', {}],
      ['basic', { realm: 'a' }],
    ],
  ],
  [
    'Negotiate YWJj==, Bearer realm="b"',
    [
      ['negotiate', {}],
      ['bearer', { realm: 'b' }],
    ],
  ],
  ['Bearer realm="a \\"quoted\\" \\\\ text, x=y"', [['bearer', { realm: 'a "quoted" \\ text, x=y' }]]],
  ['Bearer', [['bearer', {}]]],
  [',, ,Basic realm="a"', [['basic', { realm: 'a' }]]],
  ['', []],
  ['realm="orphan"', []],
  ['Bearer realm="unterminated', [['bearer', {}]]],
])('%s', (header, expected) => expect(read(header)).toEqual(expected));

test('any text is read, and in time that grows with its length', () => {
  fc.assert(fc.property(fc.string(), (text) => void parseChallenges(text)));
  for (const part of ['"\\', 'a=', ' ', ',', 'a ', 'a="b",'])
    parseChallenges(`Bearer ${part.repeat(50_000)}`);
});

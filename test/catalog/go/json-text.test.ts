import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { stringEnd, withoutSpace } from '../../../catalog/go/json-text.ts';

describe('stringEnd', () => {
  test.each([
    ['""', 0, 2],
    ['["a", "b"]', 6, 9],
    ['"\\""', 0, 4],
    ['"\\\\" "', 0, 4],
    ['"\\\\\\"" ', 0, 6],
    ['"open', 0, 5],
    ['"open\\"', 0, 7],
  ])('%s from %i ends at %i', (text, from, end) => {
    expect(stringEnd(text, from)).toBe(end);
  });
});

describe('withoutSpace', () => {
  test('leaves what JSON.stringify writes without space', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(withoutSpace(JSON.stringify(value, null, '\t\n '))).toBe(JSON.stringify(value));
      }),
    );
  });

  test('keeps escapes and the order of keys', () => {
    expect(withoutSpace(' { "b\\" " : [ 1 , "\\u003c \\\\" ] ,\n"a": -0 } ')).toBe(
      '{"b\\" ":[1,"\\u003c \\\\"],"a":-0}',
    );
  });

  test('takes strings of any length', () => {
    const long = `"${'a '.repeat(8 << 20)}"`;
    expect(withoutSpace(`[ ${long} ]`)).toBe(`[${long}]`);
  });
});

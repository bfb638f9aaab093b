import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compareKeys, sortKeys } from '../../../catalog/yaml/keyorder.ts';

describe('sortKeys', () => {
  test.each([
    ['letters by code point', ['A', 'B', 'a', 'b', 'é', 'Ω', '日']],
    ['prefixes first', ['', 'a', 'ab', 'abc']],
    ['what is no letter before letters, digits last', ['-', '.', '_', '😀', '1', 'a']],
    ['digits as numbers', ['v1', 'v2', 'v10', 'v10.2', 'v10.10', 'v11']],
    ['zeros before a number do not count, fewer digits first', ['a1', 'a01', 'a001', 'a2', 'a02']],
    ['zeros in a number do', ['a1', 'a10', 'a100', 'a101']],
    ['digits of any script', ['a٣', 'a٤', 'a٣٣']],
    ['characters, not the halves of them', ['\uffee', '\u{1f600}', '\u{1f601}']],
  ])('%s: %j', (_, keys) => {
    expect(sortKeys([...keys])).toEqual(keys);
    expect(sortKeys([...keys].reverse())).toEqual(keys);
  });

  test('numbers overflow as an int64 does', () => {
    expect(sortKeys(['1', '9223372036854775808'])).toEqual(['9223372036854775808', '1']);
  });
});

test('either of two different keys comes first, whichever is asked first', () => {
  const key = fc.string({ unit: fc.constantFrom('a', 'B', '0', '1', '9', '-', 'é', '٣', '😀') });
  fc.assert(
    fc.property(key, key, (a, b) => {
      expect(Math.sign(compareKeys(a, b))).toBe(-Math.sign(compareKeys(b, a)) + 0);
      if (a !== b) expect(compareKeys(a, b)).not.toBe(0);
    }),
  );
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  formatG,
  isPlainString,
  kindOfPlain,
  resolvePlain,
  type ScalarKind,
} from '../../../catalog/yaml/scalar.ts';

describe('what a plain scalar is', () => {
  test.each<[ScalarKind, string[]]>([
    ['null', ['', '~', 'null', 'Null', 'NULL']],
    ['bool', ['y', 'Y', 'yes', 'On', 'TRUE', 'n', 'No', 'OFF', 'False']],
    [
      'int',
      ['0', '-0', '+1', '010', '0o17', '0x1F', '-0X1f', '0b11', '0B1', '0b-11', '0b+1', '1_000', '1__0_'],
    ],
    ['int', ['18446744073709551615', '-9223372036854775808', `0x${'0'.repeat(99)}1`, '00']],
    ['float', ['1.5', '.5', '1.', '1e3', '-1E-3', '08', '1_0.5', '.1_0', '.inf', '-.Inf', '.NaN']],
    [
      'float',
      ['18446744073709551616', '-9223372036854775809', '+9223372036854775808', '9'.repeat(99), '1e-400'],
    ],
    [
      'timestamp',
      [
        '2001-01-01',
        '2001-1-1',
        '2001-1-1T1:2:3Z',
        '2001-1-1t1:2:3.4+24:60',
        '2001-1-1   1:2:3,4',
        '2000-02-29',
      ],
    ],
    [
      'str',
      [
        'yEs',
        'nUll',
        '0x',
        '0b2',
        '0o8',
        '1e400',
        '-',
        '+',
        '.',
        '._1',
        '.1_',
        '1e',
        '0x1p3',
        `0x1${'0'.repeat(16)}`,
      ],
    ],
    [
      'str',
      [
        '2001-13-01',
        '2001-02-29',
        '2001-1-1T24:0:0Z',
        '2001-1-1T1:2:3',
        '2001-1-1 1:2:3Z',
        '201-01-01',
        '1:30',
      ],
    ],
    ['str', [`0b-1${'0'.repeat(64)}`, '9'.repeat(400), 'é', 'true ']],
  ])('%s: %j', (kind, texts) => expect(texts.map(kindOfPlain)).toEqual(texts.map(() => kind)));

  test('numbers have their values', () => {
    expect(['010', '0o10', '0x1F', '-0b11', '0b-11', '1_000', '08', '.1_5', '1e3'].map(resolvePlain)).toEqual(
      [8, 8, 31, -3, -3, 1000, 8, 0.15, 1000],
    );
  });

  test('a timestamp is its text', () => expect(resolvePlain('2001-01-01')).toBe('2001-01-01'));

  test('digits without end take no time', () => {
    const digits = '7'.repeat(1_000_000);
    for (const prefix of ['', '0', '0x', '0b1', '1_', '-', '1.', '.']) kindOfPlain(prefix + digits);
    expect(kindOfPlain(`0x${digits}`)).toBe('str');
  });
});

test('strings that read back as themselves may stand without quotes, but for numbers in base 60', () => {
  expect(['a', 'v1.2', '1.2.3', '2001-13-01'].map(isPlainString)).toEqual([true, true, true, true]);
  expect(['1', 'y', '', '2001-01-01', '1:30', '-1:59.5', '190:20:30'].map(isPlainString)).not.toContain(true);
  expect(isPlainString('1:60')).toBe(true);
});

describe("Go's g", () => {
  test.each([
    [100000.5, '100000.5'],
    [1234567.5, '1.2345675e+06'],
    [0.0001, '0.0001'],
    [0.00001, '1e-05'],
    [1e21, '1e+21'],
    [1e100, '1e+100'],
    [-0, '-0'],
    [-1.5, '-1.5'],
    [Number.NEGATIVE_INFINITY, '-.inf'],
    [Number.NaN, '.nan'],
  ])('%d: %s', (value, text) => expect(formatG(value)).toBe(text));

  test('reads back as the same number', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(Number(formatG(value))).toBe(value);
      }),
    );
  });
});

import { describe, expect, test } from 'vitest';
import type { OpmCommand } from '../../../../pipeline/cli/opm/command.ts';
import { callOf, commaList, operandIndexes } from '../../../../pipeline/cli/opm/flags.ts';

const command: OpmCommand = {
  words: 'draw',
  summary: '',
  operands: 'FILE…',
  least: 1,
  most: 2,
  flags: {
    output: { short: 'o', value: 'FORMAT', default: 'json', description: '' },
    bold: { short: 'b', description: '' },
    label: { short: 'l', value: 'LABEL', list: true, description: '' },
  },
  exclusive: ['bold', 'label'],
  run: async () => 0,
};

describe('flags are read as pflag reads them', () => {
  test.each([
    [['a', '-o', 'yaml'], 'yaml'],
    [['-oyaml', 'a'], 'yaml'],
    [['-o=yaml', 'a'], 'yaml'],
    [['--output=yaml', 'a'], 'yaml'],
    [['--output', 'yaml', 'a'], 'yaml'],
    [['-bo', 'yaml', 'a'], 'yaml'],
    [['a', '-o', 'x', '-o', 'yaml'], 'yaml'],
    [['a'], 'json'],
    [['a', '-o', ''], ''],
  ])('%j', (words, output) => {
    const call = callOf(command, words);
    expect(call.text('output')).toBe(output);
    expect(call.operands).toEqual(['a']);
  });

  test('true and false may be written out, and what stands behind -- is no flag', () => {
    const call = callOf(command, ['--bold=F', '--', '-o', 'b']);
    expect(call.flag('bold')).toBe(false);
    expect(call.given('bold')).toBe(true);
    expect(call.operands).toEqual(['-o', 'b']);
  });

  test.each([
    [['a', '--strict'], 'unknown flag: --strict'],
    [['a', '-x'], 'unknown flag: -x in -x'],
    [['a', '-o'], '-o requires a value'],
    [['a', '--bold=perhaps'], '--bold must be true or false, not "perhaps"'],
    [[], 'accepts between 1 and 2 operands, received 0'],
    [['a', 'b', 'c'], 'accepts between 1 and 2 operands, received 3'],
    [['a', '-b', '-l', 'x'], '--bold and --label cannot be used together'],
  ])('%j is refused', (words, message) => {
    expect(() => callOf(command, words).operands).toThrow(message);
  });

  test('flags may stand before a command is named', () => {
    const words = ['--use-http', '-o', 'yaml', 'alpha', 'list', '--', 'x'];
    expect(operandIndexes(words).map((index) => words[index])).toEqual(['alpha', 'list']);
  });
});

describe('lists are a record of CSV', () => {
  test.each([
    ['b=1,a=2', ['b=1', 'a=2']],
    ['', []],
    ['a,', ['a', '']],
    ['"a=x ""y"", z",b', ['a=x "y", z', 'b']],
    ['a,"b"\r\nc', ['a', 'b']],
    ['a,b\r\nc', ['a', 'b']],
    ['a,"b"\r', ['a', 'b']],
  ])('%s', (text, fields) => expect(commaList('label', text)).toEqual(fields));

  test.each(['a"b', '"a"b', '"a'])('%s is refused', (text) => {
    expect(() => commaList('label', text)).toThrow('quote');
  });
});

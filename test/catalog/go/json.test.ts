import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MarkedDocument } from '../../../catalog/fbc/document.ts';
import { JsonError, JsonReader } from '../../../catalog/go/json.ts';

describe('JsonReader', () => {
  test('reads what JSON.parse reads', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.boolean(), (value, spaced) => {
        const text = JSON.stringify(value, null, spaced ? 2 : undefined);
        expect(readAll(text)).toEqual([JSON.parse(text)]);
      }),
    );
  });

  test('reads one value after another', () => {
    expect(readAll('{"a":1}{"b":2}\n[3] "x"')).toEqual([{ a: 1 }, { b: 2 }, [3], 'x']);
  });

  test('makes U+FFFD of halves of surrogate pairs', () =>
    expect(readAll('"\\ud83d\\ude00\\ud83d"')).toEqual(['😀\ufffd']));

  test('keeps __proto__ as an ordinary key', () => {
    const [value] = readAll('{"__proto__": {"polluted": true}}');
    expect(Object.keys(value as object)).toEqual(['__proto__']);
    expect({}).not.toHaveProperty('polluted');
  });

  test.each([
    ['{"a":1,}', "invalid character '}' looking for beginning of object key string", 7],
    ['{"a" 1}', "invalid character '1' after object key", 5],
    ['{"a":1 "b"}', "invalid character '\"' after object key:value pair", 7],
    ['[1 2]', "invalid character '2' after array element", 3],
    ['{"a":01}', "invalid character '1' after object key:value pair", 6],
    ['"a\nb"', "invalid character '\\n' in string literal", 2],
    ['"a\u0001"', "invalid character '\\x01' in string literal", 2],
    ['[\v]', "invalid character '\\v' looking for beginning of value", 1],
    ['\u007f', "invalid character '\\x7f' looking for beginning of value", 0],
    ['"\\q"', "invalid character 'q' in string escape code", 2],
    ['"\\u12x4"', "invalid character 'x' in \\u hexadecimal character escape", 5],
    ['nul', 'unexpected EOF', 3],
    ['nux', "invalid character 'x' in literal null (expecting 'l')", 2],
    ['---', "invalid character '-' in numeric literal", 1],
    ['{"a":', 'unexpected EOF', 5],
  ])('says of %j what Go says', (text, message, offset) => {
    expect(errorOf(text)).toMatchObject({ message, offset, syntax: true });
  });

  test('tells values that do not fit from broken syntax', () => {
    expect(errorOf('1e400')).toMatchObject({ syntax: false });
    expect(errorOf('['.repeat(101) + ']'.repeat(101))).toMatchObject({
      message: 'nested deeper than 100 levels',
      syntax: false,
    });
  });

  test('43: no reader goes deeper than values are walked', () => {
    const text = '['.repeat(100_000);
    expect(() => new JsonReader(text, 1_000_000).next()).toThrow('nested deeper than 1000 levels');
    expect(new JsonReader(`${'['.repeat(1000)}${']'.repeat(1000)}`).next()).toBeDefined();
  });

  test('stays behind the last complete value after an error', () => {
    const reader = new JsonReader('{"a":1}\n{"b"', 100);
    reader.next();
    expect(() => reader.next()).toThrow(JsonError);
    expect([reader.offset, reader.line]).toEqual([7, 1]);
  });
});

describe('places', () => {
  const text = '{\n  "a": [1, {"b": true}],\n  "10": "x", "2": {"c": null},\n  "a": "again"\n}';

  test.each<[(string | number)[], number, number]>([
    [[], 1, 1],
    [['10'], 3, 9],
    [['2'], 3, 14],
    [['2', 'c'], 3, 25],
    [['a'], 4, 8],
    [['missing'], 1, 1],
  ])('%j stands at %i:%i, whatever the order of keys in JavaScript', (path, line, column) => {
    const read = new JsonReader(text, 100).next();
    const document = new MarkedDocument(
      'x.json',
      read?.value,
      read?.marks ?? new Int32Array(),
      read?.written,
    );
    expect(document.locate(path)).toEqual({ file: 'x.json', line, column });
  });

  test('a key that stands twice is reported where it stands again', () => {
    expect(new JsonReader(text, 100).next()?.duplicates).toEqual([{ key: 'a', line: 4, column: 3 }]);
  });
});

function readAll(text: string): unknown[] {
  const reader = new JsonReader(text, 100);
  const values: unknown[] = [];
  for (let read = reader.next(); read; read = reader.next()) values.push(read.value);
  return values;
}

function errorOf(text: string): unknown {
  try {
    readAll(text);
    return undefined;
  } catch (error) {
    return error;
  }
}

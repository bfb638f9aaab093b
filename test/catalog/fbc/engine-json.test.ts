import { expect, test } from 'vitest';
import { inByteOrder, indentedGoJson } from '../../../catalog/fbc/engine-json.ts';
import { indentedJson } from '../../../catalog/go/json-text.ts';
import { jsonValue, Random } from '../../fuzz/yaml-documents.ts';

function written(value: unknown): string | undefined {
  const ordered = inByteOrder(value);
  return ordered === undefined ? undefined : indentedGoJson(ordered);
}

test('what the engine writes is what our own writer writes', () => {
  const random = new Random(11);
  let byEngine = 0;
  for (let run = 0; run < 3000; run++) {
    const value = jsonValue(random, 4);
    const json = written(value);
    if (json === undefined) continue;
    byEngine++;
    expect(json).toBe(indentedJson(value));
  }
  expect(byEngine).toBeGreaterThan(1000);
});

test.each([
  [{ b: 1, a: { d: [{ z: null, y: true }], c: [] } }],
  [{ a: '\u2028<&>\u2029"\\\b\f\n\r\t\u0001\u007fé😀', '\u2028': {} }],
  [[[], {}, [[]], 1e21, 1e-7, 0.1, -1]],
  ['x'],
  [{ A: 1, a: 2, B: 3, '': 4, é: 5 }],
])('%j', (value) => expect(written(value)).toBe(indentedJson(value)));

test.each([
  [-0],
  [{ a: [-0] }],
  [{ 10: 1, 9: 2 }],
  [{ a: { 1: 1 } }],
  [JSON.parse('{"__proto__": 1}')],
  ['\ud800'],
  [{ '\udc00': 1 }],
  [{ '\ufffd': 1, '😀': 2 }],
  ['a text with \\ud800 in it'],
  [12345678901234567890n],
  [undefined],
  [new Map()],
])('%o is left to our own writer', (value) => expect(written(value)).toBeUndefined());

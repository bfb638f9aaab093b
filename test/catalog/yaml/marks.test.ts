import { expect, test } from 'vitest';
import { LineMap, MarkedDocument } from '../../../catalog/fbc/document.ts';
import type { Path } from '../../../catalog/go/shape.ts';
import { compose } from '../../../catalog/yaml/compose.ts';
import { marksOf } from '../../../catalog/yaml/marks.ts';
import { readTree } from '../../../catalog/yaml/parser.ts';
import type { YamlNode } from '../../../catalog/yaml/tree.ts';

function read(text: string) {
  const { root } = readTree(text, { depth: 1000 });
  const lines = new LineMap(text, 1);
  const marks = marksOf(root as YamlNode, (offset) => lines.place(offset));
  const { value, locate } = compose(root);
  const place = (path: Path) => ({ file: 'f', ...lines.place(locate(path)) });
  return { marks, value, place };
}

/** The paths of a value and of all that is in it, and for each one more that does not exist. */
function pathsIn(value: unknown, path: Path = []): Path[] {
  const members = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  const steps = members.map(([key, member]) => [Array.isArray(value) ? Number(key) : key, member] as const);
  return [path, [...path, 'absent'], ...steps.flatMap(([step, one]) => pathsIn(one, [...path, step]))];
}

test.each([
  '# x\n\na: {b: [1, {c: "d"}, []], e: , f: {}}\n"g": ! h\n? i\n: j\n',
  '- - a\n  -\n- {b, c: d}\n- g: "e\n\n    f"\n- |\n  h\n-   i: \n    j:\n    - k\n',
  '{"schema": "olm.channel", "entries": [{"name": "a", "skips": ["b",\n "c"]},\n{"name": "d"}], "x": null}',
  'a: !!str 1\nb: &anchor 2\nc: \'\'\nd: ""\n',
])('the marks of a tree are where the tree has its nodes: %j', (text) => {
  const { marks, value, place } = read(text);
  const document = new MarkedDocument('f', value, marks as Int32Array);
  for (const path of pathsIn(value)) expect([path, document.locate(path)]).toEqual([path, place(path)]);
});

test.each([
  'a: &x 1\nb: *x\n',
  '<<: {a: 1}\nb: 2\n',
  'b: 1\n2: c\n',
  'a: {__proto__: 1}\n',
  '&a a: 1\n*a : 2\n',
])('a tree whose JSON is in another order has no marks: %j', (text) => {
  expect(read(text).marks).toBeUndefined();
});

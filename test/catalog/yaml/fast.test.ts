import { describe, expect, test } from 'vitest';
import { MarkedDocument } from '../../../catalog/fbc/document.ts';
import { compose } from '../../../catalog/yaml/compose.ts';
import { type FastDocument, readFast } from '../../../catalog/yaml/fast.ts';
import { readTree } from '../../../catalog/yaml/parser.ts';

const BUNDLE = `# a comment
schema: olm.bundle
"name": foo.v1.0.0   # another
package: foo

image: quay.io/foo/bar@sha256:0f9f # no tag: here
properties:
- type: olm.package
  value:
    packageName: foo
    version: 1.0.0
-   type: olm.gvk
    value: {}
- type: olm.csv.metadata
  value:
    annotations:
      alm-examples: |-
        [
          {"a: b": 1}

        ]
    description: a text that goes on
      over two lines

      and one more
    quoted: 'it''s
      folded'
    double: "a \\
      b\\n\\u00e9"
    folded: >
      x
      y

        z
    keep: |+
      kept

    empty: ""
    none:
    list:
    - - 1
      - yes
    -
    - 0x1F
relatedImages: []
`;

describe('what catalogs are written in', () => {
  test('is read, with the meaning it has for the full reader', () => {
    expect(read(BUNDLE).value).toEqual(compose(readTree(BUNDLE, { depth: 100 }).root).value);
  });

  test.each<[(string | number)[], number, number]>([
    [[], 2, 1],
    [['schema'], 2, 9],
    [['name'], 3, 9],
    [['image'], 6, 8],
    [['properties'], 7, 1],
    [['properties', 0], 8, 3],
    [['properties', 0, 'value', 'version'], 11, 14],
    [['properties', 1, 'type'], 12, 11],
    [['properties', 1, 'value'], 13, 12],
    [['properties', 2, 'value', 'annotations', 'alm-examples'], 17, 21],
    [['properties', 2, 'value', 'description'], 22, 18],
    [['properties', 2, 'value', 'none'], 39, 5],
    [['properties', 2, 'value', 'list'], 40, 5],
    [['properties', 2, 'value', 'list', 0, 1], 42, 9],
    [['properties', 2, 'value', 'list', 1], 43, 5],
    [['properties', 2, 'value', 'list', 2], 44, 7],
    [['relatedImages'], 45, 16],
  ])('%j stands in line %i, column %i', (path, line, column) => {
    const { value, marks } = read(BUNDLE);
    const document = new MarkedDocument('catalog.yaml', value, marks);
    expect(document.locate(path)).toEqual({ file: 'catalog.yaml', line, column });
  });

  test('nodes before the parts of a list are counted once, however many parts are looked for', () => {
    let reads = 0;
    const counted = new Proxy(Array.from({ length: 500 }, String), {
      get: (target, key, self) => {
        if (key === Symbol.iterator) reads++;
        return Reflect.get(target, key, self);
      },
    });
    const value = { before: counted, items: [counted, 'a', 'b', 'c', 'd', 'e', 'f'] };
    const marks = Int32Array.from({ length: 2 * 1012 }, (_, i) => i);
    const document = new MarkedDocument('catalog.yaml', value, marks);
    const lines = [1, 2, 3, 4, 5, 6].map((i) => document.locate(['items', i]).line / 2);
    expect(lines).toEqual([1004, 1005, 1006, 1007, 1008, 1009]);
    expect(reads).toBeLessThan(7);
  });

  test('a document is read inside its file as it is alone', () => {
    const before = 'x: "\n---\n';
    const file = `${before}${BUNDLE}--- # \t:\n'`;
    const inside = readFast(file, before.length, before.length + BUNDLE.length, 3);
    const alone = read(BUNDLE);
    expect(inside?.value).toEqual(alone.value);
    expect([...(inside?.marks ?? [])]).toEqual(
      [...alone.marks].map((place, i) => (i % 2 === 0 ? place + 2 : place)),
    );
  });

  test('documents larger than what is kept for marks are marked to the end', () => {
    const text = Array.from({ length: 50_000 }, (_, i) => `- v${i}\n`).join('');
    const { value, marks } = read(text);
    expect((value as unknown[]).length).toBe(50_000);
    expect([...marks.slice(-2)]).toEqual([50_000, 3]);
  });
});

describe('what is left to the full reader', () => {
  test.each([
    [''],
    ['# only a comment\n'],
    ['scalar\n'],
    ['a: [b]\n'],
    ['a: {b: c}\n'],
    ['{a: b}\n'],
    ['a: &x b\n'],
    ['a: *x\n'],
    ['a: !!str b\n'],
    ['<<: b\n'],
    ['? a\n'],
    ['a: b\na: c\n'],
    ['yes: b\n'],
    ['1: b\n'],
    ['"1": b\n'],
    ['__proto__: b\n'],
    ['a: .inf\n'],
    ['a:\tb\n'],
    ['a: b\tc\n'],
    ['\ta: b\n'],
    ['a: b\r\n'],
    ['a: \u0085\n'],
    ['a: \u0007\n'],
    ['\ufeffa: b\n'],
    ['a: b\n...\n'],
    ['a: "\\/"\n'],
    ['a: "\\ud83d"\n'],
    ['a: "b\n'],
    ["a: 'b\n"],
    ['a: "b" c\n'],
    ['a: b: c\n'],
    ['a: b:\n'],
    ['a: - b\n'],
    ['a: @b\n'],
    ['a: b\n c: d\n'],
    ['a:\n  b: c\n d: e\n'],
    ['- a\n  - b\n- *c : d\n'],
    ['a: b\n- *c : d\n'],
    ['a: |0\n  b\n'],
    ['a: |x\n'],
    ['a: |\n  \n b\n'],
    ['a: |\n  b'],
    [':\n'],
    [': b\n'],
    [`${'k'.repeat(1025)}: v\n`],
    [`"${'k'.repeat(1025)}": v\n`],
    [Array.from({ length: 70 }, (_, i) => `${' '.repeat(i)}a:\n`).join('')],
  ])('%j', (text) => expect(readFast(text, 0, text.length, 1)).toBeUndefined());
});

test.each([
  ['quotes that never close', `a: 'b\n${"  c: d 'e'' f\n".repeat(50_000)}`],
  ['a long scalar in quotes', `a: "${'b \\" c\n  '.repeat(50_000)}"\n`],
  ['many comments', `${'# c: d\n'.repeat(100_000)}a: b\n`],
  ['many signs that are none', `a: ${'#'.repeat(500_000)}:${':'.repeat(500_000)}x\n`],
  ['blank lines', `a: |\n${' \n'.repeat(100_000)}b: c\n`],
  ['a long literal', `a: |\n${'  b\n\n \n'.repeat(50_000)}c: d\n`],
])(
  '%s take no more time than their length asks',
  (_, text) => {
    // Quadratic work on any of these would take minutes.
    readFast(text, 0, text.length, 1);
    expect(() => readTree(text, { depth: 100 })).not.toThrow(RangeError);
  },
  60_000,
);

function read(text: string): FastDocument {
  const document = readFast(text, 0, text.length, 1);
  if (!document) throw new Error('left to the full reader');
  return document;
}

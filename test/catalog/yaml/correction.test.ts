import { expect, test } from 'vitest';
import { correctedLine } from '../../../catalog/yaml/correction.ts';

const at = (column: number): { file: string; line: number; column: number } => ({
  file: 'f',
  line: 1,
  column,
});

test.each([
  ['name: a', 7, 'a', 'b', 'name: b'],
  ['name: a  # why', 7, 'a', 'b', 'name: b  # why'],
  ['- name: "a"', 9, 'a', 'b: "c"', '- name: "b: \\"c\\""'],
  ["name: 'a''b'", 7, "a'b", "c'd", "name: 'c''d'"],
  ['name: a', 7, 'a', 'true', 'name: "true"'],
  ['name: a', 7, 'a', "' #", "name: ''' #'"],
  ['{"name": "a", "b": 1}', 10, 'a', 'b', '{"name": "b", "b": 1}'],
  ['image: quay.io/a:v1', 8, 'quay.io/a:v1', 'quay.io/a@sha256:0', 'image: quay.io/a@sha256:0'],
  // Another text, a text that goes on, one of several, an alias.
  ['name: ab', 7, 'a', 'b', undefined],
  ['name: a b', 7, 'a', 'b', undefined],
  ['{name: a, b: c}', 8, 'a', 'b', undefined],
  ['name: *a', 7, 'a', 'b', undefined],
  ['name: "\\u0061"', 7, 'a', 'b', undefined],
  ['name:', 7, '', 'b', undefined],
  ["name: 'a'''", 7, "a'", 'b', "name: 'b'"],
  ["name: 'a''b'", 7, 'a', 'b', undefined],
  [`name: "${'a'.repeat(10_000_000)}"`, 7, 'a'.repeat(10_000_000), 'b', 'name: "b"'],
])('%.40s: the scalar at %i, %.40s, becomes %s', (line, column, found, wanted, expected) => {
  expect(correctedLine(line, { kind: 'replace', location: at(column), found, wanted })).toBe(expected);
});

test.each([
  ['- name: a', 9, '- name: a\n  replaces: z'],
  ['  -   name: "a"  # new', 13, '  -   name: "a"  # new\n      replaces: z'],
  ['    name: a', 11, '    name: a\n    replaces: z'],
  ['- {name: a}', 10, undefined],
  ['- &x name: a', 12, undefined],
  ['{"name": "a"}', 10, undefined],
])('%s: another member comes behind it', (line, column, expected) => {
  const correction = { kind: 'add', location: at(column), found: 'a', member: 'replaces: z' } as const;
  expect(correctedLine(line, correction)).toBe(expected);
});

/** The policy's YAML: values with their places, and one finding for what is not read. */
import { expect, test } from 'vitest';
import { readPolicyDocument } from '../../../pipeline/policy/document.ts';

const read = (text: string) => readPolicyDocument('p.yaml', Buffer.from(text));

test('values with the places of their keys', () => {
  const { settings, findings } = read('# why\n---\na: {b: [1, two]}\n"c": yes\n');
  expect(findings).toEqual([]);
  expect(settings?.value).toEqual({ a: { b: [1, 'two'] }, c: 'yes' });
  expect(settings?.locate(['a', 'b', 1])).toMatchObject({ file: 'p.yaml', line: 3, column: 12 });
  expect(settings?.locateKey(['a', 'b'])).toMatchObject({ line: 3, column: 5 });
  expect(settings?.locateKey(['c'])).toMatchObject({ line: 4, column: 1 });
  expect(settings?.locate(['a', 'none', 'deeper'])).toMatchObject({ line: 3, column: 4 });
});

test('an alias has its own place, and the content of its anchor', () => {
  const { settings } = read('a: &x\n  k: 1\nb: *x\nc: {<<: *x, l: 2}\r\n');
  expect(settings?.value).toEqual({ a: { k: 1 }, b: { k: 1 }, c: { k: 1, l: 2 } });
  expect(settings?.locate(['b'])).toMatchObject({ line: 3, column: 4 });
  expect(settings?.locate(['b', 'k'])).toMatchObject({ line: 2, column: 6 });
});

test('an empty file has no value', () => {
  expect(read('# nothing\n')).toMatchObject({ settings: { value: null }, findings: [] });
});

const bomb = (levels: number): string =>
  Array.from({ length: levels }, (_, i) =>
    i === 0
      ? 'a0: &a0 [x]\n'
      : `a${i}: &a${i} [${Array(9)
          .fill(`*a${i - 1}`)
          .join(', ')}]\n`,
  ).join('');

test.each([
  ['a: 1\nb: 2\n"a": 3\n', 3, 'settings/repeated-key', 'duplicate key "a" in a mapping'],
  ['a: 1\n---\nb: 2\n', 3, 'settings/document', 'the policy must be one document'],
  ['a:\n  - [\n', 3, 'settings/yaml', 'not YAML: deficient indentation'],
  ['a: x # why\rb: y\n', 1, 'settings/yaml', 'a carriage return alone, which no diff shows, ends a line'],
  ['a: *nope\n', 1, 'settings/yaml', 'not YAML: unidentified alias "nope"'],
  ['a: !!js/function x\n', 1, 'settings/yaml', 'not YAML: '],
  [`a: ${'['.repeat(60)}${']'.repeat(60)}`, 1, 'settings/yaml', 'not YAML: '],
  [bomb(8), 1, 'settings/yaml', 'aliases expand the policy to more than 100000 values'],
  ['a: &a [*a]\n', 1, 'settings/yaml', 'aliases expand the policy to more than 100000 values'],
  [`a: &a x\nb: [${'*a, '.repeat(101)}]\n`, 2, 'settings/yaml', 'not YAML: '],
])('%j is one error', (text, line, rule, message) => {
  const { settings, findings } = read(text);
  expect(settings).toBeUndefined();
  expect(findings).toMatchObject([{ rule, severity: 'error', location: { line } }]);
  expect(findings[0]?.message).toContain(message);
});

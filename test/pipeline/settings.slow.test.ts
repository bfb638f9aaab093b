/** Files of settings: one document, read in linear time. */
import { expect, test } from 'vitest';
import { readSettings, readStrictSettings } from '../../pipeline/settings.ts';

const read = (text: string) => readSettings('ci.yaml', Buffer.from(text));

test('values with their places', () => {
  const { settings, findings } = read('# why\n\n---\na: {b: 1}\n');
  expect(settings?.value).toEqual({ a: { b: 1 } });
  expect(settings?.locate(['a', 'b'])).toMatchObject({ file: 'ci.yaml', line: 4, column: 8 });
  expect(findings).toEqual([]);
});

test.each([
  ['a: 1\n---\nb: 2\n', 2],
  ['---\na: 1\n---\n', 3],
  ['%YAML 1.1\n---\n \n# x\na: 1\n--- # y\nb: 1\n', 6],
])('%j: nothing behind the first document is read', (text, line) => {
  expect(read(text).findings).toMatchObject([{ rule: 'settings/document', location: { line } }]);
});

test('a file that says who may do something must be UTF-8, as Go and Python read it', () => {
  const bytes = Buffer.from('# caf\xe9\nreviewers: [bob]\n', 'latin1');
  expect(readSettings('ci.yaml', bytes).settings?.value).toEqual({ reviewers: ['bob'] });
  const { settings, findings } = readStrictSettings('ci.yaml', bytes);
  expect(settings).toBeUndefined();
  expect(findings).toMatchObject([{ rule: 'settings/yaml', message: 'not YAML: the text is not UTF-8' }]);
  expect(readStrictSettings('ci.yaml', Buffer.from('# café\nreviewers: [bob]\n')).findings).toEqual([]);
});

test('a million empty lines take no longer than they have to', () => {
  for (const blank of ['\n', ' \n', '\u2028\n', '\r\n']) {
    const { findings } = read(`${blank.repeat(1_000_000)}a: 1\n`);
    expect(findings.filter(({ rule }) => rule === 'settings/document')).toEqual([]);
  }
});

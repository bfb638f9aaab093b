/** Names in commands that people copy. */
import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { shellWord } from '../../catalog/names.ts';
import { runs } from '../fakes/runs.ts';

/** The words that a shell reads, each with its length. */
const wordsOf = (line: string): string =>
  execFileSync('/bin/sh', ['-c', `printf '%s\\n' ${line}`], { encoding: 'utf8', env: {}, cwd: '/' });

test('65: a word is not executed, split or expanded by a shell', () => {
  const hostile = [
    '',
    'a b',
    '$(id)',
    '`id`',
    "'; id; '",
    '~',
    '*',
    '$HOME',
    'a\nb',
    '#',
    '!!',
    '\\',
    '"',
    '{a,b}',
  ];
  const text = fc.string({ unit: fc.constantFrom(...'ab $`\'"\\;|&<>()*?[]~#!{}\n=%'), maxLength: 12 });
  fc.assert(
    fc.property(fc.oneof(fc.constantFrom(...hostile), text), (word) => {
      expect(wordsOf(shellWord(word))).toBe(`${word}\n`);
    }),
    runs(100),
  );
});

test.each(['etcd', 'catalogs/v4.20', 'quay.io/a/b@sha256:00', 'v1.0.0+build', '--name=x'])(
  'the plain word %s has no quotation marks',
  (word) => {
    expect(shellWord(word)).toBe(word);
  },
);

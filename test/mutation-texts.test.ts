/** The texts of the mutations: whoever changes a defence learns at once that its mutation must change with it. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { MUTATIONS } from './mutations/all.ts';

/** The attacks on the gate, and behind them those that have a number in the threat model. */
const NUMBERED = readFileSync('docs/threat-model.md', 'utf8').matchAll(/^\| (\d+): /gm);
const ATTACKS = [...Array.from({ length: 40 }, (_, i) => i + 1), ...[...NUMBERED].map(([, n]) => Number(n))];

test('every attack has a defence that is taken out', () => {
  expect([...new Set(MUTATIONS.map(({ attack }) => attack))].sort((a, b) => a - b)).toEqual(ATTACKS);
});

test('the text of each defence stands in its file once', () => {
  const edits = MUTATIONS.flatMap((mutation) => [mutation, ...(mutation.and ? [mutation.and] : [])]);
  const moved = edits.filter(({ file, text }) => readFileSync(file, 'utf8').split(text).length !== 2);
  expect(moved.map(({ file, text }) => `${file}: ${text}`)).toEqual([]);
});

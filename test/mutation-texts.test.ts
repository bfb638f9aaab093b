/** The texts of the mutations: whoever changes a defence learns at once that its mutation must change with it. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { MUTATIONS } from './mutations/all.ts';

/** Attacks of the design's list, and behind them those that were found since. */
const ATTACKS = Array.from({ length: 120 }, (_, i) => i + 1);

test('every attack has a defence that is taken out', () => {
  expect([...new Set(MUTATIONS.map(({ attack }) => attack))].sort((a, b) => a - b)).toEqual(ATTACKS);
});

test('the text of each defence stands in its file once', () => {
  const edits = MUTATIONS.flatMap((mutation) => [mutation, ...(mutation.and ? [mutation.and] : [])]);
  const moved = edits.filter(({ file, text }) => readFileSync(file, 'utf8').split(text).length !== 2);
  expect(moved.map(({ file, text }) => `${file}: ${text}`)).toEqual([]);
});

/** The texts of the mutations: whoever changes a defence learns at once that its mutation must change with it. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { MUTATIONS } from './mutations/all.ts';

test('the text of each defence stands in its file once', () => {
  const edits = MUTATIONS.flatMap((mutation) => [mutation, ...(mutation.and ? [mutation.and] : [])]);
  const moved = edits.filter(({ file, text }) => readFileSync(file, 'utf8').split(text).length !== 2);
  expect(moved.map(({ file, text }) => `${file}: ${text}`)).toEqual([]);
});

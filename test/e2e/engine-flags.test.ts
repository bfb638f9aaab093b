/** Commands set flags of the engine: on a version of Node that does not know one, the engine complains on standard error. */
import { beforeAll, expect, test } from 'vitest';
import { buildProgram, program } from '../fakes/program.ts';

beforeAll(buildProgram);

test.each(['audit', 'check', 'lsp', 'validate'])('the engine knows the flags of %s', (word) => {
  const { exit, err } = program([word, '--help']);
  expect([exit, err]).toEqual([0, '']);
});

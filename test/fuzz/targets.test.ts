/** Every parser ends on every input in a value or in its own error, and soon. */
import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { fuzz } from './mutations.ts';
import { TARGETS } from './targets.ts';
import { Random } from './yaml-documents.ts';

const RUNS = Math.ceil(Number(process.env['FUZZ_RUNS'] ?? 20_000) / 40);
const SEED = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 32));

test('each target has inputs, and each folder of inputs a target', () => {
  expect(readdirSync('test/fuzz/corpus').sort()).toEqual(Object.keys(TARGETS).sort());
});

test.each(Object.keys(TARGETS))(`%s: ${RUNS} inputs (seed ${SEED})`, async (name) => {
  await fuzz(name, RUNS, new Random(SEED));
});

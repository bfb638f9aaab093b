/**
 * That the tests of the attacks test their defences: each defence is taken out of a copy of the sources, one at a
 * time, and a test of its attack must then fail. A test that stays green guards nothing.
 */
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Edit, Mutation } from './mutation.ts';
import { OUTPUT_MUTATIONS } from './outputs.ts';
import { PEOPLE_MUTATIONS } from './people.ts';
import { TREE_MUTATIONS } from './trees.ts';

const MUTATIONS: readonly Mutation[] = [...PEOPLE_MUTATIONS, ...TREE_MUTATIONS, ...OUTPUT_MUTATIONS];

/** Attacks of the design's list, and behind them those that were found since. */
const ATTACKS = Array.from({ length: 40 }, (_, i) => i + 1);

const SOURCES = [
  'action.yml',
  'catalog',
  'docs',
  'functions',
  'package.json',
  'package-lock.json',
  'pipeline',
  'scripts',
  'test',
];
const CONFIG = 'mutations.config.mjs';
const CONFIG_TEXT = `export default {
  test: { include: ['test/**/*.test.ts'], pool: 'forks', fileParallelism: false, testTimeout: 60_000, hookTimeout: 60_000 },
};
`;

let copy = '';
beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'portolan-mutations-'));
  for (const name of SOURCES) cpSync(name, join(copy, name), { recursive: true });
  symlinkSync(resolve('node_modules'), join(copy, 'node_modules'));
  writeFileSync(join(copy, CONFIG), CONFIG_TEXT);
});
afterAll(() => rmSync(copy, { recursive: true, force: true }));

/** Each runs a suite of its own, which waits as the Action does between what it writes. */
const PATIENT = { timeout: 600_000 };

/** The tests of an attack, by their whole names: `6: …`, `3 and 11: …`, `attack 36: …`. */
const namesOf = (attack: number): string => `(?:^| )(?:\\d+ and )?${attack}(?: and \\d+)?: `;

interface TestResult {
  readonly fullName: string;
  readonly status: string;
}

/** How the tests of an attack end in the copy. */
function runTests({ attack, test: file }: Mutation): Promise<TestResult[]> {
  const vitest = resolve('node_modules/vitest/vitest.mjs');
  const report = join(copy, 'report.json');
  rmSync(report, { force: true });
  const words = [vitest, 'run', '--config', CONFIG, '--reporter=json', `--outputFile=${report}`, file];
  const environment = { PATH: process.env['PATH'], HOME: process.env['HOME'], TMPDIR: process.env['TMPDIR'] };
  return new Promise((done) => {
    const names = ['-t', namesOf(attack)];
    execFile(process.execPath, [...words, ...names], { cwd: copy, env: environment }, () => {
      const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as {
        testResults: { assertionResults: TestResult[] }[];
      };
      const wanted = new RegExp(namesOf(attack));
      const all = testResults.flatMap(({ assertionResults }) => assertionResults);
      done(all.filter(({ fullName }) => wanted.test(fullName)));
    });
  });
}

test('every attack has a defence that is taken out', () => {
  expect([...new Set(MUTATIONS.map(({ attack }) => attack))].sort((a, b) => a - b)).toEqual(ATTACKS);
});

/** Takes a defence out of the copy; gives back what puts it in again. */
function take({ file, text, instead }: Edit): () => void {
  const place = join(copy, file);
  const whole = readFileSync(place, 'utf8');
  expect(whole.split(text), `the text of the defence stands in ${file} once`).toHaveLength(2);
  writeFileSync(
    place,
    whole.replace(text, () => instead),
  );
  return () => writeFileSync(place, whole);
}

test.each(MUTATIONS)('attack $attack: without $without, a test fails ($file)', PATIENT, async (mutation) => {
  const edits = [mutation, ...(mutation.and ? [mutation.and] : [])];
  const undo = edits.map(take);
  try {
    const results = await runTests(mutation);
    expect(results.map(({ status }) => status)).toContain('failed');
  } finally {
    for (const one of undo) one();
  }
});

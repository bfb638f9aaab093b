/**
 * That the tests of the attacks test their defences: each defence is taken out of a copy of the sources, one at a
 * time in each copy, and a test of its attack must then fail. A test that stays green guards nothing.
 *
 * MUTATION_MINUTES says how long it may take (120): what has not begun by then is skipped, and named at the end.
 */
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { MUTATIONS } from './all.ts';
import type { Edit, Mutation } from './mutation.ts';

const SOURCES = [
  '.github',
  'action.yml',
  'catalog',
  'docs',
  'functions',
  'package.json',
  'package-lock.json',
  'pipeline',
  'playground',
  'scripts',
  'test',
  'tsconfig.json',
];
const CONFIG = 'mutations.config.mjs';
/** Modules are transformed once in each copy: most of a run would be that, over and over. */
const CONFIG_TEXT = `export default {
  cacheDir: '.vite',
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    fileParallelism: false,
    hookTimeout: 300_000,
    experimental: { fsModuleCache: true, fsModuleCachePath: '.vite/modules' },
  },
};
`;

/** The tests mostly wait, as the Action does between what it writes: several copies at once. */
const COPIES = 4;
const END = Date.now() + Number(process.env['MUTATION_MINUTES'] ?? 120) * 60_000;

const copies: string[] = [];
const free: string[] = [];
const waiting: ((copy: string) => void)[] = [];
/** Mutations that were not tried for want of time. */
const skipped: string[] = [];

vi.setConfig({ maxConcurrency: COPIES });
beforeAll(() => {
  for (let i = 0; i < COPIES; i++) {
    const copy = mkdtempSync(join(tmpdir(), 'portolan-mutations-'));
    copies.push(copy);
    for (const name of SOURCES) cpSync(name, join(copy, name), { recursive: true });
    symlinkSync(resolve('node_modules'), join(copy, 'node_modules'));
    writeFileSync(join(copy, CONFIG), CONFIG_TEXT);
  }
  free.push(...copies);
});
afterAll(() => {
  for (const copy of copies) rmSync(copy, { recursive: true, force: true });
  if (skipped.length > 0)
    process.stdout.write(`not tried for want of time: ${skipped.map((one) => `\n  ${one}`).join('')}\n`);
});

/** Runs something in a copy that nobody else uses meanwhile. */
async function inCopy<T>(run: (copy: string) => Promise<T>): Promise<T> {
  const copy = free.pop() ?? (await new Promise<string>((resolve) => waiting.push(resolve)));
  try {
    return await run(copy);
  } finally {
    const next = waiting.shift();
    if (next) next(copy);
    else free.push(copy);
  }
}

/** Each runs a suite of its own, which waits as the Action does between what it writes. */
const PATIENT = { timeout: 600_000 };

/** The tests of an attack, by their whole names: `6: …`, `3 and 11: …`, `attack 36: …`. */
const namesOf = ({ attack, title = '' }: Mutation): string =>
  `(?:^| )(?:\\d+ and )?${attack}(?: and \\d+)?: .*${title}`;

interface TestResult {
  readonly fullName: string;
  readonly status: string;
}

/** How the tests of an attack end in a copy, until one fails. */
function runTests(copy: string, mutation: Mutation): Promise<TestResult[]> {
  const { test: file, limit = 60_000 } = mutation;
  const vitest = resolve('node_modules/vitest/vitest.mjs');
  const report = join(copy, 'report.json');
  rmSync(report, { force: true });
  const words = [vitest, 'run', '--config', CONFIG, '--reporter=json', `--outputFile=${report}`, file];
  const environment = { PATH: process.env['PATH'], HOME: process.env['HOME'], TMPDIR: process.env['TMPDIR'] };
  return new Promise((done) => {
    const names = ['--bail=1', `--testTimeout=${limit}`, '-t', namesOf(mutation)];
    execFile(process.execPath, [...words, ...names], { cwd: copy, env: environment }, () => {
      const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as {
        testResults: { assertionResults: TestResult[] }[];
      };
      const wanted = new RegExp(namesOf(mutation));
      const all = testResults.flatMap(({ assertionResults }) => assertionResults);
      done(all.filter(({ fullName }) => wanted.test(fullName)));
    });
  });
}

/** Takes a defence out of a copy; gives back what puts it in again. */
function take(copy: string, { file, text, instead }: Edit): () => void {
  const place = join(copy, file);
  const whole = readFileSync(place, 'utf8');
  expect(whole.split(text), `the text of the defence stands in ${file} once`).toHaveLength(2);
  writeFileSync(
    place,
    whole.replace(text, () => instead),
  );
  return () => writeFileSync(place, whole);
}

test.concurrent.for(MUTATIONS)(
  'attack $attack: without $without, a test fails ($file)',
  PATIENT,
  async (mutation, { skip }) => {
    if (Date.now() > END) {
      skipped.push(`attack ${mutation.attack}: ${mutation.without} (${mutation.file})`);
      skip('no time is left');
    }
    const edits = [mutation, ...(mutation.and ? [mutation.and] : [])];
    await inCopy(async (copy) => {
      const undo = edits.map((edit) => take(copy, edit));
      try {
        const results = await runTests(copy, mutation);
        expect(results.map(({ status }) => status)).toContain('failed');
      } finally {
        for (const one of undo) one();
      }
    });
  },
);

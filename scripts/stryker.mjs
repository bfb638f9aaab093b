// npm run stryker -- [SEED] [FILES]: mutates eight lines of each of some files of catalog/ and pipeline/ (40), all randomly
// drawn, runs the tests that import them, and prints how many mutants each file's tests kill. It needs Node 22 or later and, beside the
// project's packages, those of .ci/versions: it is run by hand and by a weekly workflow, never in CI.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [seed = '1', files = '40'] = process.argv.slice(2);
const FOLDER = '.stryker-tmp';
/** Lines of a file that are mutated: of 40 whole files a run takes a day. */
const LINES = 8;
/** A line that decides or computes something. */
const LOGIC = /^ +(?:if|return|const) |=>/;
const REPORT = join(FOLDER, 'mutation.json');

const mutate = drawn(Number(seed), Number(files));
mkdirSync(FOLDER, { recursive: true });
writeFileSync(join(FOLDER, 'config.json'), JSON.stringify(config(mutate)));
console.log(`seed ${seed}: ${mutate.length} files`);
const { status } = spawnSync('node_modules/.bin/stryker', ['run', join(FOLDER, 'config.json')], {
  stdio: 'inherit',
});
if (status !== 0) process.exit(status ?? 1);
console.log(table(JSON.parse(readFileSync(REPORT, 'utf8'))));

/** Stryker's configuration for some files. */
function config(mutate) {
  return {
    mutate,
    plugins: ['@stryker-mutator/vitest-runner'],
    testRunner: 'vitest',
    vitest: { configFile: 'vitest.stryker.config.ts', related: true },
    coverageAnalysis: 'perTest',
    ignorePatterns: ['/dist', '/site/dist', '/site/pages', '/site/node_modules', '/.demo'],
    tempDirName: join(FOLDER, 'sandbox'),
    reporters: ['progress-append-only', 'clear-text', 'json'],
    clearTextReporter: { reportTests: false, reportScoreTable: false },
    jsonReporter: { fileName: REPORT },
    // TypeScript 7 cannot be asked about its configuration.
    tsconfigFile: 'none',
    disableTypeChecks: false,
    // A mutant outside of functions would need all tests, each file of them loaded anew.
    ignoreStatic: true,
    timeoutMS: 60_000,
    dryRunTimeoutMinutes: 60,
    concurrency: 2,
  };
}

/** The same lines of the same files for the same seed, as long as no file changes. */
function drawn(seed, count) {
  const all = ['catalog', 'pipeline'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => join(folder, file)),
  );
  const left = all.filter((file) => hasLogic(readFileSync(file, 'utf8'))).sort();
  let state = seed;
  const next = (below) => {
    // Park and Miller.
    state = (state * 48271) % 2147483647;
    return state % below;
  };
  return Array.from({ length: Math.min(count, left.length) }, () => {
    const [file] = left.splice(next(left.length), 1);
    const lines = readFileSync(file, 'utf8').split('\n');
    const logic = lines.flatMap((line, i) => (LOGIC.test(line) ? [i + 1] : []));
    const from = logic[next(logic.length)];
    return `${file}:${from}-${Math.min(lines.length, from + LINES - 1)}`;
  });
}

/** Lists, types and generated files have nothing to mutate. */
function hasLogic(text) {
  return !text.startsWith('// Generated') && text.split('\n').some((line) => LOGIC.test(line));
}

/** The share of killed mutants, the killed and the living, by file. One that made the tests hang counts as killed. */
function table({ files }) {
  const rows = Object.entries(files).map(([file, { mutants }]) => {
    const count = (...statuses) => mutants.filter(({ status }) => statuses.includes(status)).length;
    return { file, killed: count('Killed', 'Timeout'), alive: count('Survived', 'NoCoverage') };
  });
  const sum = (key) => rows.reduce((total, row) => total + row[key], 0);
  const all = { file: 'all', killed: sum('killed'), alive: sum('alive') };
  return [...rows, all]
    .map(({ file, killed, alive }) => `${percent(killed, killed + alive)}\t${killed}\t${alive}\t${file}`)
    .join('\n');
}

/** A share with one digit behind the point; a dash for a share of nothing. */
function percent(part, whole) {
  return whole === 0 ? '–' : `${((100 * part) / whole).toFixed(1)}%`;
}

// npm run check [-- --without-tests]: everything that must hold before a commit. What is quick comes first, all of it
// at once.
import { execFileSync, spawn } from 'node:child_process';
import { writeRuleLists } from './rule-lists.mjs';

/** Where the compiler remembers what it found: what did not change is not looked at again. */
const SEEN = 'node_modules/.cache/portolan/types.tsbuildinfo';

/** A slow suite that is the only test of a contract, with the files that must keep it. */
const CONTRACTS = [
  {
    files: ['pipeline/forge', 'pipeline/github', 'test/fakes/forge-contract.ts'],
    suite: 'test/attack/forges.test.ts',
  },
];

const withoutTests = process.argv.includes('--without-tests');

// Maintainers build the Action after a merge: the build below must not get into another commit by accident.
const ACTION = ['dist/action.cjs', 'dist/third-party.txt'];
if (!withoutTests && !isChanged(ACTION))
  process.on('exit', () => execFileSync('git', ['restore', '--', ...ACTION]));

const steps = [
  [
    ['generated files', 'node', 'scripts/generate.mjs', '--check'],
    ['lint', 'node_modules/.bin/biome', 'check', '.'],
    ['types', 'node_modules/.bin/tsc', '--noEmit', '--incremental', '--tsBuildInfoFile', SEEN],
    ['types of the playground', 'node_modules/.bin/tsc', '--project', 'playground'],
    ['build', 'node', 'scripts/build.mjs'],
  ],
  withoutTests ? [] : [['tests', 'npm', 'test', '--silent', '--', '--reporter=dot']],
  withoutTests ? [] : contractsOfChanges(),
];

const started = Date.now();
writeRuleLists();
for (const together of steps) {
  const results = await Promise.all(together.map(run));
  if (results.some((ok) => !ok)) process.exit(1);
}
console.log(`all good (${seconds(started)})`);

/** The contracts that uncommitted changes must keep. */
function contractsOfChanges() {
  const suites = CONTRACTS.filter(({ files }) => isChanged(files)).map(({ suite }) => suite);
  if (suites.length === 0) return [];
  const parameters = ['run', '--config', 'vitest.slow.config.ts', '--reporter=dot', ...suites];
  return [['contracts', 'node_modules/.bin/vitest', ...parameters]];
}

/** Whether some of the files have changes that are not committed, or are new. */
function isChanged(paths) {
  return execFileSync('git', ['status', '--porcelain', '--', ...paths], { encoding: 'utf8' }) !== '';
}

/** Runs a step, and prints its result, and its output if it fails. @returns whether it passed */
function run([name, program, ...parameters]) {
  const began = Date.now();
  return new Promise((resolve) => {
    const child = spawn(program, parameters, { stdio: ['ignore', 'pipe', 'pipe'] });
    const output = [];
    child.stdout.on('data', (chunk) => output.push(chunk));
    child.stderr.on('data', (chunk) => output.push(chunk));
    child.on('close', (code) => {
      console.log(`${code === 0 ? 'ok  ' : 'FAIL'} ${name} (${seconds(began)})`);
      if (code !== 0) process.stdout.write(Buffer.concat(output));
      resolve(code === 0);
    });
  });
}

/** How long ago a time was. */
function seconds(since) {
  return `${((Date.now() - since) / 1000).toFixed(1)} s`;
}

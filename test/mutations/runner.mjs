/**
 * Runs the tests of the copy of the sources that it stands in: one vitest for all mutations of the copy, as starting one
 * costs more than most of the tests. It is sent what to run, and answers with how each test ended.
 */
import { resolve } from 'node:path';
import { createVitest } from 'vitest/node';

const vitest = await createVitest(
  'test',
  {
    config: false,
    watch: false,
    pool: 'forks',
    fileParallelism: false,
    hookTimeout: 300_000,
    bail: 1,
    reporters: [{}],
    setupFiles: ['test/mutations/first-failure.ts'],
    // Modules are transformed once in each copy: most of a run would be that, over and over.
    experimental: { fsModuleCache: true, fsModuleCachePath: '.vite/modules' },
  },
  { cacheDir: '.vite' },
);
const project = vitest.getRootProject();
/** What the last run was changed in, and this one no longer is. */
let last = [];

process.on('message', async ({ changed, file, names, limit }) => {
  for (const path of [...last, ...changed]) vitest.invalidateFile(resolve(path));
  last = changed;
  vitest.setGlobalTestNamePattern(new RegExp(names));
  project.config.testTimeout = limit;
  // Earlier failures count for `bail`.
  vitest.state.filesMap.clear();
  vitest.state.idMap.clear();
  const { testModules } = await vitest.runTestSpecifications([project.createSpecification(resolve(file))]);
  const tests = testModules.flatMap(({ children }) => [...children.allTests()]);
  process.send(tests.map((one) => one.result().state));
});
process.on('disconnect', () => process.exit());
process.send('ready');

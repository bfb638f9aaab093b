import { availableParallelism } from 'node:os';
import { defineConfig, type ViteUserConfig } from 'vitest/config';
import type { Reporter } from 'vitest/node';

/** A name that no test has, as `-t channel/haed`, must not look like success. */
const FAIL_WITHOUT_TESTS: Reporter = {
  onTestRunEnd(modules) {
    const tests = modules.flatMap(({ children }) => [...children.allTests()]);
    if (tests.length === 0 || tests.some((test) => test.result().state !== 'skipped')) return;
    process.stderr.write('no test ran: no title matches the pattern of -t, or all are skipped\n');
    process.exitCode = 1;
  },
};

const config: ViteUserConfig = defineConfig({
  test: {
    // A hang fails the run; a slow machine does not. No test sets a shorter time of its own.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
    include: ['test/**/*.test.ts'],
    // Suites that need tools or data beyond Node and git run by themselves: see .ci/run.
    exclude: ['test/e2e/**', 'test/attack/**', 'test/fuzz/**', 'test/mutations/**'],
    reporters: ['default', FAIL_WITHOUT_TESTS],
    globalSetup: ['scripts/rule-lists.mjs', 'test/fakes/memory-disk.ts'],
    isolate: false,
    experimental: { fsModuleCache: true },
    // Starting git copies the page tables of the process that starts it: a thread's would be those of all workers.
    pool: 'forks',
    // One more than there are cores: some tests wait for others' time, for retries and for what never answers.
    maxWorkers: availableParallelism() + 1,
  },
});
export default config;

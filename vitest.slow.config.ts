import { defineConfig, type ViteUserConfig } from 'vitest/config';

/** Suites that start servers, need tools, or take their time: what .ci/run adds to npm test. */
const config: ViteUserConfig = defineConfig({
  test: {
    globalSetup: ['scripts/rule-lists.mjs', 'test/fakes/memory-disk.ts'],
    include: ['test/{e2e,attack,fuzz,mutations}/**/*.test.ts'],
    // A hang fails the run; a slow machine does not.
    testTimeout: 900_000,
    hookTimeout: 900_000,
    expect: { poll: { timeout: 120_000 } },
    experimental: { fsModuleCache: true },
    pool: 'forks',
    fileParallelism: false,
  },
});
export default config;

/**
 * What Stryker runs: not the tests that read the sources themselves, and find them changed. Modules are
 * loaded anew for each file of tests: kept ones would not see which mutant is active.
 */
import { defineConfig, mergeConfig, type ViteUserConfig } from 'vitest/config';
import base from './vitest.config.ts';

const config: ViteUserConfig = mergeConfig(
  base,
  defineConfig({
    test: { exclude: ['test/!(rules|cases).test.ts'], isolate: true, experimental: { fsModuleCache: false } },
  }),
);
export default config;

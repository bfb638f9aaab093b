// Builds dist/: the command line and the libraries (with the parts that they share), the Action, the functions.
import { chmodSync, readFileSync, rmSync } from 'node:fs';
import { build } from 'esbuild';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const common = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  logLevel: 'error',
  legalComments: 'none',
  charset: 'utf8',
  // A part of the CycloneDX library that writes XML, which is not installed.
  external: ['xmlbuilder2'],
  define: { PORTOLAN_VERSION: JSON.stringify(version) },
};

for (const old of [
  'dist/portolan.mjs',
  'dist/catalog.mjs',
  'dist/registry.mjs',
  'dist/parts',
  'dist/functions',
])
  rmSync(old, { force: true, recursive: true });
await build({
  ...common,
  entryPoints: {
    portolan: 'pipeline/cli/bin.ts',
    catalog: 'catalog/index.ts',
    registry: 'pipeline/registry/index.ts',
  },
  outdir: 'dist',
  outExtension: { '.js': '.mjs' },
  format: 'esm',
  // They read files of their own packages, which therefore stay where npm puts them.
  external: [...common.external, '@grpc/*'],
  splitting: true,
  chunkNames: 'parts/[name]-[hash]',
  banner: { js: '#!/usr/bin/env node' },
});
// npx runs it in place.
chmodSync('dist/portolan.mjs', 0o755);
await build({
  ...common,
  entryPoints: { action: 'pipeline/action/index.ts' },
  outdir: 'dist',
  outExtension: { '.js': '.cjs' },
  format: 'cjs',
});
await build({
  ...common,
  entryPoints: { publish: 'functions/aws/publish.ts' },
  outdir: 'dist/functions',
  outExtension: { '.js': '.mjs' },
  format: 'esm',
});

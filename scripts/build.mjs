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
  external: ['@grpc/*'],
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
  entryPoints: Object.fromEntries(
    ['publish', 'receive', 'reconcile', 'status', 'work'].map((name) => [
      `${name}/index`,
      `functions/aws/${name}.ts`,
    ]),
  ),
  outdir: 'dist/functions',
  outExtension: { '.js': '.mjs' },
  format: 'esm',
  minify: true,
  // One file each: a layer of the runtime's own may change under it.
  mainFields: ['module', 'main'],
  // Some of what is bundled asks for Node's modules as CommonJS does.
  banner: {
    js: "import { createRequire as portolanRequire } from 'node:module'; const require = portolanRequire(import.meta.url);",
  },
});

// Builds dist/: the command line and the libraries (with the parts that they share), the Action, the functions.
import { createHash } from 'node:crypto';
import { chmodSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
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
  define: { PORTOLAN_VERSION: JSON.stringify(version), PORTOLAN_SOURCES: JSON.stringify(sourcesDigest()) },
};

/** Commands that have a file of their own: their words, and the modules that only they need. */
const COMMAND_FILES = {
  validate: ['pipeline/cli/validate.ts'],
  render: ['pipeline/cli/render.ts'],
  'opm validate': ['pipeline/cli/opm.ts', 'pipeline/opm/validate.ts'],
  'opm render': ['pipeline/cli/opm.ts', 'pipeline/opm/render.ts'],
};
/** All commands. */
const PROGRAM_FILE = './parts/portolan.mjs';
const commandFile = (words) => `commands/${words.replace(' ', '-')}.cjs`;

for (const old of [
  'dist/portolan.mjs',
  'dist/catalog.mjs',
  'dist/registry.mjs',
  'dist/commands',
  'dist/parts',
  'dist/functions',
])
  rmSync(old, { force: true, recursive: true });
await build({
  ...common,
  entryPoints: {
    'parts/portolan': 'pipeline/cli/bin.ts',
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
});
for (const [words, modules] of Object.entries(COMMAND_FILES)) {
  await build({
    ...common,
    entryPoints: ['pipeline/cli/bin.ts'],
    outfile: `dist/${commandFile(words)}`,
    format: 'cjs',
    plugins: [onlyCommand(modules)],
  });
}
await build({
  ...common,
  entryPoints: ['pipeline/cli/start.ts'],
  outfile: 'dist/portolan.mjs',
  format: 'esm',
  external: [PROGRAM_FILE],
  define: {
    PROGRAM_FILE: JSON.stringify(PROGRAM_FILE),
    COMMAND_FILES: JSON.stringify(
      Object.fromEntries(Object.keys(COMMAND_FILES).map((words) => [words, `./${commandFile(words)}`])),
    ),
  },
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

/** Of the tables of commands, leaves in only what one command loads. */
function onlyCommand(modules) {
  return {
    name: 'only-command',
    setup(builder) {
      builder.onResolve({ filter: /^\.\/.*\.ts$/ }, ({ importer, kind, path }) => {
        const isTable = kind === 'dynamic-import' && /\/(cli|opm)\/commands\.ts$/.test(importer);
        const isWanted = modules.some((module) =>
          `/${module}`.endsWith(`/${basename(dirname(importer))}/${path.slice(2)}`),
        );
        return isTable && !isWanted ? { path, namespace: 'another-command' } : undefined;
      });
      builder.onLoad({ filter: /.*/, namespace: 'another-command' }, () => ({ contents: '' }));
    },
  };
}

/** Names what the program is made of: what it remembers between runs is good for no other. */
function sourcesDigest() {
  const hash = createHash('sha256');
  for (const folder of ['catalog', 'pipeline']) {
    for (const path of readdirSync(folder, { recursive: true }).sort()) {
      if (path.endsWith('.ts')) hash.update(`${folder}/${path}\0`).update(readFileSync(join(folder, path)));
    }
  }
  hash.update(readFileSync('package-lock.json'));
  return hash.digest('hex');
}

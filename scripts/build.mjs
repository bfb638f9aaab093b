// Builds dist/: the command line and the libraries (with the parts that they share), the Action, the functions; with
// --action the Action alone.
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { build } from 'esbuild';
import { compiledSchemas, threadPrograms } from './completed-modules.mjs';
import { writeRuleLists } from './rule-lists.mjs';
import { bundledPackages, noticesText } from './third-party.mjs';

writeRuleLists();
const built = [];
const metafiles = [];
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const common = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  logLevel: 'error',
  legalComments: 'none',
  charset: 'utf8',
  // What libraries do without: a part of CycloneDX's that writes XML, half a megabyte of tables of old
  // encodings, which signing has for pages that are not UTF-8; and SQLite, a megabyte for old index
  // images alone, which only those have who have installed the package.
  external: ['xmlbuilder2', 'iconv-lite', 'sql.js'],
  plugins: [compiledSchemas, threadPrograms(metafiles)],
  define: { PORTOLAN_VERSION: JSON.stringify(version) },
};

/** Stands in the Action for the digest of the very same file, which is not known before it is built. */
const NO_DIGEST = '0'.repeat(64);
await makeAction();
if (process.argv.includes('--action')) {
  place(built);
  process.exit();
}
common.define.PORTOLAN_SOURCES = JSON.stringify(sourcesDigest());

/** They read files of their own packages, or ask for Node's modules as CommonJS does: they stay where npm puts them. */
const IN_PLACE = ['@grpc/*', 'sigstore', '@sigstore/*', 'vscode-languageserver'];

/**
 * Commands that have a file of their own: their words, and the modules of their tables that they need.
 * With the folder `unless` in an operand, an option of `without`, and anything but what `only` lists they take the
 * whole program: so theirs is without `lacks`. One with `file` is in the file of that command.
 */
const COMMAND_FILES = {
  validate: {
    modules: ['pipeline/cli/catalog/validate.ts'],
    unless: 'manifests',
    lacks: ['pipeline/cli/bundle/validate.ts'],
  },
  'bundle validate': {
    modules: ['pipeline/cli/bundle/validate.ts'],
    only: {
      folder: 'manifests',
      options: ['--compat', '--format', '--kubernetes-version', '--suite'],
      not: ['multiarch', 'sarif'],
    },
    lacks: [
      'pipeline/cli/bundle/named-bundle.ts',
      'pipeline/cli/bundle/policy-file.ts',
      'pipeline/report/sarif.ts',
    ],
  },
  // Nearly all of both is the same.
  render: {
    modules: ['pipeline/cli/catalog/render.ts', 'pipeline/cli/opm/opm.ts', 'pipeline/cli/opm/render.ts'],
  },
  'opm render': { file: 'render' },
  'mirror plan': {
    modules: ['pipeline/cli/mirror/plan/plan.ts'],
    without: ['--build', '--from', '--image-set'],
    lacks: [
      'catalog/mirror/image-set.ts',
      'pipeline/cli/mirror/plan/plan-upgrade.ts',
      'pipeline/cli/publish/build-selection.ts',
      'pipeline/mirror/charts/download.ts',
      'pipeline/mirror/charts/read-charts.ts',
      'pipeline/mirror/releases/read-release.ts',
    ],
  },
  publish: {
    modules: ['pipeline/cli/publish/publish.ts'],
    without: ['--keyless', '--local', '--provenance', '--sbom', '--sign-key', '--upgrade-safety'],
    lacks: [
      'pipeline/publish/attest/keyless.ts',
      'pipeline/publish/attest/sbom.ts',
      'pipeline/publish/attest/upgrade-safety.ts',
    ],
    external: IN_PLACE,
  },
  // In a process of its own: see start.ts.
  check: {
    modules: ['pipeline/cli/repository/check.ts', 'pipeline/cli/repository/run-check.ts'],
    external: IN_PLACE,
  },
  'opm validate': { modules: ['pipeline/cli/opm/opm.ts', 'pipeline/cli/opm/validate.ts'] },
};
/** What only few catalogs and bundles need, for rules in CEL: a file of its own that the commands' files load. */
const RARE_MODULES = { '@marcbachmann/cel-js': 'cel', 'catalog/go/regexp.ts': 'regexp' };
/** What is large and seldom needed: one file for all commands. */
const SHARED_MODULES = { '@hpcc-js/wasm-zstd': 'parts/zstd' };
/** All commands. */
const PROGRAM_FILE = './parts/portolan.mjs';
const commandFile = (words) => `commands/${(COMMAND_FILES[words]?.file ?? words).replace(' ', '-')}.cjs`;
/** First words that run no command: the version and the list of commands are in a small file of their own. */
const NO_COMMAND = ['', '-h', '--help', '--version', 'version'];
const OVERVIEW_FILE = commandFile('overview');

await make({
  ...common,
  entryPoints: {
    'parts/portolan': 'pipeline/cli/bin.ts',
    catalog: 'catalog/index.ts',
    registry: 'pipeline/oci/registry/index.ts',
    directory: 'pipeline/directory.ts',
    ...Object.fromEntries(Object.entries(SHARED_MODULES).map(([module, file]) => [file, module])),
  },
  outdir: 'dist',
  outExtension: { '.js': '.mjs' },
  format: 'esm',
  external: [...common.external, ...IN_PLACE],
  splitting: true,
  chunkNames: 'parts/[name]-[hash]',
  // As below; a fourth of the package was indentation and comments of libraries.
  minifySyntax: true,
  minifyWhitespace: true,
});
const commandFiles = Object.entries(COMMAND_FILES)
  .filter(([, { file }]) => file === undefined)
  .map(([words, command]) => [commandFile(words), command]);
for (const [file, command] of [...commandFiles, [OVERVIEW_FILE, { modules: [] }]]) {
  await make({
    ...common,
    entryPoints: ['pipeline/cli/bin.ts'],
    outfile: `dist/${file}`,
    external: [...common.external, ...(command.external ?? [])],
    format: 'cjs',
    define: { ...common.define, COMMAND_FOLDER: '__dirname' },
    // Puts the numbers that a file names into the code that uses them, which the engine does not.
    minifySyntax: true,
    // The engine reads all of the file; indentation and comments are a fifth of it.
    minifyWhitespace: true,
    plugins: [...common.plugins, onlyCommand(command)],
  });
}
await make({
  ...common,
  entryPoints: ['pipeline/cli/second-thread.ts'],
  outfile: 'dist/commands/second-thread.cjs',
  format: 'cjs',
  minifySyntax: true,
  minifyWhitespace: true,
  plugins: [...common.plugins, onlyCommand({ modules: [] })],
});
await make({
  ...common,
  entryPoints: Object.fromEntries(Object.entries(RARE_MODULES).map(([module, name]) => [name, module])),
  outdir: 'dist/commands',
  outExtension: { '.js': '.cjs' },
  format: 'cjs',
  minifySyntax: true,
  minifyWhitespace: true,
});
await make({
  ...common,
  entryPoints: ['pipeline/cli/start.ts'],
  outfile: 'dist/portolan.mjs',
  format: 'esm',
  external: [PROGRAM_FILE],
  define: {
    PROGRAM_FILE: JSON.stringify(PROGRAM_FILE),
    COMMAND_FILES: JSON.stringify(
      Object.fromEntries([
        ...Object.entries(COMMAND_FILES).map(([words, { unless, without, only }]) => [
          words,
          { file: `./${commandFile(words)}`, unless, without, only },
        ]),
        ...NO_COMMAND.map((word) => [word, { file: `./${OVERVIEW_FILE}` }]),
      ]),
    ),
  },
  banner: { js: '#!/usr/bin/env node' },
});
/** Of the functions' hosts: one file for each program. */
const host = {
  ...common,
  outExtension: { '.js': '.mjs' },
  format: 'esm',
  minify: true,
  // One file each: a layer of the runtime's own may change under it.
  mainFields: ['module', 'main'],
  // Some of what is bundled asks for Node's modules as CommonJS does.
  banner: {
    js: "import { createRequire as portolanRequire } from 'node:module'; const require = portolanRequire(import.meta.url);",
  },
};
// What a host builds is in its folder, so that a host can be deleted with it.
for (const folder of readdirSync('functions').sort()) {
  const plan = join('functions', folder, 'build.json');
  if (!existsSync(plan)) continue;
  const { entryPoints, outdir, external = [] } = JSON.parse(readFileSync(plan, 'utf8'));
  await make({ entryPoints, outdir, ...host, external: [...host.external, ...external] });
}

const notices = noticesText(bundledPackages(metafiles));
built.push({ path: resolve('dist/third-party.txt'), contents: Buffer.from(notices) });
place(built);
removeOthers(built);
// npx runs it in place.
chmodSync('dist/portolan.mjs', 0o755);

/** Builds the Action. Its digest is that of its own code: a change to what it does not contain leaves the file alone. */
async function makeAction() {
  const { outputFiles, metafile } = await build({
    ...common,
    define: { ...common.define, PORTOLAN_SOURCES: JSON.stringify(NO_DIGEST) },
    entryPoints: { action: 'pipeline/action/index.ts' },
    outdir: 'dist',
    outExtension: { '.js': '.cjs' },
    format: 'cjs',
    write: false,
    metafile: true,
  });
  metafiles.push(metafile);
  const [{ path, text }] = outputFiles;
  if (text.split(NO_DIGEST).length !== 2) throw new Error('the Action must have its digest in one place');
  const sha256 = createHash('sha256').update(text).digest('hex');
  built.push({ path, contents: Buffer.from(text.replace(NO_DIGEST, sha256)) });
}

/** Builds files in memory, for `place`; their packages are noted for the notices. @param options esbuild's */
async function make(options) {
  const { outputFiles, metafile } = await build({ ...options, write: false, metafile: true });
  metafiles.push(metafile);
  built.push(...outputFiles);
}

/**
 * Puts into dist/ what differs from what is there, each file at once: whoever runs the program while it is built anew
 * from the same sources notices nothing.
 */
function place(files) {
  for (const { path, contents } of files) {
    if (existsSync(path) && readFileSync(path).equals(contents)) continue;
    mkdirSync(dirname(path), { recursive: true });
    const next = `${path}.${process.pid}`;
    writeFileSync(next, contents);
    renameSync(next, path);
  }
}

/** Takes out what is built no more. */
function removeOthers(files) {
  const wanted = new Set(files.map(({ path }) => path));
  for (const folder of ['commands', 'parts', 'functions'].filter((name) => existsSync(join('dist', name)))) {
    for (const name of readdirSync(join('dist', folder), { recursive: true })) {
      const path = resolve('dist', folder, name);
      if (!wanted.has(path) && statSync(path).isFile()) rmSync(path);
    }
  }
}

/**
 * Leaves in only what one command loads: of the tables of commands its own modules, and of what these load later all but `lacks`.
 * What is left out becomes an empty module, which start.ts never lets be reached.
 */
function onlyCommand({ modules, lacks = [] }) {
  const isTable = (module) => /^pipeline\/cli\/(?:opm\/)?commands\.ts$/.test(module);
  return {
    name: 'only-command',
    setup(builder) {
      builder.onResolve(
        { filter: /^\.\.?\/.*\.ts$|cel-js$|wasm-zstd$/ },
        ({ importer, kind, path, resolveDir }) => {
          if (kind !== 'dynamic-import') return undefined;
          const module = path.startsWith('.') ? relative('.', join(resolveDir, path)) : path;
          const rare = RARE_MODULES[module];
          if (rare !== undefined) return { path: `./${rare}.cjs`, external: true };
          const shared = SHARED_MODULES[module];
          if (shared !== undefined) return { path: `../${shared}.mjs`, external: true };
          const isOther =
            lacks.includes(module) || (isTable(relative('.', importer)) && !modules.includes(module));
          return isOther ? { path, namespace: 'another-command' } : undefined;
        },
      );
      builder.onLoad({ filter: /.*/, namespace: 'another-command' }, () => ({ contents: '' }));
      // A module that is imported at once stays one text with the others, which the engine reads only once.
      builder.onLoad({ filter: /commands\.ts$/ }, ({ path }) => {
        if (!isTable(relative('.', path))) return undefined;
        const own = modules.map((module) => relative(dirname(path), resolve(module)));
        const text = own.reduce(
          (table, name, i) => table.replaceAll(`await import('./${name}')`, `own${i}`),
          readFileSync(path, 'utf8'),
        );
        const imports = own.map((name, i) =>
          text.includes(`own${i})`) ? `import * as own${i} from './${name}';` : '',
        );
        return { contents: imports.join('') + text, loader: 'ts' };
      });
    },
  };
}

/** Names the sources of the program: what it remembers between runs is good for no other. */
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

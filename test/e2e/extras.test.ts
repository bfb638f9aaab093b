/**
 * Extras can be deleted: in copies of the sources they are removed with their files, their lines in the lists and their tests.
 * What is left type-checks, builds, and validates a catalog. `docs/architecture.md` lists core and extras.
 */
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';

/** What an extra consists of, by its name in docs/architecture.md: folders, files, and beginnings of files' names. */
const EXTRAS: Readonly<Record<string, readonly string[]>> = {
  GitLab: ['pipeline/forge/gitlab', 'functions/forges/gitlab.ts', 'deploy/gitlab'],
  'Forgejo and Gitea': ['pipeline/forge/forgejo', 'functions/forges/forgejo.ts'],
  AWS: ['functions/aws'],
  Kubernetes: ['functions/kubernetes', 'scripts/release/chart-artifact'],
  Playground: ['playground', 'scripts/playground.mjs'],
  Advisories: [
    'catalog/edit/advisory',
    'catalog/olm/advisory',
    'catalog/opm/template/advisory',
    'catalog/rules/advisory',
    'pipeline/check/advisories',
    'pipeline/cli/repository/advisory',
    'pipeline/github/proposals/advisory',
    'pipeline/policy/advisor',
    'pipeline/report/advisory-text',
  ],
  'Suggested graphs': [
    'pipeline/cli/catalog/suggest-graph',
    'catalog/opm/template/suggested',
    'pipeline/report/suggestion-text',
  ],
  'Moves to OLM v1': ['pipeline/cli/migration'],
  'Package manifests': [
    'catalog/bundle/package-',
    'catalog/rules/package-manifest',
    'pipeline/cli/catalog/convert-package-manifests',
    'test/fakes/package-fixture',
  ],
  'opm commands': ['pipeline/cli/opm', 'pipeline/cli/index/add', 'pipeline/cli/index/remove-packages'],
  'SQLite databases': ['catalog/opm/database', 'pipeline/catalogs/database', 'test/fakes/sqlite'],
  'Blame and the monitor': [
    'pipeline/check/blame',
    'pipeline/check/monitor',
    'pipeline/cli/monitor',
    'pipeline/cli/repository/blame',
    'pipeline/report/blame-text',
    'pipeline/report/monitor-site',
  ],
  'Datasource for Renovate': ['pipeline/cli/renovate', 'test/fakes/safe-images'],
  'Cases for implementers': ['scripts/release/cases'],
  'Statements about upgrade safety': ['pipeline/publish/attest/upgrade-safety', 'test/fakes/upgrade-safety'],
  'Language server': ['pipeline/cli/lsp', 'deploy/vscode', 'test/fakes/editor'],
  Tekton: ['deploy/tekton', 'scripts/release/tekton-bundle'],
};

/** Where extras have a line or an entry. */
const LISTS = [
  'pipeline/cli/commands.ts',
  'pipeline/catalogs/forms.ts',
  'pipeline/check/extra-steps.ts',
  'pipeline/publish/attest/extra-statements.ts',
  'functions/forges/forges.ts',
  'scripts/release/artifacts.ts',
  'test/fakes/folder-kinds.ts',
];

/** What TypeScript keeps of its last check. */
const TYPES = '.types.tsbuildinfo';

/** Tests that an extra may take along: more would be tests of the core. */
const MOST_TESTS = 45;

const SOURCES = [
  'catalog',
  'pipeline',
  'functions',
  'playground',
  'scripts',
  'test',
  'bench',
  'deploy',
  'docs',
];
const FILES = ['package.json', 'tsconfig.json', 'vitest.config.ts', 'vitest.slow.config.ts', 'README.md'];

/** Removals, and in how many of them each extra goes: 20 ways to choose 3 of 6. */
const REMOVALS = 6;
const SHARE = 3;

/**
 * Which extras are removed together. Each extra is in another choice of removals, of the same number: so of any two,
 * some removal deletes the one and keeps the other, and what is kept shows that it does not need what is gone.
 * With `EXTRAS=each`, each is removed alone, for its lines and seconds.
 */
function removals(): (readonly [name: string, extras: readonly string[]])[] {
  const names = Object.keys(EXTRAS);
  if (process.env['EXTRAS'] === 'each') return names.map((name) => [name, [name]]);
  const choices = Array.from({ length: 2 ** REMOVALS }, (_, bits) => bits).filter(
    (bits) => bits.toString(2).replaceAll('0', '').length === SHARE,
  );
  expect(names.length).toBeLessThanOrEqual(choices.length);
  return Array.from({ length: REMOVALS }, (_, i) => {
    const extras = names.filter((_name, at) => ((choices[at] ?? 0) >> i) % 2 === 1);
    return [extras.join(', '), extras];
  });
}

let whole: string;
beforeAll(() => {
  whole = mkdtempSync(join(tmpdir(), 'portolan-extras-'));
  for (const name of [...SOURCES, ...FILES]) cpSync(name, join(whole, name), { recursive: true });
  symlinkSync(resolve('node_modules'), join(whole, 'node_modules'));
  run(whole, 'node', 'scripts/rule-lists.mjs');
  // What `npm run check` knows of the types stays true of most files: only what changed is checked again.
  if (existsSync(TYPES)) cpSync(TYPES, join(whole, TYPES));
  checkTypes(whole);
  return () => rmSync(whole, { recursive: true, force: true });
});

test.each(removals())('%s can be deleted', (name, extras) => {
  const root = mkdtempSync(join(tmpdir(), 'portolan-extra-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  cpSync(whole, root, { recursive: true });
  const began = Date.now();
  const lines = removeParts(
    root,
    extras.flatMap((extra) => EXTRAS[extra] ?? []),
  );
  for (const list of LISTS) unlist(root, list);
  const tests = removeTests(root);
  run(root, 'node', 'scripts/rule-lists.mjs');
  checkTypes(root);
  cpSync('package-lock.json', join(root, 'package-lock.json'));
  run(root, 'node', 'scripts/build.mjs');
  expect(run(root, 'node', 'dist/portolan.mjs', 'validate', 'test/catalogs/sample/catalogs/v4.20')).toBe('');
  process.stdout.write(
    `${name}: ${lines} lines, ${tests} tests, ${((Date.now() - began) / 1000).toFixed(0)} s\n`,
  );
  expect(lines).toBeGreaterThan(100 * extras.length);
  expect(tests).toBeLessThanOrEqual(MOST_TESTS * extras.length);
});

/** With the link's own path, the packages are the same files for every copy, and are not checked again. */
function checkTypes(root: string): void {
  run(root, 'node_modules/.bin/tsc', '--noEmit', '--preserveSymlinks');
}

function run(cwd: string, program: string, ...parameters: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(program, parameters, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${parameters.join(' ')}\n${stdout}${stderr}`);
  return stdout;
}

/** @returns how many lines of TypeScript and YAML are gone */
function removeParts(root: string, parts: readonly string[]): number {
  const files = filesIn(root).filter((file) =>
    parts.some((part) => file.startsWith(`${part}/`) || (file.startsWith(part) && !part.endsWith('/'))),
  );
  for (const part of parts) expect(files.filter((file) => file.startsWith(part))).not.toEqual([]);
  let lines = 0;
  for (const file of files) {
    if (/\.(?:ts|ya?ml)$/.test(file)) lines += readFileSync(join(root, file), 'utf8').split('\n').length - 1;
    rmSync(join(root, file));
  }
  return lines;
}

/** Takes the entries of what is gone out of a list: its imports, the names that they brought, and commands that load it. */
function unlist(root: string, list: string): void {
  const path = join(root, list);
  let text = readFileSync(path, 'utf8');
  const isGone = (name: string): boolean => !existsSync(resolve(dirname(path), name));
  text = text.replaceAll(
    /^ +\{\n(?:(?! +[{}])[^\n]*\n)*?[^\n]*import\('([^']+)'\)[^\n]*\n +\},\n/gm,
    (entry, name) => (isGone(name) ? '' : entry),
  );
  const names: string[] = [];
  text = text.replaceAll(/^import \{ ([^}]+) \} from '([^']+)';\n/gm, (line, own: string, name: string) => {
    if (!name.startsWith('.') || !isGone(name)) return line;
    names.push(...own.split(', '));
    return '';
  });
  for (const name of names) text = text.replaceAll(new RegExp(`\\b${name}\\b,?\\s*`, 'g'), '');
  writeFileSync(path, text);
}

/** Removes what imports what is gone, among tests and scripts. @returns how many tests */
function removeTests(root: string): number {
  let tests = 0;
  for (let isDone = false; !isDone; ) {
    isDone = true;
    for (const file of filesIn(root).filter((one) => /^(?:test|scripts|bench)\/.*\.ts$/.test(one))) {
      if (importsOf(join(root, file)).every((path) => existsSync(path))) continue;
      rmSync(join(root, file));
      if (file.endsWith('.test.ts')) tests++;
      isDone = false;
    }
  }
  return tests;
}

function importsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8');
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+\.ts)'/g)].map(([, name = '']) =>
    resolve(dirname(file), name),
  );
}

function filesIn(root: string): string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((file) => basename(file) !== '' && !file.startsWith('node_modules'));
}

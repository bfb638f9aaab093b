/** A command with a file of its own has all that it needs there, and the whole program for the rest. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { folder } from '../fakes/folder.ts';
import { buildProgram, program } from '../fakes/program.ts';

beforeAll(buildProgram);

const CATALOG = resolve('test/catalogs/sample/catalogs/v4.20');

function plan(directory: string, ...words: string[]): string {
  const parameters = [
    resolve('dist/portolan.mjs'),
    'mirror',
    'plan',
    ...words,
    '--to',
    'mirror.example.com/m',
  ];
  return execFileSync(process.execPath, parameters, { cwd: directory, encoding: 'utf8', stdio: 'pipe' });
}

test('mirror plan: of a directory, and of an image that it builds', () => {
  const directory = folder();
  expect(plan(directory, CATALOG)).toContain('Ready for disconnected clusters');
  const part = ['--only', 'harbour-operator@stable', '--out', 'part'];
  expect(plan(directory, CATALOG, ...part, '--build', 'oci:index')).toContain('Ready');
  expect(existsSync(join(directory, 'index', 'index.json'))).toBe(true);
  plan(directory, CATALOG, ...part, '--build=oci:other');
  expect(existsSync(join(directory, 'other', 'index.json'))).toBe(true);
});

/** The built files that the engine loads for a command line, with their bytes. */
function loaded(...words: string[]): { readonly files: number; readonly bytes: number } {
  const NODE_V8_COVERAGE = folder();
  program(words, { NODE_V8_COVERAGE });
  const paths: string[] = readdirSync(NODE_V8_COVERAGE)
    .flatMap((name) => JSON.parse(readFileSync(join(NODE_V8_COVERAGE, name), 'utf8')).result)
    .map(({ url }) => (url.startsWith('file:') ? fileURLToPath(url) : ''))
    .filter((path) => path.startsWith(resolve('dist')));
  return { files: paths.length, bytes: paths.reduce((sum, path) => sum + statSync(path).size, 0) };
}

/** A repository with the sample's catalogs. */
function sample(): string {
  const repository = folder();
  cpSync('test/catalogs/sample', repository, { recursive: true });
  const git = ['-C', repository, '-c', 'user.name=a', '-c', 'user.email=a@example.com'];
  for (const words of [
    ['init', '-q'],
    ['add', '.'],
    ['commit', '-qm', 'first'],
  ])
    execFileSync('git', [...git, ...words]);
  return repository;
}

test('check: from one file', () => {
  const words = ['check', '--repo', sample(), '--base', 'HEAD', '--head', 'HEAD'];
  expect(program(words)).toMatchObject({ exit: 0, out: expect.stringContaining('PASS') });
  // Beside the program's start.
  expect(loaded(...words).files).toBe(2);
});

test('publish: from one file, unless it describes or signs the image', () => {
  const repository = sample();
  const published = (...more: string[]): string[] => [
    ...['publish', '--repo', repository, '--catalog', 'v4.20', '--fence', 'none', '--out', folder()],
    ...['--to', `oci:${folder()}:v4.20`, ...more],
  ];
  expect(program(published())).toMatchObject({ exit: 0, out: expect.stringContaining('published') });
  // Beside the program's start.
  expect(loaded(...published()).files).toBe(2);
  const described = program(published('--sbom', '--provenance'));
  expect(described).toMatchObject({ exit: 0, out: expect.stringContaining('published') });
});

test.each([['--version'], ['--help'], []])('portolan %s loads little of the program', (...words) => {
  const { files, bytes } = loaded(...words);
  expect(files).toBe(2);
  // 35 kB are the overview, with the usage lines of errors; 6 kB start a command, or the process that a check runs in;
  // 1 kB escapes what a workflow's log would obey.
  expect(bytes).toBeLessThan(43_000);
});

test('the help of check loads nothing that a check needs', () => {
  const { bytes } = loaded('check', '--help');
  // All commands together have some 6 MB, and a check loads most of a third of them.
  expect(bytes).toBeLessThan(150_000);
});

test('the version and the list of commands', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  expect(program(['--version'])).toEqual({ exit: 0, out: `portolan ${version}\n`, err: '' });
  expect(program(['version']).out).toBe(program(['--version']).out);
  const help = program(['--help']);
  expect(help).toMatchObject({ exit: 0, err: '' });
  expect(help.out).toContain('  mirror plan ');
  expect(program(['help'])).toEqual(help);
  expect(program(['-h'])).toEqual(help);
  expect(program([])).toEqual({ ...help, exit: 2 });
  // An empty word is none of them.
  expect(program([''])).toMatchObject({ exit: 2, err: expect.stringContaining('unknown command ""') });
});

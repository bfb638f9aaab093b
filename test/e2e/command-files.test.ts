/** A command with a file of its own has all that it needs there, and the whole program for the rest. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { folder } from '../fakes/folder.ts';
import { buildProgram } from '../fakes/program.ts';

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

/** The libraries as others import them: by their names, with their types. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { folder } from '../fakes/folder.ts';

const SOURCE = `import { compareFindings, type Finding } from 'portolan';
import { createRegistryClient } from 'portolan/registry';

const location = { file: 'catalog.yaml', line: 1, column: 1 };
const one: Finding = { rule: 'a/b', severity: 'error', message: 'm', location };
// @ts-expect-error there is no such severity
const other: Finding = { rule: 'a/b', severity: 'fatal', message: 'm', location };
const order: number = compareFindings(one, { ...one, message: 'n' });
console.log(order, typeof createRegistryClient, typeof other);
`;

beforeAll(() => void execFileSync('npm', ['run', '--silent', 'build']));

/** Compiles a program that uses the libraries as others do, and gives back what it prints. */
function printed(source: string, ...operands: readonly string[]): string {
  const work = folder();
  mkdirSync(join(work, 'node_modules/@types'), { recursive: true });
  symlinkSync(resolve('.'), join(work, 'node_modules/portolan'));
  symlinkSync(resolve('node_modules/@types/node'), join(work, 'node_modules/@types/node'));
  writeFileSync(join(work, 'package.json'), '{"type": "module"}');
  writeFileSync(join(work, 'user.ts'), source);
  const settings = { module: 'nodenext', target: 'es2022', strict: true, types: ['node'] };
  writeFileSync(
    join(work, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: settings, files: ['user.ts'] }),
  );
  execFileSync(resolve('node_modules/.bin/tsc'), ['--project', '.'], { cwd: work, stdio: 'pipe' });
  return execFileSync(process.execPath, ['user.js', ...operands], { cwd: work, encoding: 'utf8' });
}

test('all have declarations that fit, and run', () => {
  expect(printed(SOURCE)).toBe('-1 function object\n');
});

test('the program of docs/install.md compiles, and says what OLM v0 does with each version', () => {
  const [, behind = ''] = readFileSync('docs/install.md', 'utf8').split('```ts\n');
  const [program = ''] = behind.split('```\n');
  const lines = printed(program, resolve('test/catalogs/sample/catalogs/v4.20')).split('\n');
  expect(lines).toContain('harbour-operator.v1.1.0 in stable is upgraded to harbour-operator.v1.2.0');
  expect(lines).toContain('harbour-operator.v1.2.0 in stable stays: it is the head of channel stable');
});

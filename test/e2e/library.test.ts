/** The libraries as others import them: by their names, with their types. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
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

test('both have declarations that fit, and run', () => {
  const work = folder();
  mkdirSync(join(work, 'node_modules/@types'), { recursive: true });
  symlinkSync(resolve('.'), join(work, 'node_modules/portolan'));
  symlinkSync(resolve('node_modules/@types/node'), join(work, 'node_modules/@types/node'));
  writeFileSync(join(work, 'package.json'), '{"type": "module"}');
  writeFileSync(join(work, 'user.ts'), SOURCE);
  const settings = { module: 'nodenext', target: 'es2022', strict: true, types: ['node'] };
  writeFileSync(
    join(work, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: settings, files: ['user.ts'] }),
  );
  execFileSync(resolve('node_modules/.bin/tsc'), ['--project', '.'], { cwd: work, stdio: 'pipe' });
  const said = execFileSync(process.execPath, ['user.js'], { cwd: work, encoding: 'utf8' });
  expect(said).toBe('-1 function object\n');
});

/** The extension for VS Code as docs/editor.md packages it. */
import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { folder } from '../fakes/folder.ts';

test('the package has the extension, what it requires, and nothing else', () => {
  const root = folder({});
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  cpSync('deploy/vscode', root, { recursive: true });
  const run = (program: string, ...parameters: readonly string[]): string =>
    execFileSync(program, parameters, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  run('npm', 'install', '--no-audit', '--no-fund');
  run('npx', '--yes', '@vscode/vsce@3.9.2', 'package', '--out', 'portolan.vsix');
  run('python3', '-m', 'zipfile', '-e', 'portolan.vsix', 'unpacked');
  const unpacked = join(root, 'unpacked/extension');
  const names = run('find', 'unpacked/extension', '-maxdepth', '2', '-not', '-name', '.*').split('\n');
  const own = names.filter((name) => name !== '' && !name.includes('node_modules/'));
  expect(own.map((name) => name.slice('unpacked/extension/'.length)).sort()).toEqual([
    '',
    'extension.cjs',
    'node_modules',
    'package.json',
    'readme.md',
  ]);
  const { main } = JSON.parse(readFileSync(join(unpacked, 'package.json'), 'utf8')) as { main: string };
  const required = [...readFileSync(join(unpacked, main), 'utf8').matchAll(/require\('([^']+)'\)/g)].map(
    ([, name = '']) => name,
  );
  expect(required).toEqual(['vscode', 'vscode-languageclient/node']);
  // `vscode` is the editor's; what else is required must be found within the package.
  const { resolve } = createRequire(join(unpacked, main));
  expect(resolve('vscode-languageclient/node').startsWith(unpacked)).toBe(true);
  for (const name of ['vscode-languageserver-protocol/node', 'semver', 'minimatch'])
    expect(createRequire(resolve('vscode-languageclient/node')).resolve(name).startsWith(unpacked)).toBe(
      true,
    );
});

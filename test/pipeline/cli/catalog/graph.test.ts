import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { written } from '../../../catalog/olm/universe.ts';
import { folder } from '../../../fakes/folder.ts';
import { runCommand } from '../../../fakes/terminal.ts';

test('an empty catalog is said to be empty', async () => {
  const directory = folder();
  mkdirSync(join(directory, 'v4.20'));
  const { exit, err } = await runCommand(['graph', 'v4.20'], { directory });
  expect({ exit, err }).toEqual({ exit: 0, err: 'v4.20 contains no packages: check the path\n' });
});

test('a package that no catalog contains is an error in every format, not an empty page', async () => {
  const directory = folder();
  mkdirSync(join(directory, 'v4.20'));
  const p = { versions: ['1.0.0'], channels: { stable: [{ name: 'p.v1.0.0' }] } };
  writeFileSync(join(directory, 'v4.20', 'catalog.json'), written({ p }));
  for (const format of ['html', 'json', 'mermaid']) {
    const asked = (name: string) =>
      runCommand(['graph', 'v4.20', '--package', name, '--format', format], { directory });
    const { exit, out, err } = await asked('q');
    expect({ exit, out }).toEqual({ exit: 2, out: '' });
    expect(err).toContain('no catalog has the package "q"');
    expect((await asked('p')).exit).toBe(0);
  }
});

test('a file in the root of the file system has its whole name', async () => {
  const directory = folder();
  const p = { versions: ['1.0.0'], channels: { stable: [{ name: 'p.v1.0.0' }] } };
  mkdirSync(join(directory, 'v4.20'));
  writeFileSync(join(directory, 'v4.20', 'catalog.json'), written({ p }));
  writeFileSync(join(directory, 'mapping.txt'), '');
  const graph = ['graph', 'v4.20', '--package', 'p', '--format', 'svg', '--out', '/dev'];
  const diff = ['mirror', 'diff', 'mapping.txt', 'mapping.txt', '--mapping', '/dev'];
  // A directory: without its first letter the name would be that of a new file.
  for (const words of [graph, diff])
    expect(await runCommand(words, { directory })).toMatchObject({
      exit: 2,
      err: expect.stringContaining('directory'),
    });
});

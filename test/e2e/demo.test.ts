/** `npm run demo` on a machine that has node, npm, git and coreutils, and nothing else. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';
import { folder } from '../fakes/folder.ts';

const COREUTILS = [
  'sh',
  'env',
  'ls',
  'cat',
  'cp',
  'mv',
  'rm',
  'mkdir',
  'dirname',
  'basename',
  'uname',
  'sed',
];

/** A directory that holds these programs alone. */
function pathOf(programs: readonly string[]): string {
  const at = folder();
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  for (const program of programs) {
    const found = folders.map((directory) => join(directory, program)).find((file) => existsSync(file));
    if (found !== undefined) symlinkSync(found, join(at, program));
  }
  symlinkSync(process.execPath, join(at, 'node'));
  return at;
}

test('three pull requests, a merge published twice, and where to look', () => {
  const PATH = pathOf(['npm', 'git', ...COREUTILS]);
  const { status, stdout, stderr } = spawnSync('npm', ['run', '--silent', 'demo'], {
    encoding: 'utf8',
    env: { PATH, HOME: folder() },
  });
  expect(status, stdout + stderr).toBe(0);
  expect(stdout).toContain('PASS: allowed, and all checks passed');
  expect(stdout).toContain('NOT YET: needs approval from @fred');
  expect(stdout).toContain('FAIL: 1 error');
  expect(stdout).toContain('graph/strands-installed-v0');
  const digests = [...stdout.matchAll(/digest +(sha256:[0-9a-f]{64})/g)].map(([, digest]) => digest);
  expect(digests).toHaveLength(2);
  expect(digests[0]).toBe(digests[1]);
  expect(stdout).toContain('uploaded 0 bytes');
  for (const [, path = ''] of stdout.matchAll(/^ {2}(\.demo\/\S+)/gm))
    expect(existsSync(path), path).toBe(true);
  // What the demo leaves behind is its own business, and none of the repository's.
  expect(execFileSync('git', ['status', '--porcelain', '--', '.demo'], { encoding: 'utf8' })).toBe('');
});

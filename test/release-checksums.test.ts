/** Checksums of a release, read by the tool that people check them with. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checksums } from '../scripts/release/checksums.ts';
import { folder } from './fakes/folder.ts';

test('the checksums of a release cover the files in its directories, and sha256sum takes them', () => {
  const directory = folder();
  mkdirSync(join(directory, 'image/blobs'), { recursive: true });
  for (const path of ['b.tgz', 'image/index.json', 'image/blobs/a'])
    writeFileSync(join(directory, path), path);
  const text = checksums(directory);
  expect(text.match(/(?<= {2}).*/g)).toEqual(['b.tgz', 'image/blobs/a', 'image/index.json']);
  const check = () =>
    execFileSync('sha256sum', ['--check', '--strict', '-'], {
      cwd: directory,
      input: text,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
  expect(String(check())).toBe('b.tgz: OK\nimage/blobs/a: OK\nimage/index.json: OK\n');
  writeFileSync(join(directory, 'image/blobs/a'), 'changed');
  expect(check).toThrow();
});

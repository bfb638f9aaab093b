import { chmodSync, chownSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { ownStore } from '../../../pipeline/cli/own-store.ts';
import type { PipelineError } from '../../../pipeline/error.ts';
import { folder } from '../../fakes/folder.ts';
import { makeRepository } from '../../fakes/repository.ts';
import { portolan } from '../../fakes/terminal.ts';

const refusal = (root: string, user?: number): Promise<string> =>
  ownStore(root, {}, user).then(
    () => '',
    (error: Error) => error.message,
  );

test('114: a cache that others can write to is refused, and one of its user alone is not', async () => {
  const root = join(folder(), 'cache');
  expect(await refusal(root)).toBe('');
  // Stryker runs tests in threads, which cannot set it.
  const before = isMainThread ? process.umask(0) : undefined;
  await (await ownStore(root, {})).put('key', Buffer.from('facts'));
  if (before !== undefined) process.umask(before);
  expect(await refusal(root)).toBe('');
  const file = join(root, 'forged.json');
  writeFileSync(file, '{}');
  for (const [path, mode, sound] of [
    [root, 0o777, 0o755],
    [root, 0o775, 0o755],
    [file, 0o646, 0o644],
  ] as const) {
    chmodSync(path, mode);
    expect(await refusal(root)).toBe(`cannot trust the cache ${root}: other users can write to ${path}`);
    chmodSync(path, sound);
    expect(await refusal(root)).toBe('');
  }
});

test('a cache that others can write to comes with what to do about it, also where chmod does not help', async () => {
  const root = folder();
  chmodSync(root, 0o777);
  const hintFor = (user: number): Promise<string | undefined> =>
    ownStore(root, {}, user).then(
      () => undefined,
      ({ hint }: PipelineError) => hint,
    );
  const own = statSync(root).uid;
  expect(await hintFor(own)).toBe(
    `run chmod -R go-w ${root}; if that changes nothing (WSL, SMB, FAT), use a directory on another file system`,
  );
  if (own !== 0) return;
  // As in an emptyDir of Kubernetes: it is root's, and everybody may write to it.
  expect(await hintFor(4711)).toBe(`use a new directory in it: ${root}/portolan`);
  mkdirSync(join(root, 'portolan'), { mode: 0o755 });
  chownSync(join(root, 'portolan'), 4711, 4711);
  expect(await refusal(join(root, 'portolan'), 4711)).toBe('');
});

test('114: a cache of another user is refused, and one of root is not', async () => {
  const root = folder();
  chmodSync(root, 0o755);
  const own = process.getuid?.() ?? 0;
  const owner = own === 0 ? 4711 : own;
  if (own === 0) chownSync(root, owner, owner);
  expect(await refusal(root, owner + 1)).toBe(
    `cannot trust the cache ${root}: ${root} belongs to another user`,
  );
  expect(await refusal(root, owner)).toBe('');
  expect(await refusal('/usr', owner)).toBe('');
});

test('114: a pull request cannot bring the verdicts that its check believes', async () => {
  const made = makeRepository();
  onTestFinished(made.remove);
  made.commit(
    { 'catalog/a.yaml': 'schema: olm.package\nname: a\n', 'cache/forged.json': '{}' },
    { branch: 'main' },
  );
  made.git('checkout', '--quiet', 'main');
  chmodSync(join(made.directory, 'cache'), 0o755);
  const { exit, err } = await portolan(made.directory, 'validate', 'catalog', '--cache', 'cache');
  expect({ exit, err }).toEqual({ exit: 2, err: expect.stringContaining('git tracks files in it') });
  const other = await portolan(made.directory, 'validate', 'catalog', '--cache', 'other');
  expect(other.exit).toBe(1);
});

test('114: where git does not answer, nothing in a clone is believed', async () => {
  const made = makeRepository();
  onTestFinished(made.remove);
  made.commit({ 'cache/forged.json': '{}' }, { branch: 'main' });
  made.git('checkout', '--quiet', 'main');
  const root = join(made.directory, 'cache');
  chmodSync(root, 0o755);
  await expect(ownStore(root, { searchPath: '/nowhere' })).rejects.toThrow(
    'git does not say whether it tracks files in it',
  );
  const outside = folder({ 'forged.json': '{}' });
  chmodSync(outside, 0o755);
  await expect(ownStore(outside, { searchPath: '/nowhere' })).resolves.toBeDefined();
});

test('a file in place of the directory is named', async () => {
  const path = join(folder({ cache: '' }), 'cache');
  expect(await refusal(path)).toBe(`${path} is not a directory`);
});

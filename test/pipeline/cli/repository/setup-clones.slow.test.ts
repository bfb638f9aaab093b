/** `portolan setup` in clones that lack files, folders or history. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { catalogOf } from '../../../fakes/gate.ts';
import { type Files, makeRepository } from '../../../fakes/repository.ts';
import { portolan } from '../../../fakes/terminal.ts';

const CATALOGS: Files = {
  'v4.18/catalog/etcd/catalog.json': catalogOf('etcd', ['1.0.0']),
  'v4.19/catalog/etcd/catalog.json': `${catalogOf('etcd', ['1.0.0', '1.1.0'])}\n`,
  'src/values.yaml': 'a: b\n',
};

/** A clone of a repository with some files, made with options of git. */
function cloneOf(files: Files, ...options: readonly string[]) {
  const source = makeRepository();
  onTestFinished(source.remove);
  const first = source.commit({ 'README.md': 'x' });
  source.commit(files, { parents: [first] });
  source.git('config', 'uploadpack.allowFilter', 'true');
  source.git('config', 'uploadpack.allowAnySHA1InWant', 'true');
  const directory = join(mkdtempSync(join(tmpdir(), 'clone-')), 'clone');
  onTestFinished(() => rmSync(join(directory, '..'), { recursive: true, force: true }));
  const run = (command: string): string => {
    const { status, stdout, stderr } = spawnSync('sh', ['-c', command], {
      cwd: join(directory, '..'),
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([0, expect.any(String)]);
    return stdout;
  };
  run(`git clone --quiet ${options.join(' ')} 'file://${source.directory}' clone`);
  const inside = (command: string): string => run(`cd clone && ${command}`);
  return {
    directory,
    inside,
    /** How many objects of the head's commit the clone does not have. */
    lacks: () =>
      inside('git rev-list --objects --missing=print -1 HEAD')
        .split('\n')
        .filter((line) => line.startsWith('?')).length,
    setup: () => portolan(directory, 'setup', '--admin', 'alice'),
    policy: () => readFileSync(join(directory, '.github/portolan.yaml'), 'utf8'),
  };
}

const PATTERN = "'{catalog:v*.*}/catalog/{package}/catalog.json'";

test.each([['--depth=1'], ['--filter=blob:none'], ['--filter=tree:0']])(
  'a clone with %s has what is needed',
  async (option) => {
    const clone = cloneOf(CATALOGS, option);
    const { out, exit } = await clone.setup();
    expect([exit, clone.policy()]).toEqual([0, expect.stringContaining(PATTERN)]);
    expect(out).not.toContain('not in this clone: ');
  },
);

test('without any catalog, setup writes nothing and names the command that brings the catalogs alone', async () => {
  const clone = cloneOf(CATALOGS, '--filter=blob:none', '--no-checkout');
  const { exit, err } = await clone.setup();
  expect(exit).toBe(2);
  expect(err).toContain(
    '2 files that may be catalogs are not in this clone, such as v4.18/catalog/etcd/catalog.json',
  );
  expect(existsSync(join(clone.directory, '.github/portolan.yaml'))).toBe(false);
  const lacked = clone.lacks();
  const [, command = ''] = /^ *(git sparse-checkout .*)$/m.exec(err) ?? [];
  clone.inside(command);
  // The two catalogs came, and nothing else.
  expect(lacked - clone.lacks()).toBe(2);
  expect((await clone.setup()).exit).toBe(0);
  expect(clone.policy()).toContain(PATTERN);
});

test('one catalog that is not in the clone is named', async () => {
  const one = { 'v4.18/catalog/etcd/catalog.json': catalogOf('etcd', ['1.0.0']) };
  const { exit, err } = await cloneOf(one, '--filter=blob:none', '--no-checkout').setup();
  expect([exit, err.split('\n')[0]]).toEqual([
    2,
    'portolan: v4.18/catalog/etcd/catalog.json, which may be a catalog, is not in this clone',
  ]);
});

test('a file of tests that is not in the clone keeps nobody from setup', async () => {
  const files = { 'tests/data/etcd/catalog.json': catalogOf('etcd', ['1.0.0']), 'main.go': 'package a\n' };
  const { exit, out } = await cloneOf(files, '--filter=blob:none', '--no-checkout').setup();
  expect([exit, out]).toEqual([0, expect.not.stringContaining('not in this clone: ')]);
});

test('catalogs of another pattern, and files of owners, are named with the command that brings them', async () => {
  const files = {
    ...CATALOGS,
    'catalog-old/etcd/catalog.json': `${catalogOf('etcd', ['0.9.0'])} \n`,
    OWNERS: 'approvers: [bob]\n',
  };
  const clone = cloneOf(files, '--filter=blob:none', '--no-checkout');
  clone.inside('git sparse-checkout set --no-cone /v4.18/ /v4.19/ && git checkout --quiet HEAD');
  const { out, exit } = await clone.setup();
  expect([exit, clone.policy()]).toEqual([0, expect.stringContaining(PATTERN)]);
  expect(out).toContain('not in this clone: catalog-old/etcd/catalog.json, OWNERS; ');
  expect(out).toContain(
    'git sparse-checkout set --no-cone /.github/ /catalog-old/ OWNERS && git checkout HEAD',
  );
  expect(out).not.toContain('owners: found for');
});

test('without folders of the commit, setup says how to bring them', async () => {
  const clone = cloneOf(CATALOGS, '--filter=tree:0', '--no-checkout');
  const { exit, err } = await clone.setup();
  expect([exit, err]).toEqual([
    2,
    expect.stringContaining('some folders of the commit are not in this clone'),
  ]);
  clone.inside('git checkout --quiet HEAD');
  expect((await clone.setup()).exit).toBe(0);
});

test('a check in a clone without the folders of old commits names the command that brings them', async () => {
  const clone = cloneOf(CATALOGS, '--filter=tree:0');
  await clone.setup();
  const commit = 'git add --all && git -c user.name=a -c user.email=a@b commit --quiet --message x';
  clone.inside(`${commit} && echo >>v4.19/catalog/etcd/catalog.json && ${commit}`);
  const check = () => portolan(clone.directory, 'check', '--base', 'HEAD~1', '--head', 'HEAD');
  const { exit, err } = await check();
  const hint = 'git fetch --refetch --filter=blob:none';
  expect([exit, err]).toEqual([
    2,
    expect.stringContaining(`needs objects that are not in this clone\n  ${hint}`),
  ]);
  clone.inside(`${hint} --quiet`);
  expect((await check()).exit).not.toBe(2);
});

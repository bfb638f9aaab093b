import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { load } from '../../../catalog/fbc/load.ts';
import { parseTrailers, readCommit, signerOf } from '../../../pipeline/git/commit.ts';
import { isAncestor, leftBranchAt, mergedTree } from '../../../pipeline/git/merge.ts';
import { runGit } from '../../../pipeline/git/process.ts';
import { openRepository, type Repository } from '../../../pipeline/git/repository.ts';
import { treeSource } from '../../../pipeline/git/source.ts';
import { diffTrees, entryAt, listFiles } from '../../../pipeline/git/tree.ts';
import { folder } from '../../fakes/folder.ts';
import { makeRepository, type TestRepository } from '../../fakes/repository.ts';

const settings = { searchPath: process.env['PATH'] };
const opened: Repository[] = [];
const made: TestRepository[] = [];

afterAll(async () => {
  for (const repository of opened) await repository.close();
  for (const repository of made) repository.remove();
});

function make(...options: string[]): TestRepository {
  const repository = makeRepository(...options);
  made.push(repository);
  return repository;
}

async function open(directory: string): Promise<Repository> {
  const repository = await openRepository(directory, settings);
  opened.push(repository);
  return repository;
}

const PACKAGE = 'schema: olm.package\nname: etcd\ndefaultChannel: stable\n';

describe('objects', () => {
  let source: TestRepository;
  let repository: Repository;
  let commit: string;

  beforeAll(async () => {
    source = make();
    commit = source.commit(
      { 'a/b.txt': 'one\ntwo\n', 'a/empty': '', 'c é': 'x' },
      {
        message:
          'Title: not a trailer\n\nbody\n\nSigned-off-by: Ann <ann@example.com>\nco-authored-by: Bo <b@e.com>\n',
        author: 'anna',
        committer: 'otto',
      },
    );
    repository = await open(source.directory);
  });

  test('are read in any number at once, large and empty ones too', async () => {
    const files = await listFiles(repository.objects, commit);
    expect(files.map(({ path }) => path).sort()).toEqual(['a/b.txt', 'a/empty', 'c é']);
    const all = await Promise.all(
      [...files, ...files].map(async ({ id }) => (await repository.objects.read(id)).bytes.toString()),
    );
    expect(all.sort()).toEqual(['', '', 'one\ntwo\n', 'one\ntwo\n', 'x', 'x']);
    const large = 'x'.repeat(3_000_000);
    const id = source.feed(large, 'hash-object', '-w', '--stdin');
    const [info, read] = await Promise.all([repository.objects.info(id), repository.objects.read(id)]);
    expect(info).toEqual({ type: 'blob', size: 3_000_000 });
    expect(read.bytes.toString()).toBe(large);
  });

  test('beyond a limit are refused, and reading goes on', async () => {
    const file = await entryAt(repository.objects, commit, 'a/b.txt');
    const id = file?.id ?? '';
    const [refused, read] = await Promise.allSettled([
      repository.objects.read(id, 7),
      repository.objects.read(id, 8),
    ]);
    expect(refused).toMatchObject({ status: 'rejected', reason: { code: 'too-large' } });
    expect(read).toMatchObject({ status: 'fulfilled' });
  });

  test('that are missing are said to be missing, with what to do', async () => {
    const absent = '0123456789'.repeat(4);
    expect(await repository.objects.info(absent)).toBeUndefined();
    await expect(repository.objects.read(absent)).rejects.toMatchObject({
      code: 'not-found',
      hint: expect.stringContaining('git fetch'),
    });
  });

  test('are asked for by id alone: no name reaches git', async () => {
    await expect(repository.objects.read('HEAD')).rejects.toMatchObject({ code: 'git' });
    await expect(repository.objects.read(`${commit}\ncontents ${commit}`)).rejects.toMatchObject({
      code: 'git',
    });
  });

  test('a commit says who wrote it, its trailers and parents', async () => {
    const read = await readCommit(repository.objects, commit);
    expect(read).toMatchObject({
      id: commit,
      parents: [],
      author: { name: 'anna', email: 'anna@example.com' },
      committer: { name: 'otto', email: 'otto@example.com' },
      trailers: [
        { key: 'signed-off-by', value: 'Ann <ann@example.com>' },
        { key: 'co-authored-by', value: 'Bo <b@e.com>' },
      ],
      signature: undefined,
    });
    expect(read.trailers.map(signerOf).map(({ email }) => email)).toEqual(['ann@example.com', 'b@e.com']);
  });

  test('a message with the line ends of Windows has its trailers', () => {
    const written = 'Title\r\n\r\nbody\r\n\r\nSigned-off-by: Ann <ann@example.com>\r\n';
    expect(parseTrailers(written)).toEqual([{ key: 'signed-off-by', value: 'Ann <ann@example.com>' }]);
  });

  test('a trailer of a million brackets names nobody, at once', () => {
    const trailer = { key: 'co-authored-by', value: '<'.repeat(1_000_000) };
    expect(signerOf(trailer)).toEqual({ name: '', email: '', time: 0 });
  });

  test('a signed commit keeps the signature and what was signed', async () => {
    const unsigned = `tree ${await repository.objects.treeOf(commit)}\nauthor a <a@b> 1 +0000\ncommitter a <a@b> 1 +0000\n`;
    const message = '\ntitle\n\ngpgsig in the message stays\n';
    const armour = '-----BEGIN PGP SIGNATURE-----\n\nabc\n-----END PGP SIGNATURE-----';
    const text = `${unsigned}gpgsig ${armour.replaceAll('\n', '\n ')}\n${message}`;
    const id = source.feed(text, 'hash-object', '-t', 'commit', '-w', '--stdin');
    const { signature } = await readCommit(repository.objects, id);
    expect(signature).toEqual({ armour, signed: unsigned + message });
  });
});

describe('revisions', () => {
  test('are resolved all at once, and an unknown one is named', async () => {
    const source = make();
    const first = source.commit({ a: '1' });
    const second = source.commit({ a: '2' }, { parents: [first] });
    source.git('tag', '-a', '-m', 'x', 'v1', first);
    const repository = await open(source.directory);
    expect(await repository.resolve(['main', 'main~1', 'v1', second.slice(0, 10)])).toEqual([
      second,
      first,
      first,
      second,
    ]);
    await expect(repository.resolve(['main', '--help'])).rejects.toMatchObject({
      code: 'not-found',
      message: '"--help" is not a commit in this clone',
    });
    await expect(repository.resolve(['main\nmain'])).rejects.toMatchObject({ code: 'not-found' });
  });

  test('attack 69: a tag of a fork is not taken for the branch of its name, nor for the id of a commit', async () => {
    const own = make();
    const base = own.commit({ a: '1' });
    own.git('update-ref', 'refs/remotes/origin/main', base);
    const fork = make();
    fork.git('fetch', '--quiet', own.directory, 'main');
    const evil = fork.commit({ a: 'evil' }, { parents: [base] });
    fork.commit({ a: 'evil', b: '1' }, { parents: [evil], branch: 'pr' });
    own.git('branch', '@stable', base);
    for (const name of ['main', 'origin/main', 'pr', '@stable', base.slice(0, 8)])
      fork.git('tag', name, evil);
    own.git('fetch', '--quiet', fork.directory, 'refs/heads/pr:refs/heads/pr');
    const repository = await open(own.directory);
    for (const name of ['main', 'origin/main', 'main~0', 'pr', '@stable', base.slice(0, 8)]) {
      await expect(repository.resolve([name])).rejects.toMatchObject({
        code: 'conflict',
        message: expect.stringContaining('refs/tags/'),
      });
    }
    for (const name of ['refs/heads/main', 'HEAD', '@', '@~0', 'HEAD^{commit}', base])
      expect(await repository.resolve([name])).toEqual([base]);
    own.git('tag', '--delete', 'main', 'origin/main', 'pr', base.slice(0, 8));
    // Of one commit, two names are as good as one.
    own.git('tag', 'main', base);
    expect(await repository.resolve(['main', 'origin/main', base.slice(0, 8)])).toEqual([base, base, base]);
  });

  test('a branch without commits is said to be that', async () => {
    const repository = await open(make().directory);
    await expect(repository.resolve(['HEAD'])).rejects.toMatchObject({
      hint: 'the branch has no commits yet: commit your catalogs first',
    });
  });

  test('a directory that is no repository, and git that is not there, are clear errors', async () => {
    const source = make();
    rmSync(join(source.directory, '.git'), { recursive: true });
    await expect(open(source.directory)).rejects.toMatchObject({
      code: 'not-found',
      hint: expect.stringContaining('in a clone of your catalog repository'),
    });
    await expect(open(join(source.directory, 'nowhere'))).rejects.toMatchObject({ code: 'not-found' });
    await expect(openRepository(source.directory, { searchPath: '/nowhere' })).rejects.toMatchObject({
      code: 'git',
      message: 'git is not on the PATH',
    });
  });

  test('a git that is not there leaves nothing behind that would keep the program running', async () => {
    const { directory } = make();
    const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const before = timers();
    const run = { settings: { searchPath: '/nowhere' }, directory };
    await expect(runGit(run, ['status'])).rejects.toMatchObject({ code: 'git' });
    expect(timers()).toBe(before);
  });
});

describe('trees compared', () => {
  test('list what was added, removed and changed, a move as both', async () => {
    const source = make();
    const before = source.commit({
      'a/moved': 'm',
      'a/same': 's',
      'b/changed': '1',
      'x/file': 'f',
      mode: 'm',
    });
    const after = source.commit(
      {
        'a/moved': null,
        'c/moved': 'm',
        'b/changed': '2',
        'x/file': null,
        x: 'now a file',
        mode: { mode: '100755', text: 'm' },
      },
      { parents: [before] },
    );
    const { objects } = await open(source.directory);
    const { changes, complete } = await diffTrees(objects, { before, after }, 100);
    expect(complete).toBe(true);
    expect(changes.map(({ path, before: b, after: a }) => [path, b?.mode, a?.mode])).toEqual([
      ['a/moved', '100644', undefined],
      ['b/changed', '100644', '100644'],
      ['c/moved', undefined, '100644'],
      ['mode', '100644', '100755'],
      ['x', undefined, '100644'],
      ['x/file', '100644', undefined],
    ]);
  });

  test('beyond the limit are not complete', async () => {
    const source = make();
    const before = source.commit({ z: '' });
    const files = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`d${i}/f`, String(i)]));
    const after = source.commit(files, { parents: [before] });
    const { objects } = await open(source.directory);
    expect(await diffTrees(objects, { before, after }, 19)).toMatchObject({ complete: false });
    expect(await diffTrees(objects, { before, after }, 20)).toMatchObject({ complete: true });
  });

  test('a tree bomb is refused before it costs anything', async () => {
    const source = make();
    const before = source.commit({ z: '' });
    let entry = `100644 blob ${source.feed('', 'hash-object', '-w', '--stdin')}`;
    for (let level = 0; level < 12; level++) {
      const lines = Array.from({ length: 10 }, (_, i) => `${entry}\tf${i}\n`).join('');
      entry = `040000 tree ${source.feed(lines, 'mktree')}`;
    }
    const bomb = entry.split(' ')[2] ?? '';
    const { objects } = await open(source.directory);
    expect(await diffTrees(objects, { before, after: bomb }, 3000)).toMatchObject({ complete: false });
    await expect(listFiles(objects, bomb)).rejects.toMatchObject({ code: 'too-large' });
  });
});

describe('a subtree as a source', () => {
  test('gives what a checkout would, with blob ids as identities and links unread', async () => {
    const source = make();
    const commit = source.commit({
      'catalogs/v1/etcd/catalog.yaml': PACKAGE,
      'catalogs/v1/etcd/.indexignore': 'README.md',
      'catalogs/v1/etcd/README.md': '%',
      'catalogs/v1/etcd/link.yaml': { mode: '120000', text: 'catalog.yaml' },
      'catalogs/v1/etcd/module': { mode: '160000', id: '1'.repeat(40) },
    });
    const { objects } = await open(source.directory);
    const folder = await entryAt(objects, commit, 'catalogs/v1');
    const files = treeSource(objects, folder?.id ?? '');
    const { blobs, findings } = await load(files);
    expect(blobs.packages.map(({ name }) => name)).toEqual(['etcd']);
    expect(findings.map(({ rule, message }) => [rule, message])).toEqual([
      ['fbc/unreadable', 'a symbolic link'],
      ['fbc/unreadable', 'a submodule'],
    ]);
    const list = await files.files();
    const id = source.feed(PACKAGE, 'hash-object', '--stdin');
    expect(list.find(({ path }) => path === 'etcd/catalog.yaml')?.identity).toBe(id);
  });
});

describe('merging', () => {
  test('gives the tree that the base branch will hold, and leaves the repository as it was', async () => {
    const source = make();
    const root = source.commit({ shared: 'a\nb\nc\nd\ne\n', mine: '1' });
    const base = source.commit({ shared: 'A\nb\nc\nd\ne\n' }, { parents: [root] });
    const head = source.commit({ shared: 'a\nb\nc\nd\nE\n', mine: '2' }, { parents: [root], branch: 'pr' });
    const objectsBefore = source.git('count-objects', '-v');
    const repository = await open(source.directory);
    const merged = await mergedTree(repository, { base, head });
    if (merged.kind !== 'merged') throw new Error(merged.kind);
    const file = await entryAt(repository.objects, merged.tree, 'shared');
    expect((await repository.objects.read(file?.id ?? '')).bytes.toString()).toBe('A\nb\nc\nd\nE\n');
    expect(source.git('count-objects', '-v')).toBe(objectsBefore);
  });

  test('that conflicts names the paths', async () => {
    const source = make();
    const root = source.commit({ 'a\n"b': '1' });
    const base = source.commit({ 'a\n"b': '2' }, { parents: [root] });
    const head = source.commit({ 'a\n"b': '3' }, { parents: [root], branch: 'pr' });
    expect(await mergedTree(await open(source.directory), { base, head })).toEqual({
      kind: 'conflict',
      paths: ['a\n"b'],
    });
  });

  test('of histories that never met is its own outcome', async () => {
    const source = make();
    const base = source.commit({ a: '1' });
    const head = source.commit({ b: '1' }, { branch: 'pr' });
    expect(await mergedTree(await open(source.directory), { base, head })).toEqual({ kind: 'unrelated' });
  });

  test('in a shallow clone says that history is missing, and works when the ancestor is named', async () => {
    const source = make();
    const ancestor = source.commit({ shared: 'a\nb\nc\nd\ne\n' });
    const base = source.commit({ shared: 'A\nb\nc\nd\ne\n' }, { parents: [ancestor] });
    const head = source.commit({ shared: 'a\nb\nc\nd\nE\n' }, { parents: [ancestor], branch: 'pr' });
    const clone = make();
    for (const id of [ancestor, base, head]) {
      source.git('branch', '--force', `at-${id}`, id);
      clone.git('fetch', '--quiet', '--depth=1', `file://${source.directory}`, `at-${id}`);
    }
    const repository = await open(clone.directory);
    expect(repository.shallow).toBe(true);
    await expect(mergedTree(repository, { base, head })).rejects.toMatchObject({
      code: 'not-found',
      hint: expect.stringContaining('--unshallow'),
    });
    const merged = await mergedTree(repository, { base, head, ancestor });
    const whole = await mergedTree(await open(source.directory), { base, head });
    expect(merged).toEqual(whole);
  });

  test('in a partial clone does not fetch what is missing behind our back', async () => {
    const source = make();
    const base = source.commit({ shared: 'a\n' });
    source.git('config', 'uploadpack.allowFilter', 'true');
    const clone = make();
    clone.git('remote', 'add', 'origin', `file://${source.directory}`);
    clone.git('fetch', '--quiet', '--filter=blob:none', 'origin', 'main');
    const repository = await open(clone.directory);
    const file = await entryAt(repository.objects, base, 'shared');
    await expect(repository.objects.read(file?.id ?? '')).rejects.toMatchObject({ code: 'not-found' });
  });
});

describe('processes of git', () => {
  /** Opens a repository with a git that notes what it is started for. */
  async function noting(directory: string): Promise<{ repository: Repository; started: () => string[] }> {
    const notes = join(folder(), 'notes');
    const bin = folder();
    const program = `#!/bin/sh\necho "$*" >>'${notes}'\nPATH='${settings.searchPath}' exec git "$@"\n`;
    writeFileSync(join(bin, 'git'), program, { mode: 0o755 });
    const repository = await openRepository(directory, { searchPath: `${bin}:${settings.searchPath}` });
    onTestFinished(() => repository.close());
    const commands = (): string[] =>
      readFileSync(notes, 'utf8')
        .match(/^(?:-C \S+ )?\S+/gm)
        ?.map((line) => line.replace(/^-C \S+ /, '')) ?? [];
    return { repository, started: commands };
  }

  test('one reads everything about a pull request that is a commit on top of its base', async () => {
    const source = make();
    const base = source.commit({ a: '1' });
    const head = source.commit({ a: '2' }, { parents: [base], branch: 'pr' });
    const { repository, started } = await noting(source.directory);
    expect(await repository.resolve([base, head])).toEqual([base, head]);
    expect(await mergedTree(repository, { base, head })).toEqual({
      kind: 'merged',
      tree: source.git('rev-parse', `${head}^{tree}`),
    });
    expect(await isAncestor(repository, base, head)).toBe(true);
    expect(started()).toEqual(['cat-file']);
  });

  test('names, merges and what lies further back are asked of git', async () => {
    const source = make();
    const [root = '', base = ''] = source.chain({ a: '1', b: '1' }, { a: '2' });
    const head = source.commit({ b: '2' }, { parents: [root], branch: 'pr' });
    const later = source.commit({ c: '1' }, { parents: [head], branch: 'pr' });
    const { repository, started } = await noting(source.directory);
    expect(await repository.resolve(['pr', base])).toEqual([later, base]);
    expect(await mergedTree(repository, { base, head })).toMatchObject({ kind: 'merged' });
    expect(await isAncestor(repository, root, later)).toBe(true);
    expect(await isAncestor(repository, later, root)).toBe(false);
    expect(started().filter((command) => command !== 'cat-file')).toEqual([
      'merge-base',
      'merge-tree',
      'merge-base',
      'merge-base',
    ]);
  });

  test('a revision that looks like the id of a commit, and is none, is refused', async () => {
    const source = make();
    const commit = source.commit({ a: '1' });
    const tree = source.git('rev-parse', `${commit}^{tree}`);
    const { repository } = await noting(source.directory);
    for (const revision of [tree, '0123456789'.repeat(4)])
      await expect(repository.resolve([revision])).rejects.toMatchObject({ code: 'not-found' });
    source.git('tag', '-a', '-m', 'a tag', 'v1', commit);
    expect(await repository.resolve([source.git('rev-parse', 'v1')])).toEqual([commit]);
  });

  const LAYOUTS: Readonly<Record<string, (source: TestRepository) => string>> = {
    'a subdirectory': ({ directory }) => {
      mkdirSync(join(directory, 'sub'));
      return 'sub';
    },
    'a linked work tree': ({ git }) => {
      git('worktree', 'add', '--quiet', '--detach', 'linked', 'main');
      return 'linked';
    },
    'a repository with extensions': ({ git }) => {
      git('config', 'core.repositoryformatversion', '1');
      git('config', 'extensions.worktreeConfig', 'true');
      return '';
    },
  };

  test.for(Object.entries(LAYOUTS))('%s is found by git', async ([, arrange]) => {
    const source = make();
    const commit = source.commit({ a: '1' });
    const { repository, started } = await noting(join(source.directory, arrange(source)));
    expect(started()).toEqual(['rev-parse']);
    expect(await entryAt(repository.objects, commit, 'a')).toMatchObject({ mode: '100644' });
  });

  test('a folder that only looks like a repository is none', async () => {
    const directory = folder();
    mkdirSync(join(directory, '.git'));
    await expect(noting(directory)).rejects.toMatchObject({ code: 'not-found' });
  });
});

describe('where a commit left a branch', () => {
  test('is the newest of its ancestors that was the branch’s tip, whatever came in with a merge', async () => {
    const source = make();
    const root = source.commit({ a: '1' });
    const below = source.commit({ b: '1' }, { parents: [root], branch: 'below' });
    const above = source.commit({ c: '1' }, { parents: [below], branch: 'above' });
    const moved = source.commit({ a: '2' }, { parents: [root] });
    const merged = source.commit({ b: '1' }, { parents: [moved, below] });
    const repository = await open(source.directory);
    expect(source.git('merge-base', merged, above)).toBe(below);
    expect(await leftBranchAt(repository, merged, above)).toBe(root);
    const again = source.commit({ c: '2' }, { parents: [above, merged], branch: 'above' });
    expect(await leftBranchAt(repository, merged, again)).toBe(merged);
    const alone = source.commit({ z: '1' }, { branch: 'alone', parents: [] });
    expect(await leftBranchAt(repository, merged, alone)).toBeUndefined();
  });
});

describe('nothing of the repository runs', () => {
  test('hooks, filters, merge drivers, fsmonitor and replacements are without effect', async () => {
    const source = make();
    const trap = join(source.directory, 'sprung');
    const attributes = '* merge=trap diff=trap filter=trap\n';
    const root = source.commit({ shared: 'a\nb\nc\n', '.gitattributes': attributes });
    const base = source.commit({ shared: 'A\nb\nc\n' }, { parents: [root] });
    const head = source.commit({ shared: 'a\nb\nC\n' }, { parents: [root], branch: 'pr' });
    const command = `touch ${trap}`;
    for (const key of [
      'merge.trap.driver',
      'diff.trap.textconv',
      'diff.external',
      'filter.trap.smudge',
      'core.fsmonitor',
      'core.sshCommand',
      'core.askPass',
      'core.pager',
    ]) {
      source.git('config', key, command);
    }
    mkdirSync(join(source.directory, '.git/hooks'), { recursive: true });
    for (const hook of ['post-checkout', 'reference-transaction', 'post-index-change', 'pre-auto-gc']) {
      const path = join(source.directory, '.git/hooks', hook);
      writeFileSync(path, `#!/bin/sh\n${command}\n`);
      chmodSync(path, 0o755);
    }
    mkdirSync(join(source.directory, '.git/info'), { recursive: true });
    writeFileSync(join(source.directory, '.git/info/attributes'), attributes);
    source.git('replace', head, root);
    rmSync(trap, { force: true });
    const repository = await open(source.directory);
    await repository.resolve(['main', 'pr']);
    expect(await readCommit(repository.objects, head)).toMatchObject({ id: head, parents: [root] });
    const merged = await mergedTree(repository, { base, head });
    if (merged.kind !== 'merged') throw new Error(merged.kind);
    const file = await entryAt(repository.objects, merged.tree, 'shared');
    expect((await repository.objects.read(file?.id ?? '')).bytes.toString()).toBe('A\nb\nC\n');
    expect(existsSync(trap)).toBe(false);
  });

  test('a repository of somebody else is read all the same', async () => {
    const source = make();
    const id = source.commit({ a: '1' });
    if (process.getuid?.() === 0) execFileSync('chown', ['-R', '12345', source.directory]);
    const repository = await open(source.directory);
    expect(await repository.resolve(['main'])).toEqual([id]);
  });

  test('closing removes what was written', async () => {
    const source = make();
    source.commit({ a: '1' });
    const repository = await openRepository(source.directory, settings);
    await repository.objects.tree((await repository.resolve(['main']))[0] ?? '');
    expect(readdirSync(repository.scratch)).toContain('objects');
    await repository.close();
    expect(existsSync(repository.scratch)).toBe(false);
  });
});

test('repositories with SHA-256 ids work the same', async () => {
  const source = make('--object-format=sha256');
  const before = source.commit({ 'a/b': '1' });
  const after = source.commit({ 'a/b': '2' }, { parents: [before] });
  const repository = await open(source.directory);
  const { changes } = await diffTrees(repository.objects, { before, after }, 10);
  expect(changes).toMatchObject([{ path: 'a/b', after: { id: expect.stringMatching(/^[0-9a-f]{64}$/) } }]);
  expect(await mergedTree(repository, { base: before, head: after })).toMatchObject({ kind: 'merged' });
});

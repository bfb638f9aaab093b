import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type WrittenPackage, written } from '../../../catalog/olm/universe.ts';
import { folder } from '../../../fakes/folder.ts';
import { makeRepository, type TestRepository } from '../../../fakes/repository.ts';
import { runCommand } from '../../../fakes/terminal.ts';

const BEFORE: WrittenPackage = {
  versions: ['1.0.0', '1.1.0', '1.2.0'],
  channels: {
    stable: [
      { name: 'p.v1.2.0', replaces: 'p.v1.1.0' },
      { name: 'p.v1.1.0', replaces: 'p.v1.0.0' },
      { name: 'p.v1.0.0' },
    ],
  },
};

const AFTER: WrittenPackage = {
  versions: ['1.0.0', '1.1.0', '1.2.0', '1.3.0'],
  channels: { stable: [{ name: 'p.v1.3.0', replaces: 'p.v1.2.0' }, ...(BEFORE.channels['stable'] ?? [])] },
};

const TEXT = [
  'p (changed) in v4.20',
  '  channel stable: head p.v1.2.0 -> p.v1.3.0',
  '    + entry p.v1.3.0',
  '    + p.v1.3.0 replaces p.v1.2.0',
  '  bundle p.v1.3.0 added',
  '  upgrade impact:',
  '    stable: installed 1.0.0, 1.1.0',
  '      OLM v0: same next upgrade; the path now ends at 1.3.0',
  '      OLM v1: same next upgrade; the path now ends at 1.3.0',
  '    stable: installed 1.2.0',
  '      OLM v0: before: up to date; after: 1.3.0',
  '      OLM v1: before: up to date; after: 1.3.0',
  '',
].join('\n');

describe('portolan diff', () => {
  let repository: TestRepository;
  const path = 'catalogs/v4.20/p/catalog.json';
  beforeAll(() => {
    repository = makeRepository();
    repository.commit({ [path]: written({ p: BEFORE }) });
    repository.commit({ [path]: written({ p: AFTER }) }, { parents: ['main'] });
  });
  afterAll(() => repository.remove());

  test('two directories: installations that only get a longer road share a row', async () => {
    const directory = folder();
    for (const [name, ofPackage] of [
      ['old', BEFORE],
      ['new', AFTER],
    ] as const) {
      mkdirSync(join(directory, name, 'v4.20'), { recursive: true });
      writeFileSync(join(directory, name, 'v4.20/catalog.json'), written({ p: ofPackage }));
    }
    const { exit, out } = await runCommand(['diff', 'old/v4.20', 'new/v4.20'], { directory });
    expect(out).toBe(TEXT);
    expect(exit).toBe(0);
    const same = await runCommand(['diff', 'old/v4.20', 'old/v4.20'], { directory });
    expect(same).toMatchObject({ exit: 0, out: 'no changes\n', err: 'compared 1 package: p\n' });
    const mistyped = await runCommand(['diff', 'old/v4.20', 'new/v4.20', '--package', 'q'], { directory });
    expect(mistyped).toMatchObject({
      exit: 2,
      out: '',
      err: 'portolan: package "q" is in neither catalog\n  did you mean p?\n',
    });
  });

  test('a package beyond the limit of entries is not one without changes', async () => {
    const skipRange = Array(10_000).fill('<1.0.0').join(' || ');
    const large = (more: string): WrittenPackage => ({
      versions: ['1.0.0'],
      channels: { stable: [{ name: 'p.v1.0.0', skipRange: `${skipRange}${more}` }] },
    });
    const directory = folder();
    for (const [name, more] of [
      ['within', ''],
      ['beyond', ' || <1.0.0'],
    ] as const) {
      mkdirSync(join(directory, name), { recursive: true });
      writeFileSync(join(directory, name, 'catalog.json'), written({ p: large(more) }));
    }
    const within = await runCommand(['diff', 'within', 'within'], { directory });
    expect(within).toMatchObject({ exit: 0, out: 'no changes\n' });
    const said =
      'the channels of package "p" have 10001 entries, with the alternatives of their ranges; the limit is 10000';
    for (const command of [
      ['diff', 'within', 'beyond'],
      ['audit', 'beyond'],
      ['graph', 'beyond'],
      ['next', 'beyond', '--package', 'p'],
    ]) {
      const { exit, out, err } = await runCommand(command, { directory });
      expect({ command, exit, out, err }).toMatchObject({
        exit: 2,
        out: '',
        err: `portolan: beyond: ${said}\n  remove channels or entries\n`,
      });
    }
    const source = makeRepository();
    try {
      source.commit({ [path]: written({ p: large('') }) });
      source.commit({ [path]: written({ p: large(' || <1.0.0') }) }, { parents: ['main'] });
      const words = ['diff', 'main~1', 'main', '--repo', source.directory];
      expect(await runCommand(words, { directory })).toMatchObject({
        exit: 2,
        out: '',
        err: expect.stringContaining(said),
      });
    } finally {
      source.remove();
    }
  });

  test('directories without a package are no catalogs without changes', async () => {
    const directory = folder();
    for (const name of ['a', 'b']) {
      mkdirSync(join(directory, name, 'manifests'), { recursive: true });
      writeFileSync(
        join(directory, name, 'manifests/csv.yaml'),
        `kind: ClusterServiceVersion\nname: ${name}\n`,
      );
    }
    const { exit, out, err } = await runCommand(['diff', 'a', 'b'], { directory });
    expect([exit, out]).toEqual([2, '']);
    expect(err).toContain('neither a nor b contains a package');
    expect(err).toContain('to compare bundles, use --bundle');
  });

  test('two revisions of a repository', async () => {
    const words = ['diff', 'main~1', 'main', '--repo', repository.directory];
    expect(await runCommand(words)).toMatchObject({ out: TEXT, err: 'compared 1 package: p\n' });
    const none = await runCommand(['diff', 'main', 'main', '--repo', repository.directory]);
    expect(none).toMatchObject({ out: 'no changes\n', err: 'compared 0 packages\n' });
    const { packages } = JSON.parse((await runCommand([...words, '--format', 'json'])).out);
    expect(packages).toMatchObject([{ package: 'p', catalogs: ['v4.20'], kind: 'changed' }]);
    const same = ['diff', 'main', 'main', '--repo', repository.directory, '--package', 'p'];
    expect(await runCommand(same)).toMatchObject({ exit: 0, out: 'no changes\n' });
    for (const compared of [words, same])
      expect(await runCommand([...compared, '--package', 'q'])).toMatchObject({
        exit: 2,
        out: '',
        err: 'portolan: package "q" is in neither catalog\n  did you mean p?\n',
      });
    expect((await runCommand([...words, '--format', 'markdown'])).out).toContain(
      '| stable | 1.0.0, 1.1.0 |  | same next upgrade; the path now ends at 1.3.0 |',
    );
  });

  test('a revision that is not there', async () => {
    const { exit, err } = await runCommand(['diff', 'nowhere', 'main', '--repo', repository.directory]);
    expect(exit).toBe(2);
    expect(err).toContain('"nowhere" is not a commit in this clone');
  });

  test('revisions without a repository are told how to be compared', async () => {
    const { exit, err } = await runCommand(['diff', 'HEAD~1', 'HEAD'], { directory: repository.directory });
    expect(exit).toBe(2);
    expect(err).toMatch(/^portolan: HEAD~1: no such directory\n.*; to compare revisions, use --repo DIR\n$/);
  });
});

describe('portolan diff --pruning', () => {
  const channels = {
    stable: [{ name: 'p.v1.1.0', replaces: 'p.v1.0.0' }, { name: 'p.v1.0.0' }],
    'candidate-1': [{ name: 'p.v1.1.0', replaces: 'p.v1.0.0' }, { name: 'p.v1.0.0' }],
  };
  const published = { p: { versions: ['1.0.0', '1.1.0'], channels }, q: BEFORE };

  async function pruned(head: Readonly<Record<string, WrittenPackage>>, ...words: string[]) {
    const root = folder();
    for (const [name, packages] of Object.entries({ published, head })) {
      mkdirSync(join(root, name));
      writeFileSync(join(root, name, 'catalog.json'), written(packages));
    }
    return runCommand(['diff', 'published', 'head', '--pruning', ...words], { directory: root });
  }

  const without = (channel: string): WrittenPackage => ({
    versions: ['1.0.0', '1.1.0'],
    channels: Object.fromEntries(Object.entries(channels).filter(([name]) => name !== channel)),
  });

  test('an entry, a channel; what is added is fine', async () => {
    const stable = [{ name: 'p.v1.2.0', replaces: 'p.v1.1.0' }, { name: 'p.v1.1.0' }];
    const head = { p: { versions: ['1.1.0', '1.2.0', '1.0.0'], channels: { ...channels, stable } } };
    expect(await pruned(head)).toMatchObject({ exit: 1, out: 'p stable: missing: p.v1.0.0\n' });
    expect(await pruned({ p: without('stable') })).toMatchObject({
      exit: 1,
      out: 'p stable: the whole channel is missing\n',
    });
    const kept = { ...channels, stable: [{ name: 'p.v1.2.0', replaces: 'p.v1.1.0' }, ...channels.stable] };
    expect(await pruned({ p: { versions: ['1.0.0', '1.1.0', '1.2.0'], channels: kept } })).toEqual(
      expect.objectContaining({ exit: 0, out: '', err: 'compared 1 package with the published index\n' }),
    );
  });

  test('pre-release channels may lose versions', async () => {
    expect(await pruned({ p: without('candidate-1') })).toMatchObject({
      exit: 0,
      out: 'p candidate-1: the whole channel is missing (allowed: pre-release channel)\n',
    });
  });

  test('a package that is gone counts only for the whole catalog', async () => {
    const head = { p: { versions: ['1.0.0', '1.1.0'], channels } };
    expect(await pruned(head)).toMatchObject({ exit: 0, out: '' });
    const { exit, out } = await pruned(head, '--whole', '--format', 'json');
    expect(exit).toBe(1);
    expect(JSON.parse(out).pruned).toEqual([
      {
        ...{ package: 'q', channel: 'stable', isWholeChannel: true, isPreRelease: false },
        entries: ['q.v1.2.0', 'q.v1.1.0', 'q.v1.0.0'].map((name) => name.replace('q', 'p')),
      },
    ]);
  });

  test('a package that neither side has is not one that lost nothing', async () => {
    const head = { p: without('') };
    expect(await pruned(head, '--package', 'nope')).toMatchObject({
      exit: 2,
      out: '',
      err: 'portolan: package "nope" is in neither catalog\n',
    });
    expect(await pruned(head, '--package', 'q')).toMatchObject({ exit: 0 });
    expect(await pruned(head, '--whole', '--package', 'q')).toMatchObject({ exit: 1 });
  });

  test('what cannot be read, or has nothing in it, does not pass', async () => {
    expect(await pruned({})).toMatchObject({ exit: 2, err: expect.stringContaining('head has no packages') });
    expect(await pruned({ p: without('') }, '--repo', '.')).toMatchObject({ exit: 2 });
    const root = folder();
    for (const name of ['published', 'head']) mkdirSync(join(root, name));
    writeFileSync(join(root, 'published', 'a.json'), written(published));
    writeFileSync(join(root, 'head', 'a.json'), `${written({ p: without('') })}{`);
    const ran = await runCommand(['diff', 'published', 'head', '--pruning'], { directory: root });
    expect(ran).toMatchObject({
      exit: 2,
      err: expect.stringContaining('head has parts that cannot be read'),
    });
  });
});

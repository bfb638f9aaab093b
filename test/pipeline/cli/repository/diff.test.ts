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
  '      OLM v0: was ending at 1.2.0; now ending at 1.3.0',
  '      OLM v1: was ending at 1.2.0; now ending at 1.3.0',
  '    stable: installed 1.2.0',
  '      OLM v0: was no upgrade; now 1.3.0',
  '      OLM v1: was no upgrade; now 1.3.0',
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
      err: 'portolan: package "q" is in neither catalog\n',
    });
  });

  test('two revisions of a repository', async () => {
    const words = ['diff', 'main~1', 'main', '--repo', repository.directory];
    expect(await runCommand(words)).toMatchObject({ out: TEXT, err: 'compared 1 package: p\n' });
    const none = await runCommand(['diff', 'main', 'main', '--repo', repository.directory]);
    expect(none).toMatchObject({ out: 'no changes\n', err: 'compared 0 packages\n' });
    const { packages } = JSON.parse((await runCommand([...words, '--format', 'json'])).out);
    expect(packages).toMatchObject([{ package: 'p', catalogs: ['v4.20'], kind: 'changed' }]);
    expect((await runCommand([...words, '--package', 'q'])).out).toBe('no changes\n');
    expect((await runCommand([...words, '--format', 'markdown'])).out).toContain(
      '| stable | 1.0.0, 1.1.0 | ending at 1.2.0 | ending at 1.3.0 | ending at 1.2.0 | ending at 1.3.0 |',
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

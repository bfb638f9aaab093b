import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { formatVersion } from '../../../../catalog/version/version.ts';
import { oldVersions } from '../../../../pipeline/check/world/old-versions.ts';
import { type Published, publishedBefore, wholeBundles } from '../../../../pipeline/check/world/published.ts';
import * as git from '../../../../pipeline/git/process.ts';
import { openRepository } from '../../../../pipeline/git/repository.ts';
import { type WrittenPackage, written } from '../../../catalog/olm/universe.ts';
import { makeRepository, type TestRepository } from '../../../fakes/repository.ts';
import { runCommand } from '../../../fakes/terminal.ts';

const LIMITS = {
  ...{ fileBytes: 1 << 20, files: 100, documents: 1000, entries: 1000, nodes: 1000 },
  ...{ depth: 100, aliases: 100, contextBytes: 0 },
};
const PATH = 'catalogs/v4.20/p/catalog.json';

function chain(...versions: readonly string[]): WrittenPackage {
  const entries = versions.map((version, i) => ({
    name: `p.v${version}`,
    ...(i > 0 ? { replaces: `p.v${versions[i - 1]}` } : {}),
  }));
  return { versions, channels: { stable: entries } };
}

function shown(published: Published): string[] {
  return [...published].flatMap(([catalog, packages]) =>
    [...packages].flatMap(([name, bundles]) =>
      bundles.map(
        ({ channel, version, last }) =>
          `${catalog} ${name} ${channel} ${version ? formatVersion(version) : '?'} ${last}`,
      ),
    ),
  );
}

describe('what was ever published', () => {
  let repository: TestRepository;
  beforeAll(() => {
    repository = makeRepository();
    for (const [i, ofPackage] of [
      chain('1.0.0'),
      chain('1.0.0', '1.1.0'),
      chain('1.1.0', '1.2.0'),
    ].entries()) {
      repository.commit({ [PATH]: written({ p: ofPackage }) }, i === 0 ? {} : { parents: ['main'] });
    }
  });
  afterAll(() => repository.remove());

  test('is read a second time only where its document holds manifests', async () => {
    const opened = await openRepository(repository.directory, { searchPath: process.env['PATH'] });
    const object = { type: 'olm.bundle.object', value: { data: btoa('{"kind":"Service"}') } };
    const own = { ...chain('1.3.0'), properties: { '1.3.0': [object] } };
    const with130 = repository.commit({ [PATH]: written({ p: own }) }, { parents: ['main'], branch: 'more' });
    const gone = repository.commit(
      { [PATH]: written({ p: chain('1.4.0') }) },
      { parents: [with130], branch: 'more' },
    );
    const places = [{ catalog: 'v4.20', path: 'catalogs/v4.20/p' }];
    const { published } = await publishedBefore(opened, gone, { places, limits: LIMITS });
    const past = published.get('v4.20')?.get('p') ?? [];
    expect(past.filter(({ file }) => file !== undefined).map(({ name }) => name)).toEqual(['p.v1.3.0']);
    const whole = await wholeBundles(opened.objects, past, LIMITS);
    await opened.close();
    expect(whole.map(({ name, properties }) => [name, properties.at(-1)?.type])).toEqual([
      ['p.v1.3.0', object.type],
    ]);
  });

  test('is found under names that begin with a blank, or hold what git separates commits by', async () => {
    const odd = ['catalogs/v4.20/p/ a.json', 'catalogs/v4.20/p/b\u0001c.json'];
    const own = (version: string) =>
      Object.fromEntries(odd.map((path, i) => [path, written({ [`q${i}`]: chain(version) })]));
    const first = repository.commit(own('1.0.0'), { branch: 'odd' });
    const last = repository.commit(own('1.1.0'), { parents: [first], branch: 'odd' });
    const opened = await openRepository(repository.directory, { searchPath: process.env['PATH'] });
    const places = [{ catalog: 'v4.20', path: 'catalogs/v4.20/p' }];
    const { versions, added } = await oldVersions(opened, last, places);
    await opened.close();
    expect(versions.map(({ path }) => path).sort()).toEqual(odd);
    expect(added?.map(({ path }) => path).sort()).toEqual(odd);
  });

  test('is found in old versions of the files, with the last day', async () => {
    const opened = await openRepository(repository.directory, { searchPath: process.env['PATH'] });
    const [commit = ''] = await opened.resolve(['main']);
    const places = [{ catalog: 'v4.20', path: 'catalogs/v4.20/p' }];
    const { published, incomplete } = await publishedBefore(opened, commit, { places, limits: LIMITS });
    await opened.close();
    expect(incomplete).toBeUndefined();
    expect(shown(published).sort()).toEqual([
      'v4.20 p stable 1.0.0 2023-11-14',
      'v4.20 p stable 1.1.0 2023-11-14',
    ]);
  });

  test('is found in the folders that a package was moved from; the first commit is not asked for any', async () => {
    const moved = (folder: string, ...versions: readonly string[]) => ({
      [`catalogs/v4.20/${folder}/catalog.json`]: written({ p: chain(...versions) }),
    });
    const first = repository.commit(moved('a', '1.0.0'), { branch: 'moved' });
    const gone = { 'catalogs/v4.20/a/catalog.json': null };
    const next = repository.commit(
      { ...gone, ...moved('b', '1.1.0') },
      { parents: [first], branch: 'moved' },
    );
    const opened = await openRepository(repository.directory, { searchPath: process.env['PATH'] });
    const started = vi.spyOn(git, 'runGit');
    const places = (folder: string) => [
      { catalog: 'v4.20', path: `catalogs/v4.20/${folder}`, root: 'catalogs/v4.20' },
    ];
    const { published } = await publishedBefore(opened, next, { places: places('b'), limits: LIMITS });
    expect(shown(published)).toEqual(['v4.20 p stable 1.0.0 2023-11-14']);
    expect(started).toHaveBeenCalledTimes(3);
    started.mockClear();
    await publishedBefore(opened, first, { places: places('a'), limits: LIMITS });
    expect(started).toHaveBeenCalledTimes(1);
    started.mockRestore();
    await opened.close();
  });

  test('a pull request that takes the road from what is long gone is stopped', async () => {
    // 1.0.0 left the catalog; a skipRange still reaches it, until the pull request takes it away.
    const bridge = (skipRange: string): string =>
      written({
        p: {
          versions: ['1.2.0'],
          channels: { stable: [{ name: 'p.v1.2.0', ...(skipRange === '' ? {} : { skipRange }) }] },
        },
      });
    repository.commit({ [PATH]: bridge('<1.2.0') }, { parents: ['main'] });
    repository.commit({ [PATH]: bridge('') }, { parents: ['main'], branch: 'pr' });
    const words = [
      'check',
      '--repo',
      repository.directory,
      '--base',
      'main',
      '--head',
      'pr',
      '--format',
      'json',
    ];
    const { out, exit } = await runCommand(words);
    const findings: { rule: string; installed: string[] }[] = JSON.parse(out).findings;
    const stranded = findings.find(({ rule }) => rule === 'graph/strands-installed-v0');
    expect(stranded?.installed).toEqual(['1.0.0', '1.1.0']);
    expect(exit).toBe(1);
  });

  test('a ledger stands in for the history', async () => {
    const ledger = ['1.0.0', '1.1.0'].map((version) =>
      JSON.stringify({
        catalog: 'v4.20',
        package: 'p',
        channel: 'stable',
        bundle: `p.v${version}`,
        version,
        last: '2025-12-01',
      }),
    );
    const policy = (path: string): string =>
      `apiVersion: portolan/v1alpha1\nkind: Portolan\ngraph: {published: {ledger: ${path}}}\n`;
    const check = async (text: string, path = 'published.jsonl') => {
      const base = repository.commit(
        { '.github/portolan.yaml': policy(path), 'published.jsonl': text },
        { parents: ['main'], branch: 'base' },
      );
      const head = repository.commit(
        { [PATH]: written({ p: { versions: ['1.2.0'], channels: { stable: [{ name: 'p.v1.2.0' }] } } }) },
        { parents: [base], branch: 'pr2' },
      );
      return runCommand([
        'check',
        '--repo',
        repository.directory,
        '--base',
        base,
        '--head',
        head,
        '--format',
        'json',
      ]);
    };
    const report = JSON.parse((await check(`${ledger.join('\n')}\n`)).out);
    expect(report.findings.map(({ rule }: { rule: string }) => rule)).toContain('graph/strands-installed-v0');
    const none = JSON.parse((await check('', 'nowhere.jsonl')).out);
    expect(none.unchecked).toEqual([
      { what: 'earlier published versions', why: 'the ledger nowhere.jsonl does not exist yet' },
    ]);
    const broken = await check('{"catalog": 1}\n');
    expect(broken).toMatchObject({ exit: 2, out: '' });
    expect(broken.err).toContain('published.jsonl:1 is not a valid ledger line');
  });
});

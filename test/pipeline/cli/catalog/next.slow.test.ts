import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type WrittenPackage, written } from '../../../catalog/olm/universe.ts';
import { folder } from '../../../fakes/folder.ts';
import { runCommand } from '../../../fakes/terminal.ts';

const TRAP: WrittenPackage = {
  versions: ['0.2.0', '0.2.3', '0.3.0'],
  channels: {
    fast: [
      { name: 'p.v0.3.0', replaces: 'p.v0.2.3', skips: ['p.v0.2.3'] },
      { name: 'p.v0.2.3', skips: ['p.v0.2.0'] },
      { name: 'p.v0.2.0' },
    ],
  },
};

const CHAIN: WrittenPackage = {
  versions: ['1.0.0', '1.1.0', '1.2.0'],
  channels: {
    stable: [
      { name: 'p.v1.2.0', replaces: 'p.v1.1.0' },
      { name: 'p.v1.1.0', replaces: 'p.v1.0.0' },
      { name: 'p.v1.0.0', replaces: 'p.v0.9.0' },
    ],
  },
  deprecated: ['1.1.0'],
};

/** Writes catalogs below a directory of their own. */
function catalogs(all: Readonly<Record<string, Readonly<Record<string, WrittenPackage>>>>): string {
  const directory = folder();
  for (const [name, packages] of Object.entries(all)) {
    mkdirSync(join(directory, name));
    writeFileSync(join(directory, name, 'catalog.json'), written(packages));
  }
  return directory;
}

describe('portolan next', () => {
  test('names each step with what leads there, under both resolvers', async () => {
    const directory = catalogs({ 'v4.20': { p: CHAIN } });
    const { exit, out } = await runCommand(['next', '--package', 'p', '--version', '1.0.0', 'v4.20'], {
      directory,
    });
    expect(out).toBe(
      [
        'p 1.0.0 (p.v1.0.0)',
        '  OLM v0, channel stable of v4.20: 1.1.0 (replaces, deprecated) -> 1.2.0 (replaces)',
        '    reaches the head of channel stable',
        '  OLM v1, all channels of v4.20: no upgrade',
        '    STUCK: all successors are deprecated: p.v1.1.0',
        '',
      ].join('\n'),
    );
    expect(exit).toBe(1);
  });

  test('45: says that it does not know where dependencies take too long', async () => {
    const versions = Array.from({ length: 1100 }, (_, i) => `1.${i}.0`);
    const gvk = { group: 'a', kind: 'b', version: 'v1' };
    const each = [
      { type: 'olm.gvk', value: gvk },
      { type: 'olm.gvk.required', value: gvk },
    ];
    const entries = versions.map((version, i) => ({
      name: `p.v${version}`,
      ...(i > 0 ? { replaces: `p.v1.${i - 1}.0` } : {}),
    }));
    const properties = Object.fromEntries(versions.map((version) => [version, each]));
    const directory = catalogs({ 'v4.20': { p: { versions, channels: { stable: entries }, properties } } });
    const { exit, err } = await runCommand(
      ['next', '--package', 'p', '--version', '1.0.0', '--olm', 'v0', 'v4.20'],
      { directory },
    );
    expect(err).toBe(
      'portolan: cannot check dependencies in v4.20: bundles require each other in more ways than are tried\n',
    );
    expect(exit).toBe(2);
  });

  test('names the catalog of which parts cannot be read, also as .', async () => {
    const directory = catalogs({ 'v4.20': { p: CHAIN } });
    writeFileSync(join(directory, 'v4.20/notes.yaml'), 'a: 1\n');
    const words = ['next', '--package', 'p', '--version', '1.0.0'];
    const skipped = 'skipped 1 unreadable part (run portolan validate for details)\n';
    expect((await runCommand([...words, 'v4.20'], { directory })).err).toBe(`v4.20: ${skipped}`);
    expect((await runCommand([...words, '.'], { directory: join(directory, 'v4.20') })).err).toBe(
      `v4.20: ${skipped}`,
    );
  });

  test('says which entry keeps a version from going on', async () => {
    const directory = catalogs({ 'v4.20': { p: TRAP } });
    const ran = await runCommand(
      ['next', '--package', 'p', '--version', '0.2.0', '--olm', 'v0', '--json', 'v4.20'],
      { directory },
    );
    const paths = [
      {
        olm: 'v0',
        where: 'channel fast of v4.20',
        channels: ['fast'],
        steps: [],
        arrives: false,
        end: 'stays',
        last: 'p.v0.3.0 both replaces and skips the next bundle, p.v0.2.3, so OLM v0 never offers it',
      },
    ];
    expect(JSON.parse(ran.out)).toEqual({
      package: 'p',
      installed: { name: 'p.v0.2.0', version: '0.2.0' },
      assumed: false,
      paths,
      // Their former name.
      roads: paths,
    });
    expect(ran.exit).toBe(1);
  });

  test('a version that is gone goes on by the name that entries give it', async () => {
    const directory = catalogs({ 'v4.20': { p: { ...CHAIN, deprecated: [] } } });
    const { exit, out } = await runCommand(['next', '--package', 'p', '--version', '0.9.0', 'v4.20'], {
      directory,
    });
    expect(out).toContain('p 0.9.0 (p.v0.9.0)\n  not in these catalogs');
    expect(out).toContain('channel stable of v4.20: 1.0.0 (replaces) -> 1.1.0');
    expect(exit).toBe(0);
  });

  test('without a version: what a new installation gets', async () => {
    const directory = catalogs({ 'v4.20': { p: CHAIN } });
    const { out } = await runCommand(
      ['next', '--package', 'p', '--olm', 'v1', '--range', '<1.1.0', 'v4.20'],
      {
        directory,
      },
    );
    expect(out).toBe(
      'p, new installation\n  OLM v1, all channels of v4.20, version <1.1.0: 1.0.0\n    stays: the next version, 1.1.0, is outside the version range <1.1.0\n',
    );
  });

  test('a version range that OLM v1 would refuse is a usage error', async () => {
    const directory = catalogs({ 'v4.20': { p: CHAIN } });
    for (const range of ['abc', '', '>=1.0.0 <']) {
      const { exit, out, err } = await runCommand(['next', '--package', 'p', '--range', range, 'v4.20'], {
        directory,
      });
      expect({ exit, out }).toEqual({ exit: 2, out: '' });
      expect(err).toContain('--range must be a version range');
    }
  });

  test('two catalogs of one cluster: OLM v1 cannot choose, OLM v0 asks which is subscribed to', async () => {
    const directory = catalogs({ one: { p: CHAIN }, two: { p: CHAIN } });
    const asked = ['next', '--package', 'p', '--version', '1.1.0'];
    const both = await runCommand([...asked, '--olm', 'v1', 'one', 'two'], { directory });
    expect(both.out).toContain(
      'STUCK: error upgrading from currently installed version "1.1.0": found bundles',
    );
    const open = await runCommand([...asked, 'one', 'two'], { directory });
    expect(open).toMatchObject({ exit: 2, out: '' });
    expect(open.err).toContain('--catalog one|two');
    const chosen = await runCommand([...asked, '--olm', 'v0', '--catalog', 'two', 'one', 'two'], {
      directory,
    });
    expect(chosen).toMatchObject({ exit: 0 });
  });

  describe('what a bundle depends on', () => {
    const NEED = { type: 'olm.package.required', value: { packageName: 'q', versionRange: '>=1.0.0' } };
    const NEEDY: WrittenPackage = {
      ...CHAIN,
      deprecated: [],
      properties: { '1.1.0': [NEED], '1.2.0': [NEED] },
    };
    const Q: WrittenPackage = { versions: ['1.0.0'], channels: { a: [{ name: 'q.v1.0.0' }] } };
    const OLD: WrittenPackage = { versions: ['0.9.0'], channels: { a: [{ name: 'q.v0.9.0' }] } };
    const asked = ['next', '--package', 'p', '--version', '1.0.0', '--olm', 'v0'];
    const missing =
      '    MISSING: p.v1.1.0 requires an operator with package: q and with version in range: >=1.0.0; if another catalog on the cluster has one, name that catalog too';

    test.each([
      ['has nothing of it', { p: NEEDY }],
      ['has too old a version', { p: NEEDY, q: OLD }],
    ])('is reported missing where the only catalog %s', async (_, packages) => {
      const directory = catalogs({ 'v4.20': packages });
      const { exit, out } = await runCommand([...asked, 'v4.20'], { directory });
      expect(out.split('\n')).toContain(missing);
      expect(out).toContain('STUCK');
      expect(exit).toBe(1);
      const { out: json } = await runCommand([...asked, '--json', 'v4.20'], { directory });
      expect(JSON.parse(json).paths[0].missing).toEqual([
        { bundle: 'p.v1.1.0', requires: 'with package: q and with version in range: >=1.0.0' },
      ]);
    });

    test('is reported missing of a new installation', async () => {
      const properties = { '1.0.0': [NEED], '1.1.0': [NEED], '1.2.0': [NEED] };
      const directory = catalogs({ 'v4.20': { p: { ...NEEDY, properties } } });
      const { exit, out } = await runCommand(['next', '--package', 'p', '--olm', 'v0', 'v4.20'], {
        directory,
      });
      expect(out).toContain('MISSING: p.v1.2.0 requires an operator with package: q');
      expect(exit).toBe(1);
    });

    test.each([
      ['in the same catalog', { 'v4.20': { p: NEEDY, q: Q } }],
      ['in another catalog that is named', { 'v4.20': { p: NEEDY }, internal: { q: Q } }],
    ])('lets the path go on where it is %s', async (_, all) => {
      const directory = catalogs(all);
      const { exit, out } = await runCommand([...asked, ...Object.keys(all)], { directory });
      expect(out).toContain('1.1.0 (replaces) -> 1.2.0 (replaces)');
      expect(out).not.toContain('MISSING');
      expect(exit).toBe(0);
    });

    test('is missing where what meets it lacks something itself', async () => {
      const deeper = { type: 'olm.package.required', value: { packageName: 'r', versionRange: '>=1.0.0' } };
      const directory = catalogs({
        'v4.20': { p: NEEDY, q: { ...Q, properties: { '1.0.0': [deeper] } } },
      });
      const { out } = await runCommand([...asked, 'v4.20'], { directory });
      expect(out).toContain('MISSING: q.v1.0.0 requires an operator with package: r');
    });
  });

  test('a priority chooses between two catalogs under OLM v1', async () => {
    const directory = catalogs({ 'v4.20': { p: CHAIN }, internal: { p: CHAIN } });
    const asked = ['next', '--package', 'p', '--olm', 'v1', 'v4.20', 'internal'];
    expect((await runCommand(asked, { directory })).exit).toBe(1);
    const { exit, out } = await runCommand([...asked, '--json', '--priority', 'internal=1'], { directory });
    expect(exit).toBe(0);
    expect(JSON.parse(out).paths[0].steps).toMatchObject([{ name: 'p.v1.2.0', catalog: 'internal' }]);
    expect((await runCommand([...asked, '--priority', 'other=1'], { directory })).err).toContain(
      'unknown catalog "other"',
    );
    expect((await runCommand([...asked, '--priority', 'internal'], { directory })).err).toContain(
      '--priority must be NAME=NUMBER',
    );
  });

  test('a catalog that opm serve refuses stops every upgrade under OLM v0', async () => {
    const broken: WrittenPackage = {
      versions: ['1.0.0'],
      channels: { a: [{ name: 'q.v1.0.0' }, { name: 'q.v9' }] },
    };
    const directory = catalogs({ 'v4.20': { p: CHAIN, q: broken } });
    const { out } = await runCommand(
      ['next', '--package', 'p', '--version', '1.1.0', '--olm', 'v0', 'v4.20'],
      {
        directory,
      },
    );
    expect(out).toContain('STUCK: opm serve rejects the catalog v4.20');
    const v1 = await runCommand(['next', '--package', 'p', '--version', '1.1.0', '--olm', 'v1', 'v4.20'], {
      directory,
    });
    expect(v1).toMatchObject({ exit: 0, out: expect.stringContaining('reaches the head of a channel') });
  });

  test.each([
    [
      'an invalid field of another package',
      'schema: olm.channel\npackage: q\nname: a\nentries: no list\n',
      0,
    ],
    [
      'an invalid field of its own package',
      'schema: olm.channel\npackage: p\nname: b\nentries: no list\n',
      1,
    ],
    ['a file that is no YAML', 'schema: [\n', 1],
  ])('OLM v1 looks only at its own package, and at whether files can be read: %s', async (_, text, exit) => {
    const directory = catalogs({ 'v4.20': { p: CHAIN } });
    writeFileSync(join(directory, 'v4.20', 'more.yaml'), text);
    const asked = ['next', '--package', 'p', '--version', '1.1.0', '--olm', 'v1', 'v4.20'];
    expect(await runCommand(asked, { directory })).toMatchObject({ exit });
  });

  test('an entry without a bundle is the reason why nothing follows', async () => {
    const cut: WrittenPackage = {
      versions: ['1.0.0'],
      channels: { a: [{ name: 'p.v1.0.0' }, { name: 'p.v1.1.0', replaces: 'p.v1.0.0' }] },
    };
    const directory = catalogs({ 'v4.20': { p: cut } });
    const asked = ['next', '--package', 'p', '--version', '1.0.0', '--olm', 'v1', 'v4.20'];
    const { exit, out } = await runCommand(asked, { directory });
    expect(out).toContain('STUCK: the entry that follows it, p.v1.1.0, has no bundle');
    expect(exit).toBe(1);
  });

  describe('what else is installed in the namespace', () => {
    const PB: WrittenPackage = {
      versions: ['1.0.0', '2.0.0'],
      channels: { a: [{ name: 'pb.v1.0.0' }, { name: 'pb.v2.0.0', replaces: 'pb.v1.0.0' }] },
    };
    const needing = (versionRange: string): WrittenPackage => ({
      versions: ['1.0.0'],
      channels: { a: [{ name: 'pa.v1.0.0' }] },
      properties: {
        '1.0.0': [{ type: 'olm.package.required', value: { packageName: 'pb', versionRange } }],
      },
    });
    const asked = ['next', '--package', 'pb', '--version', '1.0.0', '--olm', 'v0', 'v4.20'];

    test('may keep an operator that it requires from an upgrade', async () => {
      const directory = catalogs({ 'v4.20': { pa: needing('<2.0.0'), pb: PB } });
      const { exit, out } = await runCommand(asked, { directory });
      expect(exit).toBe(0);
      expect(out).toContain(
        '    UNLESS pa 1.0.0 (channel a) is installed in the same namespace: pa requires an operator with package: pb and with version in range: <2.0.0, so it stays at 1.0.0\n',
      );
      const { out: json } = await runCommand([...asked, '--json'], { directory });
      expect(JSON.parse(json).paths[0].unless).toEqual([
        {
          package: 'pa',
          channel: 'a',
          installed: ['1.0.0'],
          end: '1.0.0',
          bundle: 'pa',
          requires: 'with package: pb and with version in range: <2.0.0',
        },
      ]);
    });

    test('makes no difference where it allows the upgrade', async () => {
      const directory = catalogs({ 'v4.20': { pa: needing('<3.0.0'), pb: PB } });
      expect((await runCommand(asked, { directory })).out).not.toContain('UNLESS');
    });
  });

  test.each([
    [['--version', '1.0.0', 'v4.20'], '--package is required'],
    [['--package', 'pp', 'v4.20'], 'did you mean p'],
    [['--package', 'p', '--version', 'one', 'v4.20'], '"one" is not a valid version'],
    [['--package', 'p', '--olm', 'v2', 'v4.20'], '--olm must be v0 or v1'],
    [['--package', 'p', '--channel', 'a', '--channel', 'b', 'v4.20'], 'a subscription has one channel'],
    [['--package', 'p', 'nowhere'], 'nowhere: no such directory'],
  ])('refuses %j', async (words, expected) => {
    const directory = catalogs({ 'v4.20': { p: CHAIN } });
    const { exit, err } = await runCommand(['next', ...words], { directory });
    expect(err).toContain(expected);
    expect(exit).toBe(2);
  });
});

test('--fleet says how many clusters have the package and what becomes of them', async () => {
  const directory = catalogs({ 'v4.20': { p: { ...CHAIN, deprecated: [] } } });
  const rows = ['a,p,1.0.0', 'b,p,1.1.0', 'c,p,1.2.0', 'd,other,1.0.0'];
  writeFileSync(join(directory, 'fleet.csv'), `cluster,package,version\n${rows.join('\n')}\n`);
  const ran = (...words: string[]) =>
    runCommand(['next', '--package', 'p', '--version', '1.0.0', '--fleet', 'fleet.csv', ...words, 'v4.20'], {
      directory,
    });
  const { exit, out } = await ran();
  expect(out).toContain('\n  fleet: 2 of 3 clusters (67 %) move to 1.2.0; 1 is at a channel head\n');
  expect(exit).toBe(0);
  const { fleet } = JSON.parse((await ran('--json')).out);
  expect(fleet.packages[0].flows[0]).toMatchObject({
    installed: '1.0.0',
    next: '1.1.0',
    end: '1.2.0',
    clusters: 1,
  });
  writeFileSync(join(directory, 'fleet.csv'), 'cluster,package,version\na,p,0.9.0\nb,p,x\nc,p,1.2.0\n');
  expect(await ran()).toMatchObject({
    exit: 2,
    err: expect.stringContaining('fleet.csv:3: found version "x"'),
  });
});

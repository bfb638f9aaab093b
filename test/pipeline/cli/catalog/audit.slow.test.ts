import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { catalogsText } from '../../../../pipeline/report/catalogs-text.ts';
import { type WrittenPackage, written } from '../../../catalog/olm/universe.ts';
import { folder } from '../../../fakes/folder.ts';
import { makeRepository } from '../../../fakes/repository.ts';
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

const ONE: WrittenPackage = { versions: ['1.0.0'], channels: { stable: [{ name: 'q.v1.0.0' }] } };

test('what belongs to no package is said to be of the catalog', async () => {
  const directory = folder();
  mkdirSync(join(directory, 'empty'));
  writeFileSync(join(directory, 'template.yaml'), 'schema: olm.semver\n');
  const { out } = await runCommand(['audit', '.'], { directory });
  expect(out).toContain('WARNING the catalog: fbc/unknown-schema\n');
  const { exit, err } = await runCommand(['audit', 'empty'], { directory });
  expect([exit, err]).toEqual([0, 'empty contains no packages: check the path\n']);
});

function repository(catalogs: Readonly<Record<string, Readonly<Record<string, WrittenPackage>>>>): string {
  const directory = folder();
  for (const [name, packages] of Object.entries(catalogs)) {
    const path = join(directory, 'repo/catalogs', name, 'catalog.json');
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, written(packages));
  }
  return directory;
}

describe('portolan audit', () => {
  test('the worst first, over all catalogs of a checkout, each with its fix', async () => {
    const directory = repository({
      'v4.19': { p: TRAP, q: ONE },
      'v4.20': { p: TRAP, q: ONE },
      'v4.21': { p: TRAP },
    });
    const { exit, out } = await runCommand(['audit', 'repo'], { directory });
    const lines = out.split('\n');
    expect(lines.slice(0, 3)).toEqual([
      expect.stringMatching(/^3 catalogs, 11 bundles: errors in 1 package \(/),
      '',
      '  ERROR   graph/stranded-v0                  p',
    ]);
    const first = lines.indexOf('ERROR p: graph/stranded-v0');
    expect(lines.slice(first, first + 4)).toEqual([
      'ERROR p: graph/stranded-v0',
      '  under OLM v0 0.2.0 cannot reach the head, 0.3.0, of channel "fast" of package "p": p.v0.3.0 both replaces and skips the next bundle, p.v0.2.3, so OLM v0 never offers it',
      '    at repo/catalogs/v4.19/catalog.json:2:72 (v4.19 to v4.21)',
      '    fix: in the entry of p.v0.3.0 remove p.v0.2.3 from skips (it is already in replaces)',
    ]);
    const folder = await runCommand(['audit', 'repo/catalogs'], { directory });
    expect(folder).toMatchObject({ exit: 1, out });
    expect(out).toContain('WARNING q: graph/strands-on-platform-upgrade');
    expect(out).toContain('the package is missing\n    at repo/catalogs/v4.20/catalog.json');
    expect(out).toContain('(v4.20)');
    expect(out).toContain(
      'v4.21: 1 package, 3 bundles; OLM v0: 1 of 3 installable versions cannot reach a head;',
    );
    expect(exit).toBe(1);
  });

  test('as JSON, with what can be reached and what is pinned', async () => {
    const directory = repository({ 'v4.20': { q: ONE } });
    const ran = await runCommand(['audit', 'repo/catalogs/v4.20', '--format', 'json', '--olm', 'v0'], {
      directory,
    });
    const report = JSON.parse(ran.out);
    expect(report.catalogs).toEqual([
      {
        name: 'v4.20',
        packages: 1,
        bundles: 1,
        served: true,
        reach: [{ olm: 'v0', installations: 1, arrive: 1 }],
        images: { references: 1, pinned: 0 },
      },
    ]);
    expect(report.findings.map(({ rule }: { rule: string }) => rule)).toEqual([
      'image/undeclared',
      'image/unpinned',
    ]);
    expect(ran.exit).toBe(0);
  });

  test('a catalog that opm serve refuses says so', async () => {
    const broken = { ...ONE, channels: { stable: [{ name: 'q.v1.0.0' }, { name: 'q.v9' }] } };
    const directory = repository({ 'v4.20': { q: broken } });
    const { exit, out } = await runCommand(['audit', 'repo'], { directory });
    expect(out).toContain('v4.20: opm serve REFUSES it, so clusters get nothing from it; 1 package');
    expect(exit).toBe(1);
  });

  test('options that mean nothing', async () => {
    expect((await runCommand(['audit', '.', '--format', 'pdf'])).err).toContain('--format must be');
    expect((await runCommand(['audit', '.', '--olm', 'v3'])).err).toContain('--olm must be v0 or v1');
  });
});

describe('portolan audit of a whole cluster', () => {
  const subscription = (namespace: string, name: string, installed: string, version: string): object[] => [
    {
      apiVersion: 'operators.coreos.com/v1alpha1',
      kind: 'Subscription',
      metadata: { namespace, name: `my-${name}` },
      spec: { name, channel: name === 'p' ? 'fast' : 'stable', source: 'community' },
      status: { installedCSV: installed },
    },
    { kind: 'ClusterServiceVersion', metadata: { namespace, name: installed }, spec: { version } },
  ];

  async function told(items: readonly object[], ...more: readonly string[]): Promise<string[]> {
    const directory = repository({ 'v4.19': { p: TRAP, q: ONE }, 'v4.20': { p: TRAP } });
    writeFileSync(join(directory, 'cluster.json'), JSON.stringify({ kind: 'List', items }));
    const words = ['audit', 'repo', '--installed', 'cluster.json', ...more];
    const { out, err } = await runCommand(words, { directory });
    return (out + err).split('\n');
  }

  test('says who is stuck today, and who with the next version of the platform', async () => {
    const lines = await told([
      ...subscription('a', 'p', 'p.v0.2.0', '0.2.0'),
      ...subscription('b', 'q', 'q.v1.0.0', '1.0.0'),
      ...subscription('b', 'p', 'p.v0.2.3', '0.2.3'),
      ...subscription('c', 'r', 'r.v1.0.0', '1.0.0'),
    ]);
    expect(lines.slice(1, 5)).toEqual([
      'cluster: 3 operators checked against v4.19, then v4.20: 1 stuck now, 2 more after the platform upgrade',
      expect.stringMatching(
        /^ {2}STUCK NOW {2}a\/my-p of package p 0\.2\.0 \(OLM v0, channel fast\): p.v0.3.0 both replaces and skips the next bundle, p/,
      ),
      '  STUCK IN v4.20  b/my-q of package q 1.0.0 (OLM v0, channel stable): no operators found in package q',
      '  STUCK IN v4.20  b/my-p of package p 0.2.3 (OLM v0, channel fast): OLM v0 resolves nothing in its namespace because of my-q: no operators found in package q',
    ]);
    expect(lines).toContain(
      '  not checked, because no catalog that was given has them, or they are not installed yet: c/my-r (r)',
    );
  });

  test('knows ClusterExtensions, and that a range is where one wants to stay', async () => {
    const extension = (name: string, more: object): object => ({
      kind: 'ClusterExtension',
      metadata: { name },
      spec: { source: { sourceType: 'Catalog', catalog: { packageName: 'p', ...more } } },
      status: { install: { bundle: { name: 'p.v0.2.0', version: '0.2.0' } } },
    });
    const lines = await told([extension('free', {}), extension('kept', { version: '0.2.x' })]);
    expect(lines[1]).toBe(
      'cluster: 2 operators checked against v4.19, then v4.20: 0 stuck now, 0 more after the platform upgrade',
    );
    expect(lines).toContain('  2 operators can reach a channel head, now and after the platform upgrade');
  });

  test('needs a list of what OLM knows, and a catalog for the platform', async () => {
    expect(await told([])).toContain('portolan: cluster.json has no Subscription and no ClusterExtension');
    const known = subscription('a', 'q', 'q.v1.0.0', '1.0.0');
    expect(await told(known, '--platform', '4.12')).toContain(
      'portolan: no catalog is for platform version "4.12"',
    );
    expect(await told(known, '--platform', 'abc')).toContain(
      'portolan: --platform must be a version, for example 4.19, not "abc"',
    );
  });
});

describe('portolan audit of the past', () => {
  test('says which merge stranded whom, the latest first', async () => {
    const git = makeRepository();
    onTestFinished(git.remove);
    const file = (packages: Readonly<Record<string, WrittenPackage>>): Record<string, string | null> => ({
      'catalogs/v4.20/p/catalog.json': written({ p: packages['p'] ?? ONE }),
      'catalogs/v4.20/q/catalog.json': packages['q'] ? written({ q: packages['q'] }) : null,
    });
    const sound: WrittenPackage = { ...ONE, channels: { fast: [{ name: 'p.v0.2.0' }] }, versions: ['0.2.0'] };
    const first = git.commit({ 'README.md': 'a' });
    const added = git.commit(file({ p: sound, q: ONE }), { parents: [first] });
    const trapped = git.commit(file({ p: TRAP, q: ONE }), { parents: [added] });
    const removed = git.commit(file({ p: TRAP }), { parents: [trapped] });
    git.git('reset', '--hard', '--quiet', removed);
    const { out } = await runCommand(['audit', git.directory, '--history']);
    const lines = out.split('\n');
    expect(lines[0]).toBe('history, latest merge first:');
    expect(lines[1]).toContain(removed.slice(0, 12));
    expect(lines[2]).toBe('    graph/package-removed q: installed 1.0.0 (v4.20)');
    expect(lines[3]).toContain(trapped.slice(0, 12));
    expect(lines[4]).toContain('graph/strands-installed-v0 p, channel fast: installed 0.2.0 (v4.20)');
    expect(lines.slice(5, 7)).toEqual(['history: 2 of 3 merges stranded or broke installations', '']);
    expect(lines[7]).toContain('1 catalog, ');
    const { out: page } = await runCommand(['audit', git.directory, '--history', '--format', 'json']);
    expect(JSON.parse(page).history).toMatchObject({
      merges: 3,
      harmful: [{ commit: removed }, { commit: trapped }],
    });
  });

  test('of a shallow clone says that it is not all', async () => {
    const [git, clone] = [makeRepository(), makeRepository()];
    for (const { remove } of [git, clone]) onTestFinished(remove);
    const head = git.commit({ 'catalogs/v4.20/q/catalog.json': written({ q: ONE }) }, { branch: 'main' });
    git.commit({ 'README.md': 'a' }, { parents: [head], branch: 'main' });
    clone.git('fetch', '--quiet', '--depth=1', `file://${git.directory}`, 'main');
    clone.git('checkout', '--quiet', 'FETCH_HEAD');
    const { out } = await runCommand(['audit', clone.directory, '--history']);
    expect(out.split('\n').slice(1, 3)).toEqual([
      'history: 0 of 0 merges stranded or broke installations',
      '  not checked: earlier merges: the clone is shallow: git fetch --unshallow',
    ]);
  });

  test('options that mean nothing', async () => {
    expect((await runCommand(['audit', 'a', 'b', '--history'])).err).toContain(
      '--history requires exactly one argument',
    );
    expect((await runCommand(['audit', '.', '--history', '--since', '2026-02-30'])).err).toContain(
      '--since must be',
    );
    expect((await runCommand(['audit', '.', '--history', '--since', 'May'])).err).toContain(
      '--since must be',
    );
  });
});

test.each([
  [['a'], 'a'],
  [['b', 'a'], 'a, b'],
  [['a', 'b', 'c'], 'a to c'],
  [['a', 'b', 'c', 'e'], 'a to c, e'],
  // A catalog of a past merge that is gone.
  [['a', 'gone', 'b'], 'gone, a, b'],
])('%j are %s', (names, expected) => {
  expect(catalogsText(names, ['a', 'b', 'c', 'd', 'e'])).toBe(expected);
});

describe('portolan audit --fleet', () => {
  const FLEET =
    'cluster,platform,package,version,channel\nsecret-one,4.19,p,0.2.0,fast\nsecret-two,4.19,p,0.3.0,fast\nsecret-three,4.20,q,9.9.9,stable\n';

  function withFleet(fleet: string): string {
    const directory = repository({ 'v4.19': { p: TRAP, q: ONE }, 'v4.20': { p: TRAP, q: ONE } });
    writeFileSync(join(directory, 'fleet.csv'), fleet);
    return directory;
  }

  test('how many clusters are stuck, and how many are not known; no cluster is named', async () => {
    const directory = withFleet(FLEET);
    for (const format of ['text', 'json', 'html']) {
      const words = ['audit', 'repo', '--fleet', 'fleet.csv', '--format', format];
      const { exit, out } = await runCommand(words, { directory });
      expect(exit).toBe(1);
      expect(out).not.toContain('secret');
      if (format === 'json') expect(JSON.parse(out).fleet).toMatchObject({ clusters: 3, unread: 0 });
      else {
        expect(out).toContain(
          'fleet: 1 of 3 clusters (33 %) cannot be simulated; 1 has no upgrade path to a channel head, all on 4.19; 1 is at a channel head',
        );
        expect(out).toContain('  q: 1 of 1 cluster (100 %) cannot be simulated (unknown version: 1)');
      }
    }
  });

  test('a fleet in JSON may begin with a byte order mark, as Windows writes it', async () => {
    const row = { cluster: 'secret-one', platform: '4.19', package: 'p', version: '0.2.0', channel: 'fast' };
    const directory = withFleet(`\uFEFF${JSON.stringify({ kind: 'Fleet', rows: [row] })}`);
    const words = ['audit', 'repo', '--fleet', 'fleet.csv', '--format', 'json'];
    const { out } = await runCommand(words, { directory });
    expect(JSON.parse(out).fleet).toMatchObject({ clusters: 1, unread: 0 });
  });

  test('a fleet that can be read in part does not pass', async () => {
    const fleet = 'cluster,platform,package,version\na,4.19,q,1.0.0\nb,4.19,q,x\n';
    const directory = withFleet(fleet);
    writeFileSync(join(directory, 'good.csv'), fleet.replace('x', '1.0.0'));
    const audited = (file: string) =>
      runCommand(['audit', 'repo/catalogs/v4.20', '--platform', '4.20', '--fleet', file], { directory });
    const partly = await audited('fleet.csv');
    expect(partly.err).toBe(
      'fleet.csv:3: found version "x", expected a semantic version, for example 1.2.3\n',
    );
    expect(partly.out).toContain('(1 of them from rows that cannot be read)');
    expect((await audited('good.csv')).err).toBe('');
    const missing = await audited('none.csv');
    expect(missing).toMatchObject({ exit: 2, out: '' });
  });
});

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { catalogsText } from '../../../pipeline/report/catalogs-text.ts';
import { type WrittenPackage, written } from '../../catalog/graph/universe.ts';
import { folder } from '../../fakes/folder.ts';
import { runCommand } from '../../fakes/terminal.ts';

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
    expect(lines.slice(0, 6)).toEqual([
      expect.stringMatching(/^3 catalogs, 11 bundles: errors in 1 package \(/),
      '',
      'ERROR p: graph/stranded-v0',
      '  under OLM v0 0.2.0 cannot reach the head, 0.3.0, of channel "fast" of package "p": the way on is p.v0.2.3, but p.v0.3.0 both replaces and skips p.v0.2.3, so that is never offered',
      '    at repo/catalogs/v4.19/catalog.json:2:72 (v4.19 to v4.21)',
      '    fix: in the entry of p.v0.3.0 remove p.v0.2.3 from skips, since it is replaced',
    ]);
    expect(out).toContain('WARNING q: graph/strands-on-platform-upgrade');
    expect(out).toContain('the package is not there\n    at repo/catalogs/v4.19/catalog.json');
    expect(out).toContain('(v4.19, v4.20)');
    expect(out).toContain('v4.21: 1 package, 3 bundles; OLM v0: 1 of 3 installable versions reach no head;');
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
    expect(out).toContain('v4.20: REFUSED by opm serve: no cluster gets any of it; 1 package');
    expect(exit).toBe(1);
  });

  test('options that mean nothing', async () => {
    expect((await runCommand(['audit', '.', '--format', 'pdf'])).err).toContain('--format must be');
    expect((await runCommand(['audit', '.', '--olm', 'v3'])).err).toContain('--olm must be v0 or v1');
  });
});

test.each([
  [['a'], 'a'],
  [['b', 'a'], 'a, b'],
  [['a', 'b', 'c'], 'a to c'],
  [['a', 'b', 'c', 'e'], 'a to c, e'],
])('%j are %s', (names, expected) => {
  expect(catalogsText(names, ['a', 'b', 'c', 'd', 'e'])).toBe(expected);
});

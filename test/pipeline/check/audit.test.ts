import { expect, test } from 'vitest';
import { sourceOf } from '../../../catalog/source.ts';
import { parseVersion } from '../../../catalog/version/version.ts';
import { type ReadCatalog, readCatalogs } from '../../../pipeline/catalogs/read-catalogs.ts';
import { auditCatalogs, worldsOf } from '../../../pipeline/check/audit.ts';
import { prospectsOf } from '../../../pipeline/check/prospects.ts';
import { written } from '../../catalog/olm/universe.ts';

const ONE = written({ q: { versions: ['1.0.0'], channels: { stable: [{ name: 'q.v1.0.0' }] } } });

/** Catalogs by name, each with its files. */
function catalogs(files: Readonly<Record<string, Readonly<Record<string, string>>>>): Promise<ReadCatalog[]> {
  return readCatalogs(
    Object.entries(files).map(([name, own]) => ({ name, prefix: `${name}/`, source: sourceOf(own) })),
  );
}

const asked = { olm: ['v0', 'v1'], today: '2026-11-30' } as const;

test('catalogs of two stages do not follow each other', async () => {
  const names = ['v4.20', 'stage-v4.20', 'v4.21', 'stage-v4.21', 'other'];
  const read = await catalogs(Object.fromEntries(names.map((name) => [name, { 'catalog.json': ONE }])));
  const worlds = await worldsOf({ ...asked, catalogs: read });
  expect(worlds.map(({ name, following }) => [name, following.map((next) => next.name)])).toEqual([
    ['v4.20', ['v4.21']],
    ['stage-v4.20', ['stage-v4.21']],
    ['v4.21', []],
    ['stage-v4.21', []],
    ['other', []],
  ]);
});

test('a cluster has all catalogs of its version today, and all of the next version after the update', async () => {
  const names = ['redhat-v4.20', 'certified-v4.20', 'redhat-v4.21'];
  const read = await catalogs(Object.fromEntries(names.map((name) => [name, { 'catalog.json': ONE }])));
  const worlds = await worldsOf({ ...asked, catalogs: read });
  expect(prospectsOf([], { worlds, platform: undefined })).toMatchObject({
    today: ['redhat-v4.20', 'certified-v4.20'],
    next: ['redhat-v4.21'],
  });
  expect(() => prospectsOf([], { worlds, platform: '4.19' })).toThrow(
    expect.objectContaining({ hint: '--platform 4.20|4.21' }),
  );
});

test('after the update, an operator is in the catalog that follows its own, not in one of another stage', async () => {
  const later = written({ q: { versions: ['1.1.0'], channels: { stable: [{ name: 'q.v1.1.0' }] } } });
  const read = await catalogs({
    'v4.20': { 'catalog.json': ONE },
    'stage-v4.20': { 'catalog.json': ONE },
    'v4.21': { 'catalog.json': later },
    'stage-v4.21': { 'catalog.json': ONE },
  });
  const worlds = await worldsOf({ ...asked, catalogs: read });
  const inCatalog = (catalog: string) =>
    prospectsOf(
      [
        {
          olm: 'v0',
          namespace: 'a',
          name: 'my-q',
          package: 'q',
          channels: ['stable'],
          catalog,
          range: '',
          installed: { name: 'q.v1.0.0', version: parseVersion('1.0.0') },
        },
      ],
      { worlds, platform: '4.20' },
    ).prospects[0]?.next?.arrives;
  expect(inCatalog('stage-v4.20')).toBe(true);
  expect(inCatalog('v4.20')).toBe(false);
});

test('a defect that two files of a catalog have is reported for both, and once for all catalogs', async () => {
  const files = { 'a.yaml': 'schema: [\n', 'b.yaml': 'schema: [\n' };
  const { report } = await auditCatalogs({ ...asked, catalogs: await catalogs({ one: files, two: files }) });
  expect(report.findings.map(({ location, catalogs: names }) => [location.file, names])).toEqual([
    ['one/a.yaml', ['one', 'two']],
    ['one/b.yaml', ['one', 'two']],
  ]);
});

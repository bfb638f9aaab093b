import { describe, expect, test } from 'vitest';
import { load } from '../../../catalog/fbc/load.ts';
import { catalogOf } from '../../../catalog/fbc/model.ts';
import { type CatalogDiff, diffOf, touchedPackages } from '../../../catalog/olm/diff.ts';
import { changeOf } from '../../../catalog/olm/foresight/world.ts';
import { sourceOf } from '../../../catalog/source.ts';
import { bundleName, catalogFrom, PACKAGE, type WrittenPackage } from './universe.ts';

async function diff(
  before: WrittenPackage | undefined,
  after: WrittenPackage | undefined,
): Promise<CatalogDiff> {
  const options = async (written: WrittenPackage | undefined) =>
    written && { name: 'cat', catalog: await catalogFrom({ [PACKAGE]: written }) };
  return diffOf(await changeOf(await options(before), await options(after)));
}

const TRAP: WrittenPackage = {
  versions: ['0.2.3'],
  channels: {
    fast: [{ name: bundleName('0.2.3'), skips: ['0.1.1', '0.2.0'].map((one) => bundleName(one)) }],
  },
};

describe('diffOf', () => {
  test('says what was written, and what clusters will do otherwise', async () => {
    const before: WrittenPackage = {
      versions: ['0.1.1', '0.2.0', '0.2.3'],
      channels: {
        fast: [
          ...(TRAP.channels['fast'] ?? []),
          { name: bundleName('0.2.0') },
          { name: bundleName('0.1.1') },
        ],
      },
    };
    const after: WrittenPackage = {
      versions: [...before.versions, '0.3.0'],
      channels: {
        fast: [
          { name: bundleName('0.3.0'), replaces: bundleName('0.2.3'), skips: [bundleName('0.2.3')] },
          ...(before.channels['fast'] ?? []),
        ],
      },
    };
    const { packages } = await diff(before, after);
    expect(packages).toHaveLength(1);
    const [{ fates, graph, ...written } = { fates: [] }] = packages;
    expect(graph?.lanes.map(({ channel }) => channel)).toEqual(['fast']);
    expect(written).toEqual({
      package: 'p',
      kind: 'changed',
      channels: [
        {
          channel: 'fast',
          kind: 'changed',
          head: { before: 'p.v0.2.3', after: 'p.v0.3.0' },
          added: ['p.v0.3.0'],
          removed: [],
          edges: [
            { kind: 'added', to: 'p.v0.3.0', field: 'replaces', from: 'p.v0.2.3' },
            { kind: 'added', to: 'p.v0.3.0', field: 'skips', from: 'p.v0.2.3' },
          ],
        },
      ],
      bundles: [{ bundle: 'p.v0.3.0', kind: 'added', fields: [] }],
      deprecations: [],
    });
    expect(
      fates.map(({ channels, installed, v0, v1 }) => [channels, installed, short(v0), short(v1)]),
    ).toEqual([
      [['fast'], ['0.1.1', '0.2.0'], '0.2.3 > stays!', '0.2.3 > 0.2.3'],
      [['fast'], ['0.2.3'], 'stays > 0.3.0', 'stays > 0.3.0'],
    ]);
  });

  test('is empty where nothing differs, whatever the order of entries', async () => {
    const turned = { ...TRAP, versions: [...TRAP.versions].reverse() };
    expect(await diff(TRAP, turned)).toEqual({ packages: [] });
  });

  test('tells new and removed packages, channels and deprecations', async () => {
    const two: WrittenPackage = {
      ...TRAP,
      channels: { ...TRAP.channels, old: [{ name: bundleName('0.2.3') }] },
      deprecated: ['0.2.3'],
    };
    const [added] = (await diff(undefined, TRAP)).packages;
    expect([added?.kind, added?.channels[0]?.kind, added?.fates]).toEqual(['added', 'added', []]);
    const [removed] = (await diff(TRAP, undefined)).packages;
    expect([removed?.kind, removed?.fates[0]?.v0?.after.next]).toEqual(['removed', 'fails']);
    const [changed] = (await diff(TRAP, two)).packages;
    expect(changed?.channels).toMatchObject([{ channel: 'old', kind: 'added', added: ['p.v0.2.3'] }]);
    expect(changed?.deprecations).toEqual([{ kind: 'added', of: 'bundle p.v0.2.3', message: 'old' }]);
  });

  test('tells what of a bundle differs', async () => {
    const before = { ...TRAP, properties: { '0.2.3': [{ type: 'olm.label', value: { label: 'a' } }] } };
    const [changed] = (await diff(before, TRAP)).packages;
    expect(changed?.bundles).toEqual([{ bundle: 'p.v0.2.3', kind: 'changed', fields: ['properties'] }]);
  });

  test('does not name a field in which only the order of keys differs', async () => {
    const catalog = async (image: string, value: string) => {
      const file = [
        '{"schema":"olm.package","name":"p","defaultChannel":"a"}',
        '{"schema":"olm.channel","package":"p","name":"a","entries":[{"name":"p.v1.0.0"}]}',
        `{"schema":"olm.bundle","package":"p","name":"p.v1.0.0","image":"${image}","properties":[{"type":"olm.package","value":${value}}]}`,
      ].join('\n');
      return catalogOf((await load(sourceOf({ file }))).blobs);
    };
    const [before, after] = [
      { name: 'cat', catalog: await catalog('q.io/a/b:1', '{"packageName":"p","version":"1.0.0"}') },
      { name: 'cat', catalog: await catalog('q.io/a/b:2', '{"version":"1.0.0","packageName":"p"}') },
    ];
    const [changed] = diffOf(await changeOf(before, after)).packages;
    expect(changed?.bundles).toEqual([{ bundle: 'p.v1.0.0', kind: 'changed', fields: ['image'] }]);
  });
});

test('a change touches the packages of every blob in its files, not only those of its folders', async () => {
  const blobs = async (files: Readonly<Record<string, string>>) => (await load(sourceOf(files))).blobs;
  const before = await blobs({
    'p/catalog.json': '{"schema":"olm.package","name":"p"}',
    'q/catalog.json': '{"schema":"olm.package","name":"q"}',
  });
  const after = await blobs({
    'p/catalog.json':
      '{"schema":"olm.package","name":"p"} {"schema":"olm.channel","package":"r","name":"a"} {"schema":"example.com","package":"s"} {"schema":"example.com"}',
  });
  const touched = touchedPackages({ before: [before], after: [after] }, (file) => file === 'p/catalog.json');
  expect([...touched].sort()).toEqual(['p', 'r', 's']);
});

/** `next before > next after`, with ! where the upgrade path no longer ends at a head. */
function short(
  turn: { before: { next: string }; after: { next: string; arrives: boolean } } | undefined,
): string {
  return turn ? `${turn.before.next} > ${turn.after.next}${turn.after.arrives ? '' : '!'}` : '';
}

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { tryParseMinor } from '../../../../catalog/fbc/openshift.ts';
import { countFleet, type FleetReport, reachedClusters } from '../../../../catalog/olm/fleet/count.ts';
import {
  type Fleet,
  type FleetInstallation,
  type FleetRow,
  installationsOnce,
} from '../../../../catalog/olm/fleet/fleet.ts';
import {
  changeSimulation,
  OUTCOMES,
  type Simulation,
  stateSimulation,
} from '../../../../catalog/olm/fleet/outcome.ts';
import { changeOf, worldOf } from '../../../../catalog/olm/foresight/world.ts';
import { tryParseVersion } from '../../../../catalog/version/version.ts';
import { runs } from '../../../fakes/runs.ts';
import { anyPackage, bundleName, catalogFrom, VERSIONS, type WrittenPackage } from '../universe.ts';

const RUNS = runs(100);

const chain = (...versions: string[]): WrittenPackage => ({
  versions,
  channels: {
    a: versions.map((version, i) => ({
      name: bundleName(version),
      ...(i > 0 ? { replaces: bundleName(versions[i - 1] as string) } : {}),
    })),
  },
});

async function state(name: string, written: WrittenPackage) {
  const platform = tryParseMinor(name);
  return { name, catalog: await catalogFrom({ p: written }), ...(platform ? { platform } : {}) };
}

async function changing(name: string, before: WrittenPackage, after: WrittenPackage): Promise<Simulation> {
  return changeSimulation([await changeOf(await state(name, before), await state(name, after))]);
}

/** Package `p` from 1.0.0 to 1.1.0, and package `d` that requires some versions of it. */
async function withDependent(versionRange: string) {
  const required = { type: 'olm.package.required', value: { packageName: 'p', versionRange } };
  const d: WrittenPackage = {
    versions: ['1.0.0'],
    channels: { a: [{ name: 'd.v1.0.0' }] },
    properties: { '1.0.0': [required] },
  };
  return { name: 'v4.18', catalog: await catalogFrom({ p: chain('1.0.0', '1.1.0'), d }) };
}

const PLAIN: FleetInstallation = {
  platform: '4.18',
  olm: 'v0',
  package: 'p',
  channels: ['a'],
  range: '',
  catalog: '',
  name: '',
  version: '1.0.0',
  isManual: false,
};

const row = (cluster: string, its: Partial<FleetInstallation> = {}, count?: number): FleetRow => ({
  cluster,
  count,
  installation: { ...PLAIN, ...its },
});

const fleetOf = (...rows: FleetRow[]): Fleet => ({ rows, unread: 0 });

const numbers = ({ outcomes }: Pick<FleetReport, 'outcomes'>): Record<string, number> =>
  Object.fromEntries(outcomes.map(({ outcome, clusters }) => [outcome, clusters]));

describe('a change', () => {
  test('a new head moves clusters; those that approve upgrades are offered it', async () => {
    const simulate = await changing('v4.18', chain('1.0.0'), chain('1.0.0', '1.1.0'));
    const report = countFleet(
      fleetOf(
        row('one'),
        row('two', { isManual: true }),
        row('three', { olm: 'v1', channels: [], isManual: true }),
        row('four', { platform: '4.19' }),
      ),
      simulate,
    );
    expect(numbers(report)).toEqual({ moves: 2, offered: 1, 'not-reached': 1 });
    expect(report.packages[0]?.flows).toContainEqual({
      platform: '4.18',
      outcome: 'moves',
      installed: '1.0.0',
      next: '1.1.0',
      end: '1.1.0',
      clusters: 2,
    });
    expect(reachedClusters(report)).toBe(3);
  });

  test('clusters whose upgrade path goes are stranded; those at the head stay', async () => {
    const after = { versions: ['1.0.0', '1.1.0'], channels: { a: [{ name: bundleName('1.1.0') }] } };
    const simulate = await changing('v4.18', chain('1.0.0', '1.1.0'), after);
    const report = countFleet(
      fleetOf(row('prod', {}, 300), row('prod', { version: '1.1.0' }, 40), row('edge', {}, 12)),
      simulate,
    );
    expect(numbers(report)).toEqual({ strands: 312, unchanged: 40 });
    expect(report.outcomes[0]?.platforms).toEqual([{ platform: '4.18', clusters: 312 }]);
    expect(report.clusters).toBe(352);
  });

  test('of several catalogs of a platform, the one that does most to a cluster counts, unless its row names one', async () => {
    const harmless = [chain('1.0.0', '1.1.0'), chain('1.0.0', '1.1.0')] as const;
    const after = { versions: ['1.0.0', '1.1.0'], channels: { a: [{ name: bundleName('1.1.0') }] } };
    const platform = tryParseMinor('4.18');
    if (!platform) throw new Error('a version');
    const made = async (name: string, [was, is]: readonly [WrittenPackage, WrittenPackage]) =>
      changeOf({ ...(await state(name, was)), platform }, { ...(await state(name, is)), platform });
    const first = await made('a-4.18', harmless);
    const second = await made('b-4.18', [harmless[0], after]);
    for (const changes of [
      [first, second],
      [second, first],
    ]) {
      const simulate = changeSimulation(changes);
      const rows = [row('one'), row('two', { catalog: 'a-4.18' }), row('three', { catalog: 'community' })];
      expect(numbers(countFleet(fleetOf(...rows), simulate))).toEqual({ strands: 2, unchanged: 1 });
      // Only one of them has the package of a cluster.
      const without = await made('0-4.18', [
        { versions: [], channels: {} },
        { versions: [], channels: {} },
      ]);
      const own = countFleet(fleetOf(row('one')), changeSimulation([without, first]));
      expect(numbers(own)).toEqual({ unchanged: 1 });
    }
  });

  test('a platform without a catalog is elsewhere, unless it may be a longer one without its zero', async () => {
    const platform = tryParseMinor('4.20');
    if (!platform) throw new Error('a version');
    const made = { ...(await state('v4.20', chain('1.0.0'))), platform };
    const change = await changeOf(made, { ...(await state('v4.20', chain('1.0.0', '1.1.0'))), platform });
    const simulate = changeSimulation([change], [platform]);
    const outcomes = ['4.20', '4.19', '4.2', 'OpenShift 4.20'].map((of) => {
      const { outcome, notKnown } = simulate({ ...PLAIN, platform: of });
      return notKnown ?? outcome;
    });
    expect(outcomes).toEqual(['moves', 'not-reached', 'platform', 'platform']);
  });

  test('a withdrawn head ends the upgrades that it gave, and one that comes back recovers its clusters', async () => {
    const [one, two] = [chain('1.0.0'), chain('1.0.0', '1.1.0')];
    expect(numbers(countFleet(fleetOf(row('x')), await changing('v4.18', two, one)))).toEqual({ stops: 1 });
    const cut = { versions: ['1.0.0', '1.1.0'], channels: { a: [{ name: bundleName('1.1.0') }] } };
    expect(numbers(countFleet(fleetOf(row('x')), await changing('v4.18', cut, one)))).toEqual({
      recovers: 1,
    });
    expect(numbers(countFleet(fleetOf(row('x')), await changing('v4.18', cut, cut)))).toEqual({ stuck: 1 });
  });

  test.each([
    ['version', { version: '7.7.7' }],
    ['version', { version: '', name: 'p.v7.7.7' }],
    ['channel', { channels: ['typo'] }],
    ['package', { package: 'other' }],
    ['platform', { platform: '' }],
  ] as const)('an unknown %s is counted as not known, and as reached', async (what, its) => {
    const simulate = await changing('v4.18', chain('1.0.0'), chain('1.0.0', '1.1.0'));
    const report = countFleet(fleetOf(row('x', its)), simulate);
    expect(numbers(report)).toEqual({ 'not-known': 1 });
    expect(report.packages[0]?.flows[0]?.notKnown).toBe(what);
    expect(reachedClusters(report)).toBe(1);
  });

  test('a package is named only if some catalog has it, also where the catalog of the cluster lacks it', async () => {
    const simulate = await changing('v4.18', chain('1.0.0'), chain('1.0.0', '1.1.0'));
    const fleet = fleetOf(row('x', { package: 'other' }));
    const names = (published?: ReadonlySet<string>) =>
      countFleet(fleet, simulate, undefined, published).packages.map((one) => one.package);
    expect(names()).toEqual(['']);
    expect(names(new Set(['other']))).toEqual(['other']);
  });

  test('a version that the catalog lacks is known where it was published or an entry upgrades it', async () => {
    const after = await state('v4.18', chain('1.0.0', '1.1.0'));
    const published = new Map([
      ['p', [{ channel: 'a', name: 'p.v0.1.0', version: undefined, last: '2026-01-01' }]],
    ]);
    const change = await changeOf({ ...(await state('v4.18', chain('1.0.0'))), published }, after);
    const simulate = changeSimulation([change]);
    expect(simulate({ ...PLAIN, version: '', name: 'p.v0.1.0' }).outcome).toBe('stuck');
    const skipping = {
      versions: ['2.0.0'],
      channels: { a: [{ name: bundleName('2.0.0'), skips: ['p.v0.2.0'] }] },
    };
    const other = await changing('v4.18', chain('1.0.0'), skipping);
    expect(other({ ...PLAIN, version: '0.2.0' })).toMatchObject({ installed: '0.2.0', end: '2.0.0' });
  });

  test('a published version without a name is that of its channel, or of the name that it most likely had', async () => {
    const version = tryParseVersion('0.1.0');
    const published = new Map([
      [
        'p',
        [
          { channel: 'old', name: 'p-old.v0.1.0', version },
          { channel: 'a', name: 'p-new.v0.1.0', version },
          { channel: 'a', name: 'p.v0.2.0', version: undefined },
        ],
      ],
    ]);
    const after = {
      versions: ['1.0.0'],
      channels: { a: [{ name: bundleName('1.0.0'), skips: ['p-new.v0.1.0'] }] },
    };
    const before = await state('v4.18', chain('1.0.0'));
    const change = await changeOf({ ...before, published }, await state('v4.18', after));
    const simulate = changeSimulation([change]);
    expect(simulate({ ...PLAIN, version: '0.1.0' })).toMatchObject({ end: '1.0.0' });
    expect(simulate({ ...PLAIN, version: '0.2.0' }).outcome).toBe('stuck');
  });

  test('a version that was never released is not known, although the catalog has it', async () => {
    const before = await state('v4.18', chain('1.0.0'));
    const published = new Map([['p', [{ channel: 'a', name: 'p.v0.9.0', version: undefined }]]]);
    const change = await changeOf({ ...before, published, publishedIsAll: true }, before);
    expect(changeSimulation([change])(PLAIN).notKnown).toBe('version');
    expect(changeSimulation([await changeOf(before, before)])(PLAIN).outcome).toBe('unchanged');
  });
});

describe('catalogs as they are', () => {
  test('clusters are at the head, upgrade, or are stuck, now or after the next version of the platform', async () => {
    const next = await worldOf(await state('v4.19', chain('1.1.0')));
    const now = await worldOf({
      ...(await state('v4.18', chain('1.0.0', '1.1.0', '1.2.0'))),
      following: [next],
    });
    const simulate = stateSimulation([now, next]);
    const at = (its: Partial<FleetInstallation>) => simulate({ ...PLAIN, ...its }).outcome;
    expect(at({ version: '1.1.0', platform: '4.19' })).toBe('head');
    expect(at({ version: '1.1.0' })).toBe('upgrades');
    expect(at({ version: '1.0.0' })).toBe('stuck-next');
    expect(at({ version: '1.1.0', isManual: true })).toBe('offered');
    expect(at({ platform: '4.12' })).toBe('not-known');
    expect(at({ platform: '' })).toBe('not-known');
    expect(stateSimulation([now])({ ...PLAIN, platform: '' }).outcome).not.toBe('not-known');
  });
});

describe('counting', () => {
  const fixed: Simulation = ({ version, package: of }) => ({
    outcome: OUTCOMES[Number(version) % OUTCOMES.length] ?? 'unchanged',
    installed: version,
    next: '',
    end: of,
  });
  const installation = fc
    .record({
      of: fc.constantFrom('p', 'q', 'r'),
      version: fc.nat(11),
      platform: fc.constantFrom('', '4.18', '4.19'),
    })
    .map(({ of, version, platform }) => ({ ...PLAIN, package: of, version: String(version), platform }));
  const once = installationsOnce();
  const rows = (count: fc.Arbitrary<number | undefined>): fc.Arbitrary<FleetRow[]> =>
    fc.array(
      fc.record({
        cluster: fc.constantFrom('', 'a', 'b', 'c', '__proto__'),
        count,
        installation: installation.map(once),
      }),
      { maxLength: 30 },
    );
  const summed = (all: readonly { readonly clusters: number }[]): number =>
    all.reduce((sum, { clusters }) => sum + clusters, 0);

  test('every cluster has exactly one outcome, the first of those of its packages', () => {
    fc.assert(
      fc.property(rows(fc.constant(undefined)), (all) => {
        const report = countFleet({ rows: all, unread: 0 }, fixed);
        const byCluster = new Map<string, number>();
        for (const { cluster, installation: its } of all) {
          const rank = Number(its.version);
          byCluster.set(cluster, Math.min(rank, byCluster.get(cluster) ?? rank));
        }
        const expected: Record<string, number> = {};
        for (const rank of byCluster.values()) {
          const name = OUTCOMES[rank] as string;
          expected[name] = (expected[name] ?? 0) + 1;
        }
        expect(numbers(report)).toEqual(expected);
        expect(report.clusters).toBe(byCluster.size);
      }),
      RUNS,
    );
  });

  test('the numbers add up, for clusters and groups, in all and for each package and platform', () => {
    const count = fc.oneof(fc.constant(undefined), fc.nat(500));
    fc.assert(
      fc.property(rows(count), fc.nat(9), (all, unread) => {
        const report = countFleet({ rows: all, unread }, fixed);
        expect(summed(report.outcomes)).toBe(report.clusters);
        for (const part of report.packages) {
          expect(summed(part.outcomes)).toBe(part.clusters);
          expect(summed(part.flows)).toBe(part.clusters);
          for (const one of part.outcomes) expect(summed(one.platforms)).toBe(one.clusters);
          expect(part.clusters).toBeLessThanOrEqual(report.clusters);
        }
        for (const one of report.outcomes) expect(summed(one.platforms)).toBe(one.clusters);
        const groups = all.filter((one) => one.count !== undefined && one.installation.package === 'p');
        const named = all.filter((one) => one.count === undefined && one.installation.package === 'p');
        const size = groups.reduce((sum, one) => sum + (one.count ?? 0), 0);
        const p = report.packages.find((one) => one.package === 'p')?.clusters ?? 0;
        expect(p).toBe(size + new Set(named.map(({ cluster }) => cluster)).size);
      }),
      RUNS,
    );
  });

  test('the order of rows does not matter', () => {
    const shuffled = rows(fc.oneof(fc.constant(undefined), fc.nat(9))).chain((all) =>
      fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
    );
    fc.assert(
      fc.property(shuffled, ([all, other]) => {
        const [one, two] = [all, other].map((its) => countFleet({ rows: its, unread: 0 }, fixed));
        expect(one?.outcomes.map(({ outcome, clusters }) => [outcome, clusters])).toEqual(
          two?.outcomes.map(({ outcome, clusters }) => [outcome, clusters]),
        );
      }),
      RUNS,
    );
  });

  test('simulated changes keep the numbers, whatever the graphs', async () => {
    const versions = fc.constantFrom(...VERSIONS, '7.7.7', '');
    const fleet = fc.array(
      fc.record({
        cluster: fc.constantFrom('a', 'b', 'c', 'd'),
        count: fc.oneof(fc.constant(undefined), fc.nat(9)),
        installation: fc.record({
          version: versions,
          olm: fc.constantFrom('v0' as const, 'v1' as const),
          channels: fc.constantFrom(['a'], ['b'], []),
          range: fc.constantFrom('', '<1.1.0'),
          isManual: fc.boolean(),
          platform: fc.constantFrom('4.18', '4.19', ''),
        }),
      }),
      { maxLength: 12 },
    );
    await fc.assert(
      fc.asyncProperty(anyPackage, anyPackage, fleet, async (before, after, its) => {
        const all = its.map((one) => ({ ...one, installation: { ...PLAIN, ...one.installation } }));
        const report = countFleet({ rows: all, unread: 0 }, await changing('v4.18', before, after));
        expect(summed(report.outcomes)).toBe(report.clusters);
      }),
      RUNS,
    );
  });

  test('rows that cannot be read are clusters that are not known', () => {
    const report = countFleet({ rows: [row('a', { version: '10' })], unread: 3 }, fixed);
    expect(numbers(report)).toEqual({ 'not-known': 3, head: 1 });
    expect(reachedClusters(report)).toBe(3);
  });
});

describe('what a cluster has beside an installation', () => {
  const rows = [row('with'), row('with', { package: 'd' }), row('without')];

  test('keeps it from an upgrade where that requires another version', async () => {
    const world = await worldOf(await withDependent('<1.1.0'));
    const report = countFleet(fleetOf(...rows), stateSimulation([world]), new Set(['p']));
    expect(numbers(report)).toEqual({ stuck: 1, upgrades: 1 });
  });

  test('makes no difference where it allows the upgrade', async () => {
    const world = await worldOf(await withDependent('<2.0.0'));
    const report = countFleet(fleetOf(...rows), stateSimulation([world]), new Set(['p']));
    expect(numbers(report)).toEqual({ upgrades: 2 });
  });

  test('counts in a change too', async () => {
    const before = { ...(await withDependent('<1.1.0')), catalog: await catalogFrom({ p: chain('1.0.0') }) };
    const change = await changeOf(before, await withDependent('<1.1.0'));
    const report = countFleet(
      fleetOf(row('with', { package: 'd' }), row('with')),
      changeSimulation([change]),
      new Set(['p']),
    );
    // The dependent was not in the catalog before, so no cluster is known to have it.
    expect(numbers(report)).toEqual({ moves: 1 });
    const same = await changeOf(await withDependent('<1.1.0'), await withDependent('<1.1.0'));
    const later = countFleet(
      fleetOf(row('with', { package: 'd' }), row('with')),
      changeSimulation([same]),
      new Set(['p']),
    );
    expect(numbers(later)).toEqual({ stuck: 1 });
  });
});

describe('catalogs as they are, for several packages or catalogs', () => {
  const platform = tryParseMinor('4.18');
  if (!platform) throw new Error('a version');
  const gap: WrittenPackage = {
    versions: ['1.0.0', '1.1.0'],
    channels: { a: [{ name: bundleName('1.1.0') }] },
  };

  test('what is stuck counts before what waits for an approval', async () => {
    const q: WrittenPackage = {
      versions: ['1.0.0', '1.1.0'],
      channels: { a: [{ name: 'q.v1.1.0', replaces: 'q.v1.0.0' }, { name: 'q.v1.0.0' }] },
    };
    const catalog = await catalogFrom({ p: gap, q });
    const simulate = stateSimulation([await worldOf({ name: 'v4.18', catalog, platform })]);
    const rows = [row('one', { isManual: true }), row('one', { isManual: true, package: 'q' })];
    expect(numbers(countFleet(fleetOf(...rows), simulate))).toEqual({ stuck: 1 });
    expect(numbers(countFleet(fleetOf(...rows.slice(1)), simulate))).toEqual({ offered: 1 });
  });

  test('of several catalogs of a platform, the one that serves a cluster worst counts, unless its row names one', async () => {
    const made = async (name: string, written: WrittenPackage) =>
      worldOf({ ...(await state(name, written)), platform });
    const [sound, broken] = [await made('a', chain('1.0.0', '1.1.0')), await made('b', gap)];
    const elsewhere = await made('0', {
      versions: ['1.0.0'],
      channels: { z: [{ name: bundleName('1.0.0') }] },
    });
    for (const worlds of [
      [elsewhere, sound, broken],
      [broken, sound, elsewhere],
    ]) {
      const simulate = stateSimulation(worlds);
      expect(simulate(PLAIN).outcome).toBe('stuck');
      expect(simulate({ ...PLAIN, catalog: 'a' }).outcome).toBe('upgrades');
      // All of them are for one platform, so that is the cluster's.
      expect(simulate({ ...PLAIN, platform: '' }).outcome).toBe('stuck');
      expect(simulate({ ...PLAIN, catalog: '0' })).toMatchObject({ notKnown: 'channel' });
    }
  });
});

test('the clusters of a group are not counted twice for two packages that no catalog has', async () => {
  const simulate = stateSimulation([await worldOf(await state('v4.18', chain('1.0.0')))]);
  const rows = [row('edge', { package: 'secret' }, 5), row('edge', { package: 'hidden' }, 3)];
  const report = countFleet(fleetOf(...rows), simulate);
  expect(report).toMatchObject({ total: 5, clusters: 5, packages: [{ package: '', clusters: 5 }] });
});

test('a version that the catalog dropped and nothing upgrades is stuck, as in `portolan next`', async () => {
  const world = await worldOf(await state('v4.18', chain('1.0.0', '1.1.0')));
  const simulate = stateSimulation([world]);
  expect(simulate({ ...PLAIN, version: '0.9.0' })).toMatchObject({ outcome: 'stuck', installed: '' });
  expect(simulate({ ...PLAIN, version: '', name: 'p.v0.9.0' })).toMatchObject({ notKnown: 'version' });
  expect(simulate({ ...PLAIN, version: '1.2.0' })).toMatchObject({ notKnown: 'version' });
  const all = await worldOf({
    ...(await state('v4.18', chain('1.0.0', '1.1.0'))),
    published: new Map([['p', [{ channel: 'a', name: 'p.v1.0.0', version: undefined }]]]),
    publishedIsAll: true,
  });
  expect(stateSimulation([all])({ ...PLAIN, version: '0.9.0' })).toMatchObject({ notKnown: 'version' });
});

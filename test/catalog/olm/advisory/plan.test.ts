import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hasChain } from '../../../../catalog/fbc/channel.ts';
import type { Advisory } from '../../../../catalog/olm/advisory/advisory.ts';
import { packageAfter } from '../../../../catalog/olm/advisory/package-edit.ts';
import { type AdvisoryPlan, planOf } from '../../../../catalog/olm/advisory/plan.ts';
import { type PublishedBundle, type World, worldOf } from '../../../../catalog/olm/foresight/world.ts';
import { parseVersion } from '../../../../catalog/version/version.ts';
import { runs } from '../../../fakes/runs.ts';
import {
  anyPackage,
  bundleName,
  catalogFrom,
  PACKAGE,
  soundPackage,
  type WrittenEntry,
  type WrittenPackage,
} from '../universe.ts';

async function world(
  written: WrittenPackage,
  published: readonly (readonly [string, string])[] = [],
): Promise<World> {
  const gone = published.map(
    ([channel, version]): PublishedBundle => ({
      channel,
      name: bundleName(version),
      version: parseVersion(version),
    }),
  );
  return worldOf({
    name: 'cat',
    catalog: await catalogFrom({ [PACKAGE]: written }),
    published: new Map([[PACKAGE, gone]]),
  });
}

function advisory(action: Advisory['action'], versions: string, more: Partial<Advisory> = {}): Advisory {
  return {
    id: 'A-1',
    package: PACKAGE,
    versions: [versions],
    reason: { kind: 'withdrawn' },
    action,
    message: 'do not use it',
    allowDowngrade: false,
    withoutUpgradePath: [],
    ...more,
  };
}

/** Entries in which each version replaces the one before. */
function chain(...versions: string[]): WrittenEntry[] {
  return versions
    .map((version, i): WrittenEntry => {
      const before = versions[i - 1];
      return { name: bundleName(version), ...(before ? { replaces: bundleName(before) } : {}) };
    })
    .reverse();
}

/** The entries of a channel after a plan, in short. */
function written({ edit }: AdvisoryPlan, channel = 'a'): string[] | undefined {
  return edit.channels
    .get(channel)
    ?.map(({ name, replaces, skips, skipRange }) =>
      [
        name,
        ...(replaces ? [`replaces ${replaces}`] : []),
        ...(skips.length > 0 ? [`skips ${skips.join(' ')}`] : []),
        ...(skipRange ? [`range ${skipRange}`] : []),
      ].join(', '),
    );
}

describe('yank', () => {
  test('a version in the middle: what follows it follows what it replaced, and skips it', async () => {
    const here = await world({
      versions: ['1.0.0', '1.1.0', '1.2.0'],
      channels: { a: chain('1.0.0', '1.1.0', '1.2.0') },
    });
    const plan = planOf(here, advisory('yank', '1.1.0'));
    expect(written(plan)).toEqual(['p.v1.2.0, replaces p.v1.0.0, skips p.v1.1.0', 'p.v1.0.0']);
    expect([...plan.edit.bundles]).toEqual(['p.v1.1.0']);
    expect(plan.withoutUpgradePath).toEqual([]);
  });

  test('the lowest version: the entry above it may name it, as its clusters upgrade from it', async () => {
    const here = await world({ versions: ['1.0.0', '1.1.0'], channels: { a: chain('1.0.0', '1.1.0') } });
    const plan = planOf(here, advisory('yank', '1.0.0'));
    expect(written(plan)).toEqual(['p.v1.1.0, replaces p.v1.0.0']);
    expect(plan.withoutUpgradePath).toEqual([]);
  });

  test('the head: it goes, and clusters that have it are listed until a newer version follows it', async () => {
    const versions = ['1.0.0', '1.1.0'];
    const plan = planOf(
      await world({ versions, channels: { a: chain(...versions) } }),
      advisory('yank', '1.1.0'),
    );
    expect(written(plan)).toEqual(['p.v1.0.0']);
    expect(plan.withoutUpgradePath).toEqual(['p.v1.1.0']);

    const next = await world({ versions: ['1.0.0', '1.2.0'], channels: { a: chain('1.0.0', '1.2.0') } }, [
      ['a', '1.1.0'],
    ]);
    const repaired = planOf(next, advisory('yank', '1.1.0'));
    expect(written(repaired)).toEqual(['p.v1.2.0, replaces p.v1.0.0, skips p.v1.1.0', 'p.v1.0.0']);
    expect(repaired.withoutUpgradePath).toEqual([]);
  });

  test('the head, where a downgrade is allowed: clusters that have it go down', async () => {
    const versions = ['1.0.0', '1.1.0'];
    const here = await world({ versions, channels: { a: chain(...versions) } });
    const plan = planOf(here, advisory('yank', '1.1.0', { allowDowngrade: true }));
    expect(written(plan)).toEqual(['p.v1.0.0, skips p.v1.1.0']);
    expect(plan.withoutUpgradePath).toEqual([]);
  });

  test('the only version: the package goes', async () => {
    const here = await world({ versions: ['1.0.0'], channels: { a: chain('1.0.0') } });
    const plan = planOf(here, advisory('yank', '1.0.0'));
    expect(packageAfter(here.catalog.packages.get(PACKAGE) as never, plan.edit)).toBeUndefined();
    expect(plan.withoutUpgradePath).toEqual(['p.v1.0.0']);
  });

  test('the new default channel is one for production, though others have higher versions', async () => {
    const written = {
      versions: ['1.0.0', '1.1.0', '2.0.0'],
      channels: { a: chain('1.0.0'), b: chain('1.1.0'), candidate: chain('2.0.0') },
    };
    const plan = planOf(await world(written), advisory('yank', '1.0.0'));
    expect(plan.edit.defaultChannel).toBe('b');
  });

  test('the head of the default channel that has no other entry: another channel becomes the default', async () => {
    const here = await world({
      versions: ['1.0.0', '2.0.0'],
      channels: { a: chain('2.0.0'), b: chain('1.0.0') },
    });
    const plan = planOf(here, advisory('yank', '2.0.0'));
    expect(plan.edit.defaultChannel).toBe('b');
    expect(written(plan)).toEqual([]);
  });

  test('what skipped versions in the middle passes its skips on, where clusters need them', async () => {
    const here = await world(
      {
        versions: ['1.0.0', '1.1.0', '1.2.0'],
        channels: {
          a: [
            { name: 'p.v1.2.0', replaces: 'p.v1.1.0' },
            { name: 'p.v1.1.0', replaces: 'p.v1.0.0', skips: ['p.v1.0.5'] },
            { name: 'p.v1.0.0' },
          ],
        },
      },
      [['a', '1.0.5']],
    );
    const plan = planOf(here, advisory('yank', '1.1.0'));
    expect(written(plan)?.[0]).toBe('p.v1.2.0, replaces p.v1.0.0, skips p.v1.1.0 p.v1.0.5');
    expect(plan.withoutUpgradePath).toEqual([]);
  });

  test('a version of several channels goes from each of them', async () => {
    const here = await world({
      versions: ['1.0.0', '1.1.0', '1.2.0'],
      channels: { a: chain('1.0.0', '1.1.0', '1.2.0'), b: chain('1.0.0', '1.1.0') },
    });
    const plan = planOf(here, advisory('yank', '1.1.0'));
    expect(written(plan)).toEqual(['p.v1.2.0, replaces p.v1.0.0, skips p.v1.1.0', 'p.v1.0.0']);
    expect(written(plan, 'b')).toEqual(['p.v1.0.0']);
    expect(plan.proof?.strandedAffected.map(({ olm, channel }) => `${olm} ${channel}`)).toEqual([
      'v0 b',
      'v1 b',
    ]);
  });

  test('a package that never had the versions is not affected', async () => {
    const here = await world({ versions: ['1.0.0'], channels: { a: chain('1.0.0') } });
    expect(planOf(here, advisory('yank', '>=2.0.0')).kind).toBe('not affected');
    expect(planOf(here, advisory('yank', '1.0.0', { package: 'other' })).kind).toBe('not affected');
  });
});

test('deprecate: a message for each bundle; OLM v1 gets an edge past a deprecated one', async () => {
  const versions = ['1.0.0', '1.1.0', '1.2.0'];
  const here = await world({ versions, channels: { a: chain(...versions) } });
  const plan = planOf(here, advisory('deprecate', '1.1.0'));
  expect([...plan.edit.deprecations]).toEqual([['p.v1.1.0', 'do not use it']]);
  expect(written(plan)?.[0]).toBe('p.v1.2.0, replaces p.v1.1.0, range =1.0.0');
  const oldest = planOf(here, advisory('deprecate', '1.0.0'));
  expect([...oldest.edit.channels]).toEqual([]);
});

test('redirect: the versions get an edge to the wanted one', async () => {
  const versions = ['1.0.0', '1.1.0', '1.2.0', '1.3.0'];
  const here = await world({ versions, channels: { a: chain(...versions) } });
  const plan = planOf(here, advisory('redirect', '1.0.0', { to: { version: '1.2.0' } }));
  expect(written(plan)).toEqual([
    'p.v1.3.0, replaces p.v1.2.0',
    'p.v1.2.0, replaces p.v1.1.0, range =1.0.0',
    'p.v1.1.0, replaces p.v1.0.0',
    'p.v1.0.0',
  ]);
  expect(plan.withoutUpgradePath).toEqual([]);
});

test('block-upgrade: the versions stay for those who have them, and nobody is led to them', async () => {
  const versions = ['1.0.0', '1.1.0', '1.2.0'];
  const here = await world({ versions, channels: { a: chain(...versions) } });
  const plan = planOf(here, advisory('block-upgrade', '1.1.0'));
  expect(written(plan)).toEqual(['p.v1.2.0, replaces p.v1.0.0, skips p.v1.1.0', 'p.v1.1.0', 'p.v1.0.0']);
  expect(plan.edit.bundles.size).toBe(0);
  expect(plan.withoutUpgradePath).toEqual([]);
});

describe('a channel that opm refuses gets the edges of suggest-graph where single entries do not help', () => {
  const versions = ['1.0.0', '1.1.0', '1.2.0', '1.3.0'];
  const LINE = [
    'p.v1.3.0, replaces p.v1.2.0, range =1.1.0',
    'p.v1.2.0, replaces p.v1.1.0',
    'p.v1.1.0, replaces p.v1.0.0',
    'p.v1.0.0',
  ];
  const redirected = advisory('redirect', '1.1.0', { to: { version: '1.3.0' } });
  const planFor = async (a: readonly WrittenEntry[], one = redirected): Promise<AdvisoryPlan> =>
    planOf(await world({ versions: a.map(({ name }) => name.slice(3)).sort(), channels: { a } }), one);
  const entry = (version: string, replaces?: string): WrittenEntry => ({
    name: bundleName(version),
    ...(replaces ? { replaces: bundleName(replaces) } : {}),
  });

  test('entries that replace each other in a circle', async () => {
    const circle = [entry('1.3.0', '1.2.0'), entry('1.2.0', '1.1.0'), entry('1.1.0', '1.0.0')];
    const plan = await planFor([...circle, entry('1.0.0', '1.2.0')]);
    expect(written(plan)).toEqual(LINE);
    expect(plan).toMatchObject({ kind: 'edit', channelsWithNewGraphs: ['a'], withoutUpgradePath: [] });
  });

  test('several heads', async () => {
    const plan = await planFor([
      entry('1.3.0', '1.1.0'),
      entry('1.2.0', '1.0.0'),
      entry('1.1.0', '1.0.0'),
      entry('1.0.0'),
    ]);
    expect(written(plan)).toEqual(LINE);
    expect(plan).toMatchObject({ kind: 'edit', channelsWithNewGraphs: ['a'], withoutUpgradePath: [] });
  });

  test('a head that no entry leads to', async () => {
    const plan = await planFor([
      entry('1.3.0'),
      entry('1.2.0', '1.1.0'),
      entry('1.1.0', '1.2.0'),
      entry('1.0.0'),
    ]);
    expect(written(plan)).toEqual(LINE);
    expect(plan).toMatchObject({ kind: 'edit', channelsWithNewGraphs: ['a'], withoutUpgradePath: [] });
  });

  test('no head at all once the version is gone, which had no edit before', async () => {
    const own: WrittenEntry = { name: 'p.v1.0.0', skips: ['p.v1.0.0'] };
    const here = await world({
      versions: ['1.0.0', '1.1.0'],
      channels: { a: [entry('1.1.0'), own], b: [entry('1.1.0'), entry('1.0.0', '2.0.0')] },
    });
    const plan = planOf(here, advisory('yank', '1.1.0'));
    expect(written(plan)).toEqual(['p.v1.0.0']);
    expect(written(plan, 'b')).toEqual(['p.v1.0.0, replaces p.v2.0.0']);
    expect(plan).toMatchObject({
      kind: 'edit',
      channelsWithNewGraphs: ['a'],
      withoutUpgradePath: ['p.v1.1.0'],
    });
  });

  test('a chain keeps its edges: one entry changes', async () => {
    const plan = await planFor(chain(...versions));
    expect(written(plan)).toEqual(LINE);
    expect(plan).toMatchObject({ kind: 'edit', channelsWithNewGraphs: [], withoutUpgradePath: [] });
    const yanked = await planFor(chain(...versions), advisory('yank', '1.3.0'));
    expect(yanked).toMatchObject({
      kind: 'edit',
      channelsWithNewGraphs: [],
      withoutUpgradePath: ['p.v1.3.0'],
    });
  });

  test('the smaller edit is taken where it strands nobody, although opm refuses the channel', async () => {
    const plan = await planFor(
      [entry('1.3.0', '1.2.0'), entry('1.2.0', '1.1.0'), entry('1.1.0', '1.0.0'), entry('1.0.0', '1.2.0')],
      advisory('block-upgrade', '1.1.0'),
    );
    expect(plan).toMatchObject({ kind: 'edit', channelsWithNewGraphs: [], withoutUpgradePath: [] });
  });
});

const eitherPackage = fc.oneof(anyPackage, soundPackage);
const ACTIONS = ['yank', 'deprecate', 'block-upgrade', 'redirect'] as const;

/** The kinds of the plans that follow a plan, each made for the catalog that the one before leaves; four at most. */
async function plansAfter(
  first: World,
  one: Advisory,
  published: readonly PublishedBundle[],
): Promise<AdvisoryPlan['kind'][]> {
  const kinds: AdvisoryPlan['kind'][] = [];
  for (let now = first; kinds.length < 4; ) {
    const plan = planOf(now, one);
    kinds.push(plan.kind);
    const old = now.catalog.packages.get(PACKAGE);
    const after = old && packageAfter(old, plan.edit);
    if (plan.kind !== 'edit' || !after) break;
    const catalog = { ...now.catalog, packages: new Map([[PACKAGE, after]]) };
    now = await worldOf({ name: 'cat', catalog, published: new Map([[PACKAGE, published]]) });
  }
  return kinds;
}

describe('whatever the package', () => {
  test('a version below the head is yanked without anybody losing an upgrade path', async () => {
    await fc.assert(
      fc.asyncProperty(soundPackage, fc.nat(), async (ofPackage, pick) => {
        const below = Object.values(ofPackage.channels).flatMap((entries) => entries.slice(0, -1));
        const one = below[pick % Math.max(1, below.length)];
        if (!one) return;
        const plan = planOf(await world(ofPackage), advisory('yank', one.name.slice(3)));
        expect(plan.kind).toBe('edit');
        expect(plan.proof?.strandedOthers).toEqual([]);
      }),
      runs(100),
    );
  });

  test('in a chain with an edge too many or too few, every action but deprecate strands nobody', async () => {
    const broken = fc.tuple(soundPackage, fc.nat(), fc.constantFrom('circle', 'heads', 'unreached'));
    await fc.assert(
      fc.asyncProperty(
        broken,
        fc.constantFrom('yank', 'block-upgrade', 'redirect'),
        fc.nat(),
        async ([ofPackage, at, how], action, pick) => {
          const entries = ofPackage.channels['a'] ?? [];
          const [first, last] = [entries[0], entries.at(-1)];
          if (!first || !last || first === last) return;
          const other = entries[at % entries.length];
          const wrong = entries.map((one) => {
            if (how === 'circle') return one === first ? { ...one, replaces: last.name } : one;
            const { replaces: _, skips: __, ...bare } = one;
            return one === (how === 'heads' ? other : last) ? bare : one;
          });
          const version = ofPackage.versions[pick % (ofPackage.versions.length - 1)] ?? '';
          const to = action === 'redirect' ? { to: { version: last.name.slice(3) } } : {};
          const one = advisory(action, version, to);
          const plan = planOf(await world({ ...ofPackage, channels: { a: wrong } }), one);
          expect(['edit', 'applied']).toContain(plan.kind);
          expect(plan.proof?.strandedOthers).toEqual([]);
        },
      ),
      runs(60),
    );
  });

  test('nobody without an advisory loses an upgrade path unless the plan lists it, and plans come to an end', async () => {
    await fc.assert(
      fc.asyncProperty(
        eitherPackage,
        fc.constantFrom(...ACTIONS),
        fc.nat(),
        async (ofPackage, action, pick) => {
          const { versions } = ofPackage;
          const version = versions[pick % versions.length] ?? '';
          const to = action === 'redirect' ? { to: { version: versions.at(-1) ?? '' } } : {};
          const one = advisory(action, version, to);
          const before = await world(ofPackage);
          const plan = planOf(before, one);
          const channels = [...(before.catalog.packages.get(PACKAGE)?.channels.values() ?? [])];
          // No cluster sees a catalog that opm refuses.
          const isTaken = channels.every(hasChain);
          if (plan.kind !== 'edit' && plan.kind !== 'applied') return;
          expect(plan.proof?.sound).toBe(true);
          const listed = new Set(plan.withoutUpgradePath);
          for (const { installed, missing } of plan.proof?.all ?? [])
            if (missing !== undefined) expect(listed).toContain(installed.name);
          const old = before.catalog.packages.get(PACKAGE);
          const after = old && packageAfter(old, plan.edit);
          if (action === 'yank')
            expect([...(after?.bundles.keys() ?? [])]).not.toContain(bundleName(version));
          if (!old || !after) return;
          const catalog = { ...before.catalog, packages: new Map([[PACKAGE, after]]) };
          const published = [...old.channels.values()].flatMap((channel) =>
            channel.entries.flatMap(({ name }) => {
              const bundle = old.bundles.get(name);
              return bundle ? [{ channel: channel.name, name, version: bundle.version }] : [];
            }),
          );
          const again = await worldOf({ name: 'cat', catalog, published: new Map([[PACKAGE, published]]) });
          const kinds = await plansAfter(again, one, published);
          // Where skips and ranges of a random package lead in circles, one in some ten thousand needs a second plan.
          expect(kinds.slice(0, -1).length).toBeLessThan(isTaken ? 2 : 3);
          expect(['applied', 'not affected']).toContain(kinds.at(-1));
          for (const { channel, name, version: own } of published) {
            if (name === bundleName(version) || listed.has(name)) continue;
            const installed = { name, version: own };
            const paths = [before, again].map(({ foresight }) => [
              foresight.v0({ package: PACKAGE, channel }, installed),
              foresight.v1({ package: PACKAGE, channels: [] }, installed),
              foresight.v1({ package: PACKAGE, channels: [channel] }, installed),
            ]);
            for (const [i, path] of paths[0]?.entries() ?? [])
              if (path.arrives && isTaken) expect(paths[1]?.[i]?.arrives).toBe(true);
          }
        },
      ),
      runs(150),
    );
  });
});

test('nobody is moved to a lower version unless the advisory allows it, whatever else it accepts', async () => {
  const cat = await world({
    versions: ['1.0.0', '1.1.0', '1.2.0'],
    channels: {
      a: [
        { name: bundleName('1.2.0'), replaces: bundleName('1.1.0') },
        { name: bundleName('1.1.0'), replaces: bundleName('1.0.0'), skipRange: '>=1.0.0 <1.3.0' },
        { name: bundleName('1.0.0') },
      ],
    },
  });
  const accepted = { withoutUpgradePath: [bundleName('1.2.0')] };
  expect(planOf(cat, advisory('yank', '=1.2.0', accepted)).downgraded).toEqual([bundleName('1.2.0')]);
  expect(planOf(cat, advisory('yank', '=1.2.0', { ...accepted, allowDowngrade: true })).downgraded).toEqual(
    [],
  );
  expect(planOf(cat, advisory('yank', '=1.1.0')).downgraded).toEqual([]);
});

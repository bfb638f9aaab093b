import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import { readImageSet } from '../../../../catalog/mirror/image-set.ts';
import { type ClusterOperator, UpgradeRefusal } from '../../../../catalog/mirror/upgrade/cluster.ts';
import { confirmUpgrade, versionsIn } from '../../../../catalog/mirror/upgrade/confirm-upgrade.ts';
import { planUpgrade, type UpgradePlan } from '../../../../catalog/mirror/upgrade/plan-upgrade.ts';
import { selectedOf } from '../../../../catalog/mirror/upgrade/stage-choice.ts';
import { upgradeImageSet } from '../../../../catalog/mirror/upgrade/upgrade-image-set.ts';
import { formatVersion, parseVersion } from '../../../../catalog/version/version.ts';
import { emitYaml } from '../../../../catalog/yaml/emit.ts';
import type { Json } from '../../../../catalog/yaml/scalar.ts';
import { type Catalog, isHeldBack, isIn, type Package } from '../../../oracle/repository-state.ts';
import { nextOf } from '../../../oracle/resolvers.ts';
import { generatedScene, installedIn, MINORS, type Scene, sceneOf } from './scene.ts';

interface Planned {
  readonly seed: number;
  readonly scene: Scene;
  readonly plan: UpgradePlan;
  readonly text: string;
}

const COUNT = 5;
let known: Promise<Planned[]> | undefined;

/** The first clusters for which there is a plan. */
function planned(): Promise<Planned[]> {
  known ??= firstPlanned();
  return known;
}

interface Tried {
  readonly scene: Scene;
  readonly plan: UpgradePlan | UpgradeRefusal;
}

const triedBefore = new Map<number, Promise<Tried>>();

/** A generated cluster, and its plan if there is one: several tests look at it. */
function tried(seed: number): Promise<Tried> {
  const made = triedBefore.get(seed) ?? planOf(seed);
  triedBefore.set(seed, made);
  return made;
}

async function planOf(seed: number): Promise<Tried> {
  const scene = await generatedScene(seed);
  const plan = await planUpgrade(scene.request).catch((error: unknown) => {
    if (error instanceof UpgradeRefusal) return error;
    throw error;
  });
  return { scene, plan };
}

async function firstPlanned(): Promise<Planned[]> {
  const found: Planned[] = [];
  for (let seed = 1; found.length < COUNT; seed++) {
    const { scene, plan } = await tried(seed);
    if (!(plan instanceof UpgradeRefusal))
      found.push({ seed, scene, plan, text: upgradeImageSet(plan, 'amd64') });
  }
  return found;
}

test('five generated clusters: another resolver confirms each step with what the configuration mirrors', async () => {
  let [upgrades, releases] = [0, 0];
  for (const { scene, plan, text, seed } of await planned()) {
    expect(await confirmUpgrade(plan, text, scene.request), `seed ${seed}`).toEqual([]);
    const { imageSet } = readImageSet(text, 'isc.yaml');
    const now = new Map(
      plan.cluster.operators.map((one) => [
        one.package,
        formatVersion(one.installed.version ?? parseVersion('0.0.0')),
      ]),
    );
    for (const stage of plan.stages) {
      const home = scene.request.catalogs.find(({ platform }) => platform.minor === stage.platform.minor);
      const selection = imageSet?.catalogs.find(({ catalog }) => catalog === home?.reference);
      const part = partOf(scene.catalogs[stage.platform.minor] ?? {}, selectionOf(home, selection?.packages));
      for (const { operator, channel } of stage.placed) {
        const versions: string[] = [];
        for (let at = now.get(operator.package) ?? ''; ; ) {
          const next = nextOf(part, {
            catalog: '',
            package: operator.package,
            channel: operator.olm === 'v0' ? channel : '',
            version: at,
            olm: operator.olm,
          });
          expect(next, `seed ${seed}: ${operator.package} ${at} at 4.${stage.platform.minor}`).toBeDefined();
          if (next === at || next === undefined) break;
          versions.push(next);
          at = next;
        }
        const steps = stage.steps.filter((step) => step.package === operator.package);
        expect(steps.map(({ to }) => to.version && formatVersion(to.version))).toEqual(versions);
        upgrades += versions.length;
        now.set(operator.package, versions.at(-1) ?? now.get(operator.package) ?? '');
      }
      // What is installed lets the cluster go on to the next version with a catalog.
      const following = plan.stages[plan.stages.indexOf(stage) + 1];
      for (const { operator } of stage.placed) {
        const ofPackage = scene.catalogs[stage.platform.minor]?.[operator.package];
        if (following && ofPackage)
          expect(
            isHeldBack(ofPackage, now.get(operator.package) ?? '', `v4.${following.platform.minor}`),
          ).toBe(false);
      }
    }
    releases += plan.releases.length;
  }
  expect({ upgrades, releases }).toMatchObject({
    upgrades: expect.any(Number),
    releases: expect.any(Number),
  });
  expect(upgrades).toBeGreaterThan(10);
  expect(releases).toBeGreaterThanOrEqual(10);
});

function selectionOf(
  home: Scene['request']['catalogs'][number] | undefined,
  packages: Parameters<typeof selectedOf>[1] | undefined,
): ReadonlySet<string> {
  const part = home && packages && selectedOf(home, packages);
  return new Set(
    [...(part?.packages.values() ?? [])].flatMap((one) =>
      [...one.channels.values()].flatMap(({ name, entries }) =>
        entries.map((entry) => `${name} ${entry.name}`),
      ),
    ),
  );
}

/** What of a catalog is in a selection, in the terms of the oracle. */
function partOf(catalog: Catalog, kept: ReadonlySet<string>): Catalog {
  return Object.fromEntries(
    Object.entries(catalog).map(([name, one]): [string, Package] => [
      name,
      {
        ...one,
        channels: Object.fromEntries(
          Object.entries(one.channels)
            .map(
              ([channel, entries]) =>
                [
                  channel,
                  entries.filter(({ version }) => kept.has(`${channel} ${name}.v${version}`)),
                ] as const,
            )
            .filter(([, entries]) => entries.length > 0),
        ),
      },
    ]),
  );
}

interface Written {
  mirror: {
    operators?: {
      catalog: string;
      packages: { name: string; channels: { name: string; minVersion?: string; maxVersion?: string }[] }[];
    }[];
    platform?: {
      channels: { name: string; minVersion?: string; maxVersion?: string; shortestPath?: boolean }[];
    };
  };
}

/** Every configuration with a part less: a catalog, a package, a channel, the lowest or the highest version of one. */
async function smaller(text: string, scene: Scene): Promise<{ what: string; text: string }[]> {
  const found: { what: string; text: string }[] = [];
  const without = (what: string, change: (one: Written) => unknown): void => {
    const copy = load(text) as Written;
    if (change(copy) !== false) found.push({ what, text: emitYaml(copy as unknown as Json) });
  };
  const whole = load(text) as Written;
  for (const [i, { catalog, packages }] of (whole.mirror.operators ?? []).entries()) {
    without(catalog, ({ mirror }) => mirror.operators?.splice(i, 1));
    const home = scene.request.catalogs.find((one) => one.reference === catalog);
    for (const [j, { name, channels }] of packages.entries()) {
      if (packages.length > 1)
        without(`${catalog} ${name}`, ({ mirror }) => mirror.operators?.[i]?.packages.splice(j, 1));
      for (const [k, channel] of channels.entries()) {
        const kept =
          home &&
          selectedOf(home, [{ name, channels: [channel], defaultChannel: channel.name }])?.packages.get(name);
        const versions = [...(kept?.bundles.values() ?? [])]
          .flatMap(({ version }) => version ?? [])
          .map(formatVersion)
          .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
        const [second, last] = [versions[1], versions.at(-2)];
        if (second !== undefined)
          without(`${name} from ${second}`, ({ mirror }) => {
            const own = mirror.operators?.[i]?.packages[j]?.channels[k];
            if (own) own.minVersion = second;
          });
        if (last !== undefined)
          without(`${name} up to ${last}`, ({ mirror }) => {
            const own = mirror.operators?.[i]?.packages[j]?.channels[k];
            if (own) own.maxVersion = last;
          });
      }
    }
  }
  const { imageSet } = readImageSet(text, 'isc.yaml');
  for (const [i, channel] of (imageSet?.platform?.channels ?? []).entries()) {
    without(channel.name, ({ mirror }) => mirror.platform?.channels.splice(i, 1));
    const versions = [...(await versionsIn([channel], scene.request.graphs))].sort();
    for (const one of [versions[1], versions.at(-2)])
      if (one !== undefined)
        without(`${channel.name} ${one}`, ({ mirror }) => {
          const own = mirror.platform?.channels[i];
          if (own) own[one === versions[1] ? 'minVersion' : 'maxVersion'] = one;
        });
  }
  return found;
}

/** How many entries of channels a configuration mirrors. */
function sizeOf(text: string, { request }: Scene): number {
  const { imageSet } = readImageSet(text, 'isc.yaml');
  return (imageSet?.catalogs ?? []).reduce((sum, { catalog, packages }) => {
    const home = request.catalogs.find(({ reference }) => reference === catalog);
    return sum + (packages.length > 0 ? selectionOf(home, packages).size : 0);
  }, 0);
}

test('five generated clusters: without any part of the configuration the plan breaks', async () => {
  let count = 0;
  for (const { scene, plan, text, seed } of await planned()) {
    const whole = sizeOf(text, scene);
    for (const { what, text: less } of await smaller(text, scene)) {
      // A version above the range stays where it skips one in it: nothing is removed then.
      if (!what.startsWith('stable-4') && sizeOf(less, scene) === whole) continue;
      const lacks = await confirmUpgrade(plan, less, scene.request);
      expect(lacks.length, `seed ${seed} without ${what}`).toBeGreaterThan(0);
      count++;
    }
  }
  expect(count).toBeGreaterThan(30);
});

/** Whether edges lead an operator to a version of the last catalog, each version of the platform allowed by what runs. */
function mayGetThere({ catalogs }: Scene, { package: name, installed }: ClusterOperator): boolean {
  let at = new Set([installed.version ? formatVersion(installed.version) : '']);
  for (const minor of MINORS) {
    const ofPackage = catalogs[minor]?.[name];
    if (!ofPackage) return false;
    const entries = Object.values(ofPackage.channels).flat();
    for (let size = 0; size !== at.size; ) {
      size = at.size;
      for (const { version, replaces, skips = [], skipRange } of entries)
        if (
          [...at].some(
            (one) => replaces === one || skips.includes(one) || (skipRange && isIn(one, skipRange)),
          )
        )
          at.add(version);
    }
    const isLast = minor === MINORS.at(-1);
    at = new Set(
      [...at].filter((one) =>
        isLast
          ? entries.some(({ version }) => version === one)
          : !isHeldBack(limitsOf(catalogs, name), one, `v4.${minor + 1}`),
      ),
    );
  }
  return at.size > 0;
}

/** A version has the same limit in each catalog. */
function limitsOf(catalogs: Scene['catalogs'], name: string): Package {
  const all = MINORS.flatMap((minor) => catalogs[minor]?.[name] ?? []);
  const [first] = all;
  if (!first) throw new Error(`no package ${name}`);
  return { ...first, limits: Object.assign({}, ...all.map(({ limits }) => limits)) };
}

test('of 25 generated clusters, those without a plan have an operator that no edges bring there', async () => {
  let refused = 0;
  for (let seed = 1; seed <= 25; seed++) {
    const { scene, plan } = await tried(seed);
    if (!(plan instanceof UpgradeRefusal)) continue;
    refused++;
    const reachable = scene.request.cluster.operators.map((one) => mayGetThere(scene, one));
    expect(reachable, `seed ${seed}: ${plan.message}`).toContain(false);
  }
  expect(refused).toBeGreaterThan(5);
});

const none = { range: '', namespace: 'operators', isManual: false } as const;

function operator(
  of: Pick<ClusterOperator, 'package' | 'installed'> & Partial<ClusterOperator>,
): ClusterOperator {
  return { ...none, olm: 'v0', channels: ['stable'], name: of.package, ...of };
}

const simple = (...versions: string[]): Package['channels'] => ({
  stable: versions.map((version, i) =>
    i === 0 ? { version } : { version, replaces: versions[i - 1] ?? '' },
  ),
});

const rest = { defaultChannel: 'stable', rebuilt: [], deprecated: [], requires: {} } as const;

test('what an upgrade requires is installed, and is part of the configuration', async () => {
  const provider = { ...rest, channels: simple('2.0.0', '2.1.0') };
  const user = {
    ...rest,
    channels: simple('1.0.0', '1.1.0'),
    limits: { '1.0.0': '4.18' },
    requires: { '1.1.0': '>=2.0.0' },
  };
  const all = { user, provider };
  const scene = await sceneOf({ 18: all, 19: all, 20: all }, []);
  const operators = [operator({ package: 'user', installed: installedIn(scene, 18, 'user.v1.0.0') })];
  const request = { ...scene.request, cluster: { ...scene.request.cluster, operators } };
  const plan = await planUpgrade(request);
  expect(plan.stages.map(({ platform, steps }) => [platform.minor, steps.map(({ to }) => to.name)])).toEqual([
    [18, ['provider.v2.1.0', 'user.v1.1.0']],
    [20, []],
  ]);
  const text = upgradeImageSet(plan, 'amd64');
  expect(await confirmUpgrade(plan, text, request)).toEqual([]);
  const without = text.replaceAll('name: provider', 'name: user-2');
  expect(await confirmUpgrade(plan, without, request)).not.toEqual([]);
});

test('what operators of several namespaces require is upgraded in each of them', async () => {
  const provider = (...versions: string[]): Package => ({
    ...rest,
    channels: simple(...versions),
    limits: { '2.0.0': '4.19' },
  });
  const user = {
    ...rest,
    channels: simple('1.0.0', '1.1.0'),
    limits: { '1.0.0': '4.18' },
    requires: { '1.1.0': '>=2.0.0' },
  };
  const scene = await sceneOf(
    {
      18: { user, provider: provider('2.0.0') },
      19: { user, provider: provider('2.0.0', '2.1.0') },
      20: { user, provider: provider('2.0.0', '2.1.0') },
    },
    [],
  );
  const installed = installedIn(scene, 18, 'user.v1.0.0');
  const operators = ['a', 'b'].map((namespace) => operator({ package: 'user', namespace, installed }));
  const request = { ...scene.request, cluster: { ...scene.request.cluster, operators } };
  const plan = await planUpgrade(request);
  const ends = (minor: number): string[] =>
    (plan.stages.find(({ platform }) => platform.minor === minor)?.steps ?? [])
      .map(({ namespace, to }) => `${namespace}: ${to.name}`)
      .sort();
  expect(ends(18)).toEqual(
    ['a', 'b'].flatMap((namespace) => [`${namespace}: provider.v2.0.0`, `${namespace}: user.v1.1.0`]),
  );
  expect(ends(19)).toEqual(['a: provider.v2.1.0', 'b: provider.v2.1.0']);
  expect(await confirmUpgrade(plan, upgradeImageSet(plan, 'amd64'), request)).toEqual([]);
});

test.each([
  [
    'an installed version that no catalog has',
    { package: 'user', installed: { name: 'user.v0.9.0', version: parseVersion('0.9.0') } },
    'is not known',
  ],
  [
    'a package that the last catalogs do not have',
    { package: 'gone', installed: { name: 'gone.v1.0.0', version: parseVersion('1.0.0') } },
    'no catalog for 4.20 has the package gone',
  ],
  [
    'a limit that nothing lifts',
    { package: 'user', installed: { name: 'user.v1.0.0', version: parseVersion('1.0.0') } },
    'no upgrade leads from user.v1.0.0',
  ],
])('%s is refused', async (_, one, message) => {
  const user = { ...rest, channels: simple('1.0.0'), limits: { '1.0.0': '4.18' } };
  const gone = { ...rest, channels: simple('1.0.0') };
  const scene = await sceneOf({ 18: { user, gone }, 19: { user, gone }, 20: { user } }, [operator(one)]);
  await expect(planUpgrade(scene.request)).rejects.toThrow(message);
});

test('OLM v1 refuses what declares dependencies: the refusal says so', async () => {
  const user = { ...rest, channels: simple('1.0.0'), requires: { '1.0.0': '>=2.0.0' } };
  const scene = await sceneOf({ 18: { user }, 19: { user }, 20: { user } }, []);
  const installed = installedIn(scene, 18, 'user.v1.0.0');
  const of = (olm: 'v0' | 'v1') => {
    const operators = [operator({ package: 'user', olm, channels: [], installed })];
    return planUpgrade({ ...scene.request, cluster: { ...scene.request.cluster, operators } });
  };
  await expect(of('v1')).rejects.toThrow('which is currently not supported');
  expect((await of('v0')).stages.map(({ steps }) => steps)).toEqual([[]]);
});

test('versions whose support has ended, or that do not run on the target, are passed over', async () => {
  const all = { user: { ...rest, channels: simple('1.0.0', '1.1.0', '1.2.0', '1.3.0') } };
  const lifecycles = (ended: string, compatible: string): string =>
    JSON.stringify({
      schema: 'io.openshift.operators.lifecycles.v1alpha1',
      package: 'user',
      versions: ['1.0', '1.1', '1.2', '1.3'].map((name) => ({
        name,
        phases: [
          {
            name: 'Full support',
            startDate: '2025-01-01',
            endDate: name <= ended ? '2026-01-01' : '2028-01-01',
          },
        ],
        platformCompatibility: [
          { name: 'openshift', versions: ['4.18', '4.19', ...(name >= compatible ? ['4.20'] : [])] },
        ],
      })),
    });
  const endOf = async (ended: string, compatible: string): Promise<string | undefined> => {
    const scene = await sceneOf({ 18: all, 19: all, 20: all }, [], {
      more: { 20: lifecycles(ended, compatible) },
    });
    const operators = [operator({ package: 'user', installed: installedIn(scene, 18, 'user.v1.0.0') })];
    const plan = await planUpgrade({ ...scene.request, cluster: { ...scene.request.cluster, operators } });
    return plan.stages.at(-1)?.steps.at(-1)?.to.name;
  };
  expect(await endOf('0.9', '1.0')).toBeUndefined();
  expect(await endOf('1.0', '1.0')).toBe('user.v1.1.0');
  expect(await endOf('0.9', '1.2')).toBe('user.v1.2.0');
});

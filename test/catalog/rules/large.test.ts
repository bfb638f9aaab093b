/** Lists far longer than anybody writes: what goes through one again for each of its items would not end in time. */
import { expect, test } from 'vitest';
import { load } from '../../../catalog/fbc/load.ts';
import { catalogOf } from '../../../catalog/fbc/model.ts';
import type { Finding } from '../../../catalog/finding.ts';
import { worldOf } from '../../../catalog/olm/foresight/world.ts';
import { checkCatalog } from '../../../catalog/rules/check-catalog.ts';
import { RULES } from '../../../catalog/rules/index.ts';
import { runForesight, runRules } from '../../../catalog/rules/rule.ts';
import { sourceOf } from '../../../catalog/source.ts';
import { stepsOf } from '../../fakes/step-count.ts';
import { catalogFrom } from '../olm/universe.ts';

const times = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));

function textOf(blobs: readonly object[]): string {
  return blobs.map((blob) => `${JSON.stringify(blob)}\n`).join('');
}

function ofPackage(name: string, entries: readonly object[], channels = ['stable']): object[] {
  const [first = ''] = channels;
  return [
    { schema: 'olm.package', name, defaultChannel: first },
    ...channels.map((channel) => ({ schema: 'olm.channel', package: name, name: channel, entries })),
  ];
}

function bundle(name: string, properties: readonly object[] = []): object {
  const own = { type: 'olm.package', value: { packageName: name, version: '1.0.0' } };
  const image = `quay.io/sea/${name}@sha256:${'0'.repeat(64)}`;
  return {
    schema: 'olm.bundle',
    name: `${name}.v1.0.0`,
    package: name,
    image,
    properties: [own, ...properties],
  };
}

async function foreseen(blobs: readonly object[]): Promise<Finding[]> {
  const { blobs: read } = await load(sourceOf({ 'catalog.json': textOf(blobs) }));
  return runForesight(await worldOf({ name: 'cat', catalog: catalogOf(read) }), RULES);
}

test('each of many entries without a bundle is told on its line', async () => {
  const entries = times(10_000, (i) => ({ name: `p.v${i}`, replaces: `p.x${i}` }));
  const { findings } = await checkCatalog(
    sourceOf({ 'catalog.json': textOf(ofPackage('p', entries)) }),
    RULES,
  );
  const missing = findings.filter(({ rule }) => rule === 'entry/no-bundle');
  expect(missing).toHaveLength(entries.length);
  expect(new Set(missing.map(({ location }) => location.column)).size).toBe(entries.length);
});

test('each of more findings than a function takes arguments is told', async () => {
  const { findings } = await checkCatalog(sourceOf({ 'catalog.yaml': '---\nx: 1\n'.repeat(150_000) }), []);
  expect(findings).toHaveLength(150_000);
});

test('channels with one head in common are entered alike', async () => {
  const channels = times(2000, (i) => `c${i}`);
  const blobs = [...ofPackage('p', [{ name: 'p.v1.0.0' }], channels), bundle('p')];
  const findings = await foreseen(blobs);
  expect(findings.filter(({ rule }) => rule === 'graph/channel-switch-blocked')).toEqual([]);
});

test('of many packages with one kind each tells once who its rivals are', async () => {
  const gvk = { type: 'olm.gvk', value: { group: 'example.com', version: 'v1', kind: 'Ship' } };
  const names = times(500, (i) => `p${String(i).padStart(3, '0')}`);
  const findings = await foreseen(
    names.flatMap((name) => [...ofPackage(name, [{ name: `${name}.v1.0.0` }]), bundle(name, [gvk])]),
  );
  const rivals = findings.filter(({ rule }) => rule === 'graph/gvk-takeover');
  expect(rivals).toHaveLength(names.length - 1);
  expect(rivals[0]?.message).toMatch(
    /^the packages "p000", "p001", "p002", "p003", "p004" and 495 more all provide Ship \(example\.com\/v1\): /,
  );
});

test('entries that skip all before them cost as much as they name, not as much for each name', async () => {
  const [few, many] = [await skipsRead(40), await skipsRead(80)];
  const names = (count: number): number => (count * (count - 1)) / 2;
  // Each rule may go through the names once or twice: what matters is that it does not depend on their number.
  expect(few / names(40)).toBeGreaterThan(1);
  expect(many / names(80)).toBeLessThan((few / names(40)) * 1.1);
});

/** How many names in `skips` all rules read of a channel whose entries each skip all entries before them. */
async function skipsRead(count: number): Promise<number> {
  const name = (i: number): string => `p.v1.${i}.0`;
  const entries = times(count, (i) => ({ name: name(i), skips: times(i, name) }));
  const bundles = times(count, (i) => ({
    schema: 'olm.bundle',
    name: name(i),
    package: 'p',
    image: `quay.io/sea/p@sha256:${String(i).padStart(64, '0')}`,
    properties: [{ type: 'olm.package', value: { packageName: 'p', version: `1.${i}.0` } }],
  }));
  const text = textOf([...ofPackage('p', entries), ...bundles]);
  const { blobs } = await load(sourceOf({ 'catalog.json': text }));
  const catalog = catalogOf(blobs);
  let read = 0;
  for (const entry of catalog.packages.get('p')?.channels.get('stable')?.entries ?? []) {
    const counted = new Proxy(entry.skips, {
      get: (skips, key) => {
        if (typeof key === 'string' && /^[0-9]+$/.test(key)) read++;
        return Reflect.get(skips, key);
      },
    });
    Object.defineProperty(entry, 'skips', { value: counted });
  }
  runRules(catalog, RULES);
  runForesight(await worldOf({ name: 'cat', catalog }), RULES);
  return read;
}

test('pre-releases with open ranges cost twice as much for twice as many', async () => {
  const [few, many] = [await versionsRead(100), await versionsRead(200)];
  expect(few).toBeGreaterThan(100);
  expect(many / few).toBeLessThan(2.3);
});

/** How often all rules read the version of a bundle, in a channel of pre-releases that each have the same open range. */
async function versionsRead(count: number): Promise<number> {
  const name = (i: number): string => `p.v1.${i}.0-rc.1`;
  const entries = times(count, (i) => ({ name: name(i), skipRange: '>=1.0.0' }));
  const bundles = times(count, (i) => ({
    schema: 'olm.bundle',
    name: name(i),
    package: 'p',
    image: `quay.io/sea/p@sha256:${String(i).padStart(64, '0')}`,
    properties: [{ type: 'olm.package', value: { packageName: 'p', version: `1.${i}.0-rc.1` } }],
  }));
  const { blobs } = await load(
    sourceOf({ 'catalog.json': textOf([...ofPackage('p', entries), ...bundles]) }),
  );
  const catalog = catalogOf(blobs);
  let read = 0;
  for (const { version } of catalog.packages.get('p')?.bundles.values() ?? []) {
    const major = version?.major;
    const get = (): typeof major => {
      read++;
      return major;
    };
    Object.defineProperty(version, 'major', { get, enumerable: true });
  }
  runForesight(await worldOf({ name: 'cat', catalog }), RULES);
  return read;
}

test('hundreds of versions that require versions that require others are decided', async () => {
  const chainOf = (name: string, count: number, ...required: readonly string[]): object[] => {
    const versions = times(count, (i) => `1.${i}.0`);
    const entries = versions.map((version, i) => ({
      name: `${name}.v${version}`,
      ...(i > 0 ? { replaces: `${name}.v${versions[i - 1]}` } : {}),
    }));
    const requirements = required.map((packageName) => ({
      type: 'olm.package.required',
      value: { packageName, versionRange: '>=1.0.0' },
    }));
    return [
      ...ofPackage(name, entries),
      ...versions.map((version) => ({
        ...bundle(name),
        name: `${name}.v${version}`,
        properties: [{ type: 'olm.package', value: { packageName: name, version } }, ...requirements],
      })),
    ];
  };
  const found = await foreseen([...chainOf('p', 300, 'q'), ...chainOf('q', 300, 'r'), ...chainOf('r', 50)]);
  expect(found.filter(({ severity }) => severity === 'error')).toEqual([]);
});

test('ranges that cover nothing are not compared with each version', async () => {
  const steps = [];
  for (const count of [50, 100, 200]) {
    const versions = Array.from({ length: count }, (_, i) => `1.${i}.0`);
    const entries = versions.map((version, i) => ({
      name: `p.v${version}`,
      ...(i > 0 ? { replaces: `p.v1.${i - 1}.0` } : {}),
      skipRange: `<0.0.${i}`,
    }));
    const catalog = await catalogFrom({ p: { versions, channels: { stable: entries } } });
    const world = await worldOf({ name: 'v4.20', catalog });
    const rules = RULES.filter(({ id }) => id === 'graph/skiprange-covers-nothing');
    // What rules have in common is read here.
    expect(runForesight(world, rules)).toHaveLength(count);
    steps.push(stepsOf(() => runForesight(world, rules)));
  }
  const [least = 0, more = 0, most = 0] = steps;
  expect(most - more).toBeLessThan(2.4 * (more - least));
});

test('channels with the same entries ask once what was published', async () => {
  const versions = times(20, (i) => `1.${i}.0`);
  const entries = versions.map((version) => ({ name: `p.v${version}`, skipRange: '<0.0.1' }));
  const rules = RULES.filter(({ id }) => id === 'graph/skiprange-covers-nothing');
  const steps: number[] = [];
  for (const count of [10, 20, 40]) {
    const channels = Object.fromEntries(times(count, (i) => [`c${i}`, entries]));
    const world = await worldOf({ name: 'v4.20', catalog: await catalogFrom({ p: { versions, channels } }) });
    expect(runForesight(world, rules)).toHaveLength(count * versions.length);
    steps.push(stepsOf(() => runForesight(world, rules)));
  }
  const [least = 0, more = 0, most = 0] = steps;
  expect(most - more).toBeLessThan(2.4 * (more - least));
});

/** What several rules ask of a state of a catalog is found once. */
import { describe, expect, test } from 'vitest';
import type { UpgradePath } from '../../../../catalog/olm/foresight/foresight.ts';
import { broughtTo } from '../../../../catalog/olm/foresight/installation.ts';
import { neighborPackages } from '../../../../catalog/olm/foresight/neighbors.ts';
import { type Olm, upgradePathOf, type World, worldOf } from '../../../../catalog/olm/foresight/world.ts';
import { lanesOf } from '../../../../catalog/olm/resolve/snapshot.ts';
import { reachedBundles } from '../../../../catalog/rules/reached-bundles.ts';
import { parseVersion } from '../../../../catalog/version/version.ts';
import { catalogFrom, PACKAGE } from '../universe.ts';

const VERSIONS = Array.from({ length: 20 }, (_, at) => `1.${at}.0`);
const kind = { type: 'olm.gvk', value: { group: 'example.com', version: 'v1', kind: 'K' } };
const ofVersions = VERSIONS.map((version) => ({ name: `${PACKAGE}.v${version}` }));
const catalog = await catalogFrom({
  [PACKAGE]: {
    versions: VERSIONS,
    channels: { a: ofVersions, b: ofVersions, c: ofVersions },
    properties: Object.fromEntries(VERSIONS.map((version) => [version, [kind]])),
  },
});

test('the bundles that clusters install, and what they bring', async () => {
  const before = await worldOf({ name: 'v4.19', catalog });
  const world = await worldOf({ name: 'v4.20', catalog, preceding: [before] });
  const ofPackage = [...catalog.packages.values()][0];
  if (!ofPackage) throw new Error('no package');
  expect(reachedBundles(world, ofPackage)).toHaveLength(VERSIONS.length);
  expect(reachedBundles(world, ofPackage)).toBe(reachedBundles(world, ofPackage));
  expect(broughtTo(world, PACKAGE, 'v0').length).toBeGreaterThan(0);
  expect(broughtTo(world, PACKAGE, 'v0')).toBe(broughtTo(world, PACKAGE, 'v0'));
  expect(broughtTo(world, PACKAGE, 'v1')).not.toBe(broughtTo(world, PACKAGE, 'v0'));
});

test('the kinds that a package provides, in whatever scopes and channels it is', async () => {
  let looks = 0;
  const nodes = [...catalog.packages.values()].flatMap(lanesOf).flatMap((lane) => lane.nodes);
  for (const offer of new Set(nodes.map((node) => node.offer))) {
    const { gvks } = offer;
    const get = (): typeof gvks => {
      looks++;
      return gvks;
    };
    Object.defineProperty(offer, 'gvks', { get });
  }
  for (const name of ['v4.19', 'v4.20', 'v4.21']) {
    const world = await worldOf({ name, catalog });
    expect([...neighborPackages(world.foresight.scope, PACKAGE)]).toEqual([]);
  }
  expect(looks).toBe(VERSIONS.length);
});

describe('an upgrade path', () => {
  const installed = { name: `${PACKAGE}.v1.0.0`, version: parseVersion('1.0.0') };
  const pathIn = ({ foresight }: World, olm: Olm): UpgradePath =>
    upgradePathOf(foresight, { olm, package: PACKAGE, channel: 'a' }, installed);

  test('of a package that needs no other, in whatever catalogs it is', async () => {
    const [one, other] = [
      await worldOf({ name: 'v4.19', catalog }),
      await worldOf({ name: 'v4.20', catalog }),
    ];
    for (const olm of ['v0', 'v1'] as const) expect(pathIn(one, olm)).toBe(pathIn(other, olm));
  });

  test('of a package that needs another, in each catalog', async () => {
    const needy = await catalogFrom({
      [PACKAGE]: {
        versions: ['1.0.0', '1.1.0'],
        channels: { a: [{ name: 'p.v1.0.0' }, { name: 'p.v1.1.0', replaces: 'p.v1.0.0' }] },
        properties: {
          '1.1.0': [{ type: 'olm.package.required', value: { packageName: 'q', versionRange: '>=1.0.0' } }],
        },
      },
    });
    const needed = await catalogFrom({
      q: { versions: ['1.0.0'], channels: { a: [{ name: 'q.v1.0.0' }] } },
    });
    const nothing = await catalogFrom({});
    const [met, unmet] = await Promise.all(
      [needed, nothing].map((beside) =>
        worldOf({ name: 'v4.20', catalog: needy, companions: new Map([['others', beside]]) }),
      ),
    );
    expect(met && pathIn(met, 'v0').next.kind).toBe('upgrade');
    expect(unmet && pathIn(unmet, 'v0').next.kind).not.toBe('upgrade');
  });
});

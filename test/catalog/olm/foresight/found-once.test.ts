/** What several rules ask of a state of a catalog is found once. */
import { expect, test } from 'vitest';
import { broughtTo } from '../../../../catalog/olm/foresight/installation.ts';
import { neighborPackages } from '../../../../catalog/olm/foresight/neighbors.ts';
import { worldOf } from '../../../../catalog/olm/foresight/world.ts';
import { lanesOf } from '../../../../catalog/olm/resolve/snapshot.ts';
import { reachedBundles } from '../../../../catalog/rules/reached-bundles.ts';
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

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { installedOf } from '../../../../catalog/fbc/edge.ts';
import type { Bundle, Package } from '../../../../catalog/fbc/model.ts';
import { changeOf, worldOf } from '../../../../catalog/olm/foresight/world.ts';
import { hopChange, hopGraph } from '../../../../catalog/olm/graph/hop-graph.ts';
import { resolveExtension } from '../../../../catalog/olm/resolve/extension.ts';
import { nextV0 } from '../../../../catalog/olm/resolve/next-v0.ts';
import { upgradeOf } from '../../../../catalog/olm/resolve/outcome.ts';
import { storedVersion, withRelease } from '../../../../catalog/olm/resolve/release.ts';
import { svgText } from '../../../../pipeline/report/pictures/svg.ts';
import { runs } from '../../../fakes/runs.ts';
import { anyPackage, bundleName, catalogFrom, PACKAGE, type WrittenPackage } from '../universe.ts';

describe('the picture', () => {
  test('as a file explains the signs that it has, and no others', async () => {
    const chain = (skips: readonly string[]) => ({
      versions: ['1.0.0', '1.1.0', '1.2.0'],
      channels: {
        stable: [
          { name: bundleName('1.0.0') },
          { name: bundleName('1.1.0'), replaces: bundleName('1.0.0') },
          { name: bundleName('1.2.0'), replaces: bundleName('1.1.0'), skips },
        ],
      },
    });
    const legendOf = async (skips: readonly string[], styled: boolean) => {
      const world = await worldOf({ name: 'cat', catalog: await catalogFrom({ [PACKAGE]: chain(skips) }) });
      const graph = hopGraph(world, world.catalog.packages.get(PACKAGE) as Package);
      const signs = svgText(graph, { interactive: false, styled }).matchAll(/class="legend"[^>]*>([^<]*)</g);
      return [...signs].map(([, meaning]) => meaning);
    };
    expect(await legendOf([], true)).toEqual(['head']);
    // OLM v0 never offers 1.1.0, which 1.2.0 skips.
    expect(await legendOf([bundleName('1.1.0')], true)).toEqual(['stuck', 'head', 'OLM v1 only']);
    expect(await legendOf([], false)).toEqual([]);
  });

  test("has exactly the resolvers' edges", async () => {
    await fc.assert(
      fc.asyncProperty(anyPackage, async (written) => {
        const world = await worldOf({ name: 'cat', catalog: await catalogFrom({ [PACKAGE]: written }) });
        const ofPackage = world.catalog.packages.get(PACKAGE) as Package;
        const graph = hopGraph(world, ofPackage);
        const drawn = graph.lanes.flatMap(({ channel, stops }) =>
          stops.flatMap(({ bundle, hops }) =>
            hops.flatMap(({ to, olm }) => olm.map((one) => `${one} ${channel}: ${bundle} -> ${to}`)),
          ),
        );
        const { scope, source } = world.foresight;
        const resolved = [...ofPackage.channels.values()].flatMap((channel) =>
          channel.entries.flatMap(({ name }) => {
            const bundle = ofPackage.bundles.get(name) as Bundle;
            const installed = installedOf(bundle);
            const place = { package: PACKAGE, channel: channel.name };
            const { outcome } = resolveExtension(scope, {
              package: PACKAGE,
              version: '',
              channels: [channel.name],
              policy: 'CatalogProvided',
              installed: { name, version: bundle.version ? storedVersion(withRelease(bundle.version)) : '' },
            });
            const [v0, v1] = [upgradeOf(nextV0(scope, source, place)(installed)), upgradeOf(outcome)];
            return [
              ...(v0 ? [`v0 ${channel.name}: ${name} -> ${v0.to.name}`] : []),
              ...(v1 ? [`v1 ${channel.name}: ${name} -> ${v1.to.name}`] : []),
            ];
          }),
        );
        expect(drawn.sort()).toEqual(resolved.sort());
        const svg = svgText(graph, { interactive: false, styled: true });
        const edges = [...svg.matchAll(/data-from="([^"]*)" data-to="([^"]*)" data-olm="([^"]*)"/g)];
        expect(edges.flatMap(([, , , olm = '']) => olm.split(' ')).length).toBe(drawn.length);
      }),
      runs(200),
    );
  });

  const CHAIN: WrittenPackage = {
    versions: ['1.0.0', '1.1.0', '1.2.0'],
    channels: {
      stable: [
        { name: bundleName('1.2.0'), replaces: bundleName('1.1.0') },
        { name: bundleName('1.1.0'), replaces: bundleName('1.0.0') },
        { name: bundleName('1.0.0') },
      ],
      old: [{ name: bundleName('1.0.0') }],
    },
  };

  test('of a change tells what came and went, and leaves out the channels that stay as they are', async () => {
    const after: WrittenPackage = {
      versions: ['1.0.0', '1.2.0', '1.3.0'],
      channels: {
        stable: [
          { name: bundleName('1.3.0'), replaces: bundleName('1.2.0') },
          { name: bundleName('1.2.0') },
          { name: bundleName('1.0.0') },
        ].slice(0, 2),
        old: [{ name: bundleName('1.0.0') }],
      },
    };
    const change = await changeOf(
      { name: 'cat', catalog: await catalogFrom({ [PACKAGE]: CHAIN }) },
      { name: 'cat', catalog: await catalogFrom({ [PACKAGE]: after }) },
    );
    const { lanes } = hopChange(change, PACKAGE);
    expect(lanes.map(({ channel, isChanged }) => [channel, isChanged])).toEqual([['stable', true]]);
    const [stable] = lanes;
    expect(
      stable?.stops.map(({ label, kind, isHead, hops }) => [
        label,
        kind,
        isHead,
        hops.map((hop) => `${hop.kind} ${hop.to} ${hop.olm.join()}`),
      ]),
    ).toEqual([
      ['1.0.0', 'removed', false, ['removed p.v1.1.0 v0,v1']],
      ['1.1.0', 'removed', false, ['removed p.v1.2.0 v0,v1']],
      ['1.2.0', 'same', false, ['added p.v1.3.0 v0,v1']],
      ['1.3.0', 'added', true, []],
    ]);
  });
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { installedOf } from '../../../../catalog/fbc/edge.ts';
import type { Bundle, Package } from '../../../../catalog/fbc/model.ts';
import { type Olm, upgradePathOf, type World, worldOf } from '../../../../catalog/olm/foresight/world.ts';
import { documentPath } from '../../../../catalog/olm/graph/document-path.ts';
import { graphDocument, type PackageGraph } from '../../../../catalog/olm/graph/graph-document.ts';
import { runs } from '../../../fakes/runs.ts';
import { anyPackage, catalogFrom, PACKAGE, type WrittenPackage } from '../universe.ts';

const OLMS: readonly Olm[] = ['v0', 'v1'];

async function drawn(
  written: WrittenPackage,
  olm: readonly Olm[] = OLMS,
): Promise<{ world: World; graph: PackageGraph }> {
  const world = await worldOf({ name: 'cat', catalog: await catalogFrom({ [PACKAGE]: written }), olm });
  return { world, graph: graphDocument([world]).catalogs[0]?.packages[0] as PackageGraph };
}

test('the document has the upgrade path of every bundle', async () => {
  await fc.assert(
    fc.asyncProperty(anyPackage, async (written) => {
      const { world, graph } = await drawn(written);
      const ofPackage = world.catalog.packages.get(PACKAGE) as Package;
      for (const { name: channel, entries } of ofPackage.channels.values()) {
        for (const { name: bundle } of entries) {
          const installed = installedOf(ofPackage.bundles.get(bundle) as Bundle);
          for (const [olm, selected] of [
            ['v0', channel],
            ['v1', channel],
            ['v1', ''],
          ] as const) {
            const following = { olm, package: PACKAGE, channel: selected, onlyChannel: selected !== '' };
            const { arrives, last, end } = upgradePathOf(world.foresight, following, installed);
            const path = documentPath(graph, olm, { channel: selected, bundle });
            expect(path).toMatchObject({
              arrives,
              why: last.kind === 'circle' ? 'circle' : last.reason.text,
            });
            if (last.kind !== 'circle') expect(path?.steps.at(-1) ?? bundle).toBe(end.name);
          }
        }
      }
    }),
    runs(60),
  );
});

test('a document of one OLM says nothing of the other', async () => {
  const written = {
    versions: ['1.0.0', '1.1.0'],
    channels: { a: [{ name: 'p.v1.0.0' }, { name: 'p.v1.1.0', replaces: 'p.v1.0.0' }] },
  };
  const from = { channel: 'a', bundle: 'p.v1.0.0' };
  for (const [olm, other] of [
    ['v0', 'v1'],
    ['v1', 'v0'],
  ] as const) {
    const { graph } = await drawn(written, [olm]);
    expect(documentPath(graph, olm, from)).toMatchObject({ steps: ['p.v1.1.0'], arrives: true });
    expect(documentPath(graph, other, from)).toBeUndefined();
  }
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { headsOf } from '../../../../catalog/fbc/channel.ts';
import { type Installed, installedOf } from '../../../../catalog/fbc/edge.ts';
import {
  type EndWithoutChannel,
  endWithoutChannel,
} from '../../../../catalog/olm/foresight/without-channel.ts';
import { upgradePathOf, type World, worldOf } from '../../../../catalog/olm/foresight/world.ts';
import { lanesOf } from '../../../../catalog/olm/resolve/snapshot.ts';
import { runs } from '../../../fakes/runs.ts';
import { anyPackage, bundleName, catalogFrom, PACKAGE, type WrittenPackage } from '../universe.ts';

describe('endWithoutChannel', () => {
  test('the end is that of a walk of its own, whatever was asked before', async () => {
    await fc.assert(
      fc.asyncProperty(anyPackage, fc.boolean(), async (written, reversed) => {
        const world = await worldFrom(written);
        const bundles = installedIn(world);
        for (const installed of reversed ? bundles.toReversed() : bundles) {
          expect(told(endWithoutChannel(world, PACKAGE, installed))).toEqual(
            told(walkedAlone(world, installed)),
          );
        }
      }),
      runs(300),
    );
  });

  test('bundles of a circle over two channels end at the one before them', async () => {
    const [a, b] = [bundleName('1.0.0'), bundleName('1.1.0')];
    const world = await worldFrom({
      versions: ['1.0.0', '1.1.0'],
      channels: { a: [{ name: a }, { name: b, replaces: a }], b: [{ name: b }, { name: a, replaces: b }] },
    });
    for (const installed of installedIn(world)) {
      const end = endWithoutChannel(world, PACKAGE, installed);
      expect(told(end)).toEqual(told(walkedAlone(world, installed)));
      expect({ hops: end.hops, arrives: end.arrives }).toEqual({ hops: 1, arrives: false });
    }
  });
});

describe('cost, in questions to channels', () => {
  test('asking for all bundles asks each channel about each of its upgrades once', async () => {
    const versions = Array.from({ length: 30 }, (_, i) => `1.${i}.0`);
    const entries = versions.map((version, i) => ({
      name: bundleName(version),
      ...(i > 0 ? { replaces: bundleName(versions[i - 1] as string) } : {}),
    }));
    const channels = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`c${i}`, entries]));
    const { world, asked } = counting(await worldFrom({ versions, channels }));
    for (const installed of installedIn(world)) endWithoutChannel(world, PACKAGE, installed);
    expect(asked()).toBe(29 * 20);
  });

  test('channels that never upgrade a bundle are not asked about it', async () => {
    const versions = Array.from({ length: 30 }, (_, i) => `1.${i}.0`);
    const channels = Object.fromEntries(versions.map((one, i) => [`c${i}`, [{ name: bundleName(one) }]]));
    const { world, asked } = counting(await worldFrom({ versions, channels }));
    for (const installed of installedIn(world)) endWithoutChannel(world, PACKAGE, installed);
    expect(asked()).toBe(0);
  });
});

/** An end may be known as the target of an upgrade or as a bundle: only its name and version matter. */
function told({ at: { name, version }, ...end }: EndWithoutChannel): unknown {
  return { ...end, at: { name, version } };
}

async function worldFrom(written: WrittenPackage): Promise<World> {
  return worldOf({ name: 'cat', catalog: await catalogFrom({ [PACKAGE]: written }) });
}

function installedIn({ catalog }: World): Installed[] {
  return [...(catalog.packages.get(PACKAGE)?.bundles.values() ?? [])].map(installedOf);
}

function counting(world: World): { readonly world: World; readonly asked: () => number } {
  let asked = 0;
  const v0: World['foresight']['v0'] = (...of) => {
    asked++;
    return world.foresight.v0(...of);
  };
  return { world: { ...world, foresight: { ...world.foresight, v0 } }, asked: () => asked };
}

/** The definition: all channels are asked at each step, and nothing is kept. */
function walkedAlone(world: World, installed: Installed): EndWithoutChannel {
  const ofPackage = world.catalog.packages.get(PACKAGE);
  const lanes = ofPackage ? lanesOf(ofPackage) : [];
  const seen = new Set<string>();
  for (let at = installed; ; ) {
    seen.add(at.name);
    const outcomes = lanes.map(
      ({ channel }) => upgradePathOf(world.foresight, { olm: 'v0', package: PACKAGE, channel }, at).next,
    );
    const fails = outcomes.find((outcome) => outcome.kind === 'fails');
    const next = outcomes.find((outcome) => outcome.kind === 'upgrade');
    if (fails || !next || seen.has(next.to.name)) {
      const heads = [...(ofPackage?.channels.values() ?? [])].flatMap(headsOf);
      const arrives = !fails && !next && heads.some(({ name }) => name === at.name);
      return { at, fails, hops: seen.size - 1, arrives };
    }
    at = next.to;
  }
}

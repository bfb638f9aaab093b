import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { headsOf } from '../../../../catalog/fbc/channel.ts';
import { type Installed, installedOf } from '../../../../catalog/fbc/edge.ts';
import type { UpgradePath } from '../../../../catalog/olm/foresight/foresight.ts';
import { nextWithoutChannel } from '../../../../catalog/olm/foresight/without-channel.ts';
import { upgradePathOf, type World, worldOf } from '../../../../catalog/olm/foresight/world.ts';
import type { Outcome } from '../../../../catalog/olm/resolve/outcome.ts';
import { lanesOf } from '../../../../catalog/olm/resolve/snapshot.ts';
import { runs } from '../../../fakes/runs.ts';
import { anyPackage, bundleName, catalogFrom, PACKAGE, type WrittenPackage } from '../universe.ts';

describe('subscriptions without a channel', () => {
  test('the end is that of a walk of its own, whatever was asked before', async () => {
    await fc.assert(
      fc.asyncProperty(anyPackage, fc.boolean(), async (written, reversed) => {
        const world = await worldFrom(written);
        const bundles = installedIn(world);
        for (const installed of reversed ? bundles.toReversed() : bundles) {
          expect(told(pathOf(world, installed))).toEqual(walkedAlone(world, installed));
        }
      }),
      runs(300),
    );
  });

  test('a circle over two channels is one', async () => {
    const [a, b] = [bundleName('1.0.0'), bundleName('1.1.0')];
    const world = await worldFrom({
      versions: ['1.0.0', '1.1.0'],
      channels: { a: [{ name: a }, { name: b, replaces: a }], b: [{ name: b }, { name: a, replaces: b }] },
    });
    for (const installed of installedIn(world)) {
      const { last, arrives } = pathOf(world, installed);
      expect([last.kind, arrives]).toEqual(['circle', false]);
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
    expect(questions(await worldFrom({ versions, channels }))).toBe(29 * 20);
  });

  test('channels that never upgrade a bundle are not asked about it', async () => {
    const versions = Array.from({ length: 30 }, (_, i) => `1.${i}.0`);
    const channels = Object.fromEntries(versions.map((one, i) => [`c${i}`, [{ name: bundleName(one) }]]));
    expect(questions(await worldFrom({ versions, channels }))).toBe(0);
  });
});

function pathOf({ foresight }: World, installed: Installed): UpgradePath {
  return foresight.v0({ package: PACKAGE, channel: '' }, installed);
}

/** Where an installation gets: a circle by itself, for each of its bundles ends there. */
interface Told {
  readonly end: string;
  readonly kind: UpgradePath['last']['kind'];
  readonly arrives: boolean;
}

function told({ end, last: { kind }, arrives }: UpgradePath): Told {
  return { end: kind === 'circle' ? '' : end.name, kind, arrives };
}

async function worldFrom(written: WrittenPackage): Promise<World> {
  return worldOf({ name: 'cat', catalog: await catalogFrom({ [PACKAGE]: written }) });
}

function installedIn({ catalog }: World): Installed[] {
  return [...(catalog.packages.get(PACKAGE)?.bundles.values() ?? [])].map(installedOf);
}

/** How often channels are asked about any bundle of a package. */
function questions(world: World): number {
  const ofPackage = world.catalog.packages.get(PACKAGE);
  let asked = 0;
  const next = nextWithoutChannel(PACKAGE, ofPackage, (channel, installed) => {
    asked++;
    return outcomeIn(world, channel, installed);
  });
  for (const installed of installedIn(world)) next(installed);
  return asked;
}

function outcomeIn({ foresight }: World, channel: string, at: Installed): Outcome {
  return upgradePathOf(foresight, { olm: 'v0', package: PACKAGE, channel }, at).next;
}

/** The definition: all channels are asked at each step, and nothing is kept. */
function walkedAlone(world: World, installed: Installed): Told {
  const ofPackage = world.catalog.packages.get(PACKAGE);
  const lanes = ofPackage ? lanesOf(ofPackage) : [];
  const seen = new Set<string>();
  for (let at = installed; ; ) {
    if (seen.has(at.name)) return { end: '', kind: 'circle', arrives: false };
    seen.add(at.name);
    const outcomes = lanes.map(({ channel }) => outcomeIn(world, channel, at));
    const fails = outcomes.some((outcome) => outcome.kind === 'fails');
    const next = outcomes.find((outcome) => outcome.kind === 'upgrade');
    if (fails || !next) {
      const heads = [...(ofPackage?.channels.values() ?? [])].flatMap(headsOf);
      const arrives = !fails && heads.some(({ name }) => name === at.name);
      return { end: at.name, kind: fails || lanes.length === 0 ? 'fails' : 'stays', arrives };
    }
    at = next.to;
  }
}

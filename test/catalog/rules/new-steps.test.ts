import { expect, test } from 'vitest';
import { type World, worldOf } from '../../../catalog/olm/foresight/world.ts';
import { newSteps } from '../../../catalog/rules/new-steps.ts';
import { Undecided } from '../../../catalog/undecided.ts';
import { catalogFrom } from '../olm/universe.ts';

const LENGTH = 300;

/** A chain of versions, in which one entry may replace the first one and skip the one before it. */
async function chain(cut?: number): Promise<World> {
  const versions = Array.from({ length: LENGTH }, (_, i) => `1.${i}.0`);
  const entries = versions.map((version, i) => {
    if (i === 0) return { name: `p.v${version}` };
    if (i !== cut) return { name: `p.v${version}`, replaces: `p.v1.${i - 1}.0` };
    return { name: `p.v${version}`, replaces: 'p.v1.0.0', skips: [`p.v1.${i - 1}.0`] };
  });
  return worldOf({ name: 'cat', catalog: await catalogFrom({ p: { versions, channels: { a: entries } } }) });
}

test('85: each version of a long chain that is cut is asked once where it goes', async () => {
  const [before, after] = [await chain(), await chain(LENGTH / 2)];
  let asked = 0;
  const counting = (world: World): World => ({
    ...world,
    foresight: {
      ...world.foresight,
      v0: (...words) => {
        asked++;
        return world.foresight.v0(...words);
      },
    },
  });
  const bundles = [...(before.catalog.packages.get('p')?.bundles.values() ?? [])];
  const ways = bundles.map(({ name, version }) => ({
    package: 'p',
    olm: 'v0' as const,
    channel: 'a',
    installed: { name, version },
  }));
  const steps = newSteps({ before: counting(before), after: counting(after) }, ways);
  expect(steps.map(({ installed, to }) => `${installed.name} ${to.name}`)).toEqual(['p.v1.0.0 p.v1.150.0']);
  expect(asked).toBeLessThanOrEqual(2 * LENGTH);
});

test('upgrades of a chain that is turned around are not decided when they are too many', async () => {
  const count = 700;
  const versions = Array.from({ length: count }, (_, i) => `1.${i}.0`);
  const name = (i: number): string => `p.v1.${i}.0`;
  const world = async (step: 1 | -1): Promise<World> => {
    const entries = versions.map((_, i) => ({
      name: name(i),
      ...(versions[i + step] === undefined ? {} : { replaces: name(i + step) }),
    }));
    return worldOf({
      name: 'cat',
      catalog: await catalogFrom({ p: { versions, channels: { a: entries } } }),
    });
  };
  const [before, after] = [await world(-1), await world(1)];
  const ways = [...(before.catalog.packages.get('p')?.bundles.values() ?? [])].map(
    ({ name: its, version }) => ({
      package: 'p',
      olm: 'v0' as const,
      channel: 'a',
      installed: { name: its, version },
    }),
  );
  expect(() => newSteps({ before, after }, ways)).toThrow(Undecided);
  expect(newSteps({ before, after }, ways.slice(0, 100)).length).toBeGreaterThan(100);
});

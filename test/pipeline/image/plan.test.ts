import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MOST_LAYERS, planLayers } from '../../../pipeline/image/plan.ts';

const names = (count: number): string[] => Array.from({ length: count }, (_, i) => `package-${i}`);

describe('planning layers', () => {
  test('as long as they fit, each package is a layer of its own', () => {
    const options = { baseLayers: 10, fixedLayers: 2, layersPerShard: 2 } as const;
    expect(planLayers(names(44), options)).toEqual({
      shards: names(44)
        .sort()
        .map((name) => [name]),
      slots: 'packages',
    });
    expect(planLayers(names(45), options).slots).toBe(40);
  });

  test('there are never more than a runtime can stack, and no package is lost or moved twice', () => {
    const options = fc.record({
      baseLayers: fc.nat(95),
      fixedLayers: fc.constantFrom(1, 2),
      layersPerShard: fc.constantFrom(1 as const, 2 as const),
    });
    fc.assert(
      fc.property(fc.nat(400), options, (count, given) => {
        const { shards } = planLayers(names(count), given);
        expect(
          shards.length * given.layersPerShard + given.baseLayers + given.fixedLayers,
        ).toBeLessThanOrEqual(MOST_LAYERS);
        expect(shards.flat().sort()).toEqual(names(count).sort());
        expect(shards.every((shard) => shard.length > 0)).toBe(true);
      }),
    );
  });

  test('a new package joins one layer and moves no other', () => {
    const options = { baseLayers: 20, fixedLayers: 2, layersPerShard: 2 } as const;
    const before = planLayers(names(200), options).shards.map((shard) => shard.join());
    const after = planLayers([...names(200), 'zookeeper'], options).shards.map((shard) => shard.join());
    expect(after.filter((shard) => !before.includes(shard))).toHaveLength(1);
  });

  test('a base that leaves no room is refused', () => {
    expect(() => planLayers(names(1), { baseLayers: 98, fixedLayers: 1, layersPerShard: 2 })).toThrow(
      expect.objectContaining({ code: 'too-large', message: expect.stringContaining('98 layers') }),
    );
  });
});

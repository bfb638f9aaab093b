import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type LayerPlan, type Load, MOST_LAYERS, planLayers } from '../../../../pipeline/oci/image/layers.ts';

const loads = (sizes: readonly number[]): Load[] =>
  sizes.map((size, i) => ({ name: `package-${String(i).padStart(4, '0')}`, size }));
const both = (sizes: readonly number[]) => ({
  configs: loads(sizes.map((size) => Math.ceil(size / 3))),
  cache: loads(sizes),
});
const NO_BASE = { baseLayers: 0, fixedLayers: 2 };

/** Sizes as catalogs have them: many small packages, some that are a thousand times larger. */
const size = fc
  .integer({ min: 10, max: 22 })
  .chain((power) => fc.integer({ min: 2 ** power, max: 2 ** (power + 1) }));
const sizes = fc.array(size, { minLength: 1, maxLength: 300 });

const layersOf = ({ configs, cache }: LayerPlan): string[] => [
  ...configs.map((layer) => `configs ${layer.join()}`),
  ...cache.map((layer) => `cache ${layer.join()}`),
];

describe('planning layers', () => {
  test('as long as they fit, each package is a layer of its own in both trees', () => {
    const alone = loads(Array(49).fill(1000)).map(({ name }) => [name]);
    const plan = planLayers(both(Array(49).fill(1000)), NO_BASE);
    expect(plan).toEqual({ configs: alone, cache: alone, room: 0 });
    expect(planLayers(both(Array(50).fill(1000)), NO_BASE).room).toBeGreaterThan(0);
    expect(planLayers({ configs: loads(Array(98).fill(1000)), cache: [] }, NO_BASE).room).toBe(0);
  });

  test('there are never more than a runtime can stack, and no package is lost or in two layers', () => {
    fc.assert(
      fc.property(sizes, fc.nat(95), (given, baseLayers) => {
        const { configs, cache } = planLayers(both(given), { baseLayers, fixedLayers: 2 });
        expect(configs.length + cache.length + baseLayers + 2).toBeLessThanOrEqual(MOST_LAYERS);
        for (const layers of [configs, cache]) {
          expect(layers.flat().sort()).toEqual(loads(given).map(({ name }) => name));
          expect(layers.every((layer) => layer.length > 0)).toBe(true);
        }
      }),
      { numRuns: 50 },
    );
  });

  test('packages share a layer only as far as its room goes', () => {
    fc.assert(
      fc.property(sizes, (given) => {
        const { cache, room } = planLayers(both(given), NO_BASE);
        const sizeOf = new Map(loads(given).map((load) => [load.name, load.size]));
        for (const layer of cache.filter(({ length }) => length > 1)) {
          expect(layer.reduce((sum, name) => sum + (sizeOf.get(name) ?? 0), 0)).toBeLessThanOrEqual(room);
        }
      }),
      { numRuns: 50 },
    );
  });

  test('a package that grows or comes touches no layer but its own, as long as the room is the same', () => {
    const growth = fc.record({
      given: sizes,
      which: fc.nat(),
      factor: fc.double({ min: 1, max: 3, noNaN: true }),
    });
    fc.assert(
      fc.property(growth, ({ given, which, factor }) => {
        const grown = [...given];
        const at = which % (given.length + 1);
        grown[at] = Math.ceil((given[at] ?? 1000) * factor);
        const [before, after] = [planLayers(both(given), NO_BASE), planLayers(both(grown), NO_BASE)];
        fc.pre(before.room === after.room);
        const name = loads(grown)[at]?.name ?? '';
        const fresh = layersOf(after).filter((layer) => !layersOf(before).includes(layer));
        // What is new was in a layer with the package, or is that package with a layer that it came to.
        const mates = new Set(
          layersOf(before)
            .filter((layer) => layer.includes(name))
            .flatMap((layer) => layer.replace(/^\w+ /, '').split(',')),
        );
        for (const layer of fresh.filter((one) => !one.includes(name))) {
          for (const mate of layer.replace(/^\w+ /, '').split(',')) expect(mates.has(mate)).toBe(true);
        }
      }),
      { numRuns: 100 },
    );
  });

  test('a base that leaves no room is refused', () => {
    const options = { baseLayers: 97, fixedLayers: 2 };
    expect(() => planLayers(both([1]), options)).toThrow(
      expect.objectContaining({ code: 'too-large', message: expect.stringContaining('97 layers') }),
    );
    expect(planLayers({ configs: loads([1]), cache: [] }, options).configs).toHaveLength(1);
  });
});

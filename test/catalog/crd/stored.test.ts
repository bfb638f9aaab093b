import { expect, test } from 'vitest';
import type { Crd } from '../../../catalog/crd/crd.ts';
import { inheritedVersions, type Step } from '../../../catalog/crd/stored.ts';
import type { Bundle } from '../../../catalog/fbc/model.ts';

/** Bundles by name, each with its versions; the last one is stored. */
type Package = Readonly<Record<string, readonly string[] | undefined>>;

/** What each bundle inherits, written as `version: upgrade path`. */
function inherited(versions: Package, roads: readonly string[]): Record<string, string[]> {
  const bundles = new Map(Object.keys(versions).map((name) => [name, { name } as Bundle]));
  const at = (name: string): Bundle => bundles.get(name) as Bundle;
  const steps = roads.map((path): Step => ({ from: at(path[0] ?? ''), to: at(path[1] ?? '') }));
  const definition = (names: readonly string[]): Crd => ({
    name: 'as.example.com',
    scope: 'Namespaced',
    versions: names.map((name) => ({ name, served: true, storage: false, deprecated: false, schema: {} })),
    storedVersions: names.slice(-1),
    hasStatus: false,
    convertsByWebhook: false,
  });
  const of = inheritedVersions(steps, ({ name }) => {
    const names = versions[name];
    return names && [definition(names)];
  });
  return Object.fromEntries(
    [...bundles.values()].flatMap((bundle) => {
      const found = of(bundle, 'as.example.com').map(
        ({ version, path }) => `${version}: ${path.map(({ name }) => name).join('')}`,
      );
      return found.length === 0 ? [] : [[bundle.name, found]];
    }),
  );
}

test('what was stored goes along, the oldest first, by the shortest road', () => {
  const versions = { a: ['v1'], b: ['v1', 'v2'], c: ['v1', 'v2', 'v3'], d: ['v1', 'v2', 'v3'] };
  expect(inherited(versions, ['ab', 'bc', 'cd'])).toEqual({
    b: ['v1: ab'],
    c: ['v1: abc', 'v2: bc'],
    d: ['v1: abcd', 'v2: bcd'],
  });
  expect(inherited(versions, ['ab', 'bc', 'cd', 'ad'])['d']).toEqual(['v2: bcd', 'v1: ad']);
});

test('nothing is carried past a definition that lacks it, nor past what is unknown', () => {
  expect(inherited({ a: ['v1'], b: ['v2'], c: ['v1', 'v2'] }, ['ab', 'bc'])).toEqual({});
  expect(inherited({ a: ['v1'], b: undefined, c: ['v1', 'v2'] }, ['ab', 'bc'])).toEqual({});
});

test('a circle of upgrades has an end', () => {
  expect(inherited({ a: ['v2', 'v1'], b: ['v1', 'v2'] }, ['ab', 'ba'])).toEqual({
    a: ['v2: ba'],
    b: ['v1: ab'],
  });
});

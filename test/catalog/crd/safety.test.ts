import { expect, test } from 'vitest';
import { readCrd } from '../../../catalog/crd/crd.ts';
import { changeLines, ownChanges, unsafeChanges } from '../../../catalog/crd/safety.ts';
import { Undecided } from '../../../catalog/undecided.ts';
import { crdObject } from '../../fakes/crd-object.ts';

const crd = (properties: object, more: object = {}) => {
  const one = crdObject('things.example.com', { spec: { type: 'object', properties } });
  return readCrd({ ...one, spec: { ...one.spec, ...more } });
};

function lines(before: ReturnType<typeof crd>, after: ReturnType<typeof crd>) {
  if (!before || !after) throw new Error('not a CRD');
  return changeLines(ownChanges(unsafeChanges(before, after)));
}

const text = (more: object = {}) => ({ type: 'string', ...more });
const object = (properties: object) => ({ type: 'object', properties });

test('what is below a removed field goes with it, and fields beside it count', () => {
  const before = crd({ weighted: object({ custom: object({ weight: text() }) }), weight: text() });
  expect(lines(before, crd({}))).toEqual(['v1: spec.weight: removed', 'v1: spec.weighted: removed']);
  expect(lines(before, crd({ weighted: object({}), weight: text() }))).toEqual([
    'v1: spec.weighted.custom: removed',
  ]);
});

test('the same change of fields of one name is one line', () => {
  const path = (more: object) => ({ a: object({ path: text(more) }), b: object({ path: text(more) }) });
  expect(
    lines(crd({ ...path({}), c: text() }), crd({ ...path({ minLength: 1 }), c: text({ minLength: 1 }) })),
  ).toEqual([
    'v1: spec.a.path and 1 more field of this name: minimum constraint added when there was none previously: 1',
    'v1: spec.c: minimum constraint added when there was none previously: 1',
  ]);
});

test('what OLM v1 does not compare, and what concerns the whole CRD', () => {
  const rules = text({ 'x-kubernetes-validations': [{ rule: 'true' }] });
  expect(lines(crd({ a: text() }), crd({ a: rules }))).toEqual([
    expect.stringMatching(/^v1: spec\.a: changed in a way that OLM v1 does not compare: XValidations/),
  ]);
  expect(lines(crd({}), crd({}, { scope: 'Cluster' }))).toEqual([
    'scope: scope changed: "Namespaced" -> "Cluster"',
  ]);
});

/** How many keys are read to compare two fields that are nested in this many alternatives, and differ at the bottom. */
function readsOf(keyword: string, depth: number): number {
  let reads = 0;
  const counted = (value: object): object =>
    new Proxy(value, {
      ownKeys: (target) => {
        const keys = Reflect.ownKeys(target);
        reads += keys.length;
        return keys;
      },
    });
  const nested = (type: string): object =>
    Array.from({ length: depth }).reduce<object>(
      (below) => counted({ type: 'object', [keyword]: [below] }),
      counted({ type }),
    );
  expect(lines(crd({ a: nested('string') }), crd({ a: nested('integer') }))).not.toEqual([]);
  return reads;
}

test.each(['anyOf', 'allOf'])(
  '110: the reads of nested %s grow with its depth, not with the square',
  (keyword) => {
    const reads = readsOf(keyword, 40);
    expect(reads).toBeGreaterThan(0);
    expect(readsOf(keyword, 80)).toBeLessThan(2.3 * reads);
  },
);

/** A field with many others in it, below long names. */
function farAway(type: string, count: number): object {
  const fields = Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, { type }]));
  return Array.from({ length: 20 }).reduce<object>(
    (below) => object({ ['n'.repeat(200)]: below }),
    object(fields),
  );
}

test('110: more unsafe changes than fit into memory are not listed, and nothing is decided', () => {
  const compared = (count: number) =>
    lines(crd({ a: farAway('string', count) }), crd({ a: farAway('integer', count) }));
  expect(compared(1000)).toHaveLength(1000);
  expect(() => compared(1100)).toThrow(Undecided);
});

test('110: the parts of all served versions together are limited', () => {
  const served = (field: string) => {
    const fields = Object.fromEntries(
      Array.from({ length: 1000 }, (_, i) => [`f${i}`, { description: field }]),
    );
    const versions = Array.from({ length: 50 }, (_, i) => ({
      name: `v${i + 1}`,
      served: true,
      storage: i === 0,
      schema: { openAPIV3Schema: object(structuredClone(fields)) },
    }));
    return crd({}, { versions });
  };
  expect(() => lines(served('a'), served('b'))).toThrow(Undecided);
});

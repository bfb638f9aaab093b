import { expect, test } from 'vitest';
import { readCrd } from '../../../catalog/crd/crd.ts';
import { changeLines, ownChanges, unsafeChanges } from '../../../catalog/crd/safety.ts';
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

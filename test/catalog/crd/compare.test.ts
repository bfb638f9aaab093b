import { expect, test } from 'vitest';
import { readCrd } from '../../../catalog/crd/crd.ts';
import { legacyChanges } from '../../../catalog/crd/legacy.ts';
import { unsafeChanges } from '../../../catalog/crd/safety.ts';
import { crdObject } from '../../fakes/crd-object.ts';

function crdWith(field: object): NonNullable<ReturnType<typeof readCrd>> {
  const crd = readCrd(crdObject('as.example.com', { a: { type: 'integer', ...field } }));
  if (!crd) throw new Error('not a CRD');
  return crd;
}

function textsOf(before: object, after: object): string[] {
  const [older, newer] = [crdWith(before), crdWith(after)];
  return [
    ...unsafeChanges(older, newer).map(({ text }) => text),
    ...(['v1.3', 'v0.17'] as const).flatMap((release) =>
      legacyChanges(older, newer, release).map(({ message }) => message),
    ),
  ];
}

test('maximum and minimum are printed as Go prints floats, the other bounds as integers', () => {
  const floats = textsOf({ maximum: 8589934588 }, { maximum: 1000000 });
  expect(floats).toHaveLength(3);
  for (const text of floats) expect(text).toMatch(/8\.589934588e\+09 (?:->|to) 1e\+06$/);
  for (const text of textsOf({}, { minimum: 100000 })) expect(text).toMatch(/100000(?: added|$)/);
  const integers = textsOf({ maxLength: 8589934588 }, { maxLength: 1000000 });
  expect(integers).toHaveLength(3);
  for (const text of integers) expect(text).toMatch(/8589934588 (?:->|to) 1000000$/);
});

test('a bound that gives more room is safe', () => {
  expect(textsOf({ maximum: 1000000 }, { maximum: 8589934588 })).toEqual([]);
  expect(textsOf({ minLength: 5 }, { minLength: 4 })).toEqual([]);
});

test('what means the same as nothing is no change, at any depth', () => {
  expect(textsOf({ anyOf: [{ type: 'string' }] }, { anyOf: [{ type: 'string', nullable: false }] })).toEqual(
    [],
  );
  expect(textsOf({ not: { properties: { b: {} } } }, { not: { properties: { b: { title: '' } } } })).toEqual(
    [],
  );
  expect(textsOf({ not: { type: 'string' } }, { not: { type: 'number' } })).not.toEqual([]);
});

test('of the alternatives of oneOf, descriptions may change', () => {
  const crd = (oneOf: object[]): object => ({ type: 'integer', oneOf });
  const changes = (before: object, after: object): string[] =>
    unsafeChanges(crdWith(before), crdWith(after)).map(({ text }) => text);
  expect(changes(crd([{ minimum: 1 }]), crd([{ minimum: 1, description: 'x' }]))).toEqual([]);
  expect(changes(crd([{ minimum: 1 }]), {})).toEqual([
    'existingFieldRemoval: removed field : v1.^.a.oneOf[0]',
    'v1: ^.a: oneOf: allowed oneOf schemas removed: [{"minimum":1}]',
  ]);
});

test('OLM 0.17 leaves out the first required fields; a hint names them', () => {
  const [change] = legacyChanges(crdWith({}), crdWith({ required: ['b', 'c'] }), 'v0.17');
  expect(change?.message).toContain('previously no required fields existed: []');
  expect(change?.hint).toBe('new required fields: b, c');
  const [added] = legacyChanges(crdWith({ required: ['b'] }), crdWith({ required: ['b', 'c'] }), 'v0.17');
  expect(added?.message).toContain('new required fields added: [c]');
  expect(added?.hint).toBeUndefined();
});

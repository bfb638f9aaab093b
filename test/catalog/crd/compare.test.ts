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

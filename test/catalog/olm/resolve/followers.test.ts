import fc from 'fast-check';
import { expect, test } from 'vitest';
import { edgeField } from '../../../../catalog/fbc/edge.ts';
import type { Entry } from '../../../../catalog/fbc/model.ts';
import { firstFollower } from '../../../../catalog/olm/resolve/followers.ts';
import { firstHolder, satisfies } from '../../../../catalog/version/satisfies.ts';
import { parseVersion, tryParseRange, type Version } from '../../../../catalog/version/version.ts';
import { runs } from '../../../fakes/runs.ts';
import { VERSIONS } from '../universe.ts';

const comparator = fc
  .tuple(fc.constantFrom('>=', '>', '<', '<=', '=', '!='), fc.constantFrom(...VERSIONS))
  .map(([operator, version]) => operator + version);
const range = fc
  .array(fc.array(comparator, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 })
  .map((alternatives) => alternatives.map((all) => all.join(' ')).join(' || '));
const anyVersion = fc.oneof(
  fc.constantFrom(...VERSIONS),
  fc.tuple(fc.nat(3), fc.nat(3), fc.nat(3)).map((parts) => parts.join('.')),
);

test('finds the first range that holds a version, as asking one after the other does', () => {
  fc.assert(
    fc.property(fc.array(fc.option(range), { maxLength: 8 }), anyVersion, (texts, version) => {
      const ranges = texts.map((text) => (text === null ? undefined : tryParseRange(text)));
      const asked = ranges.findIndex((one) => one && satisfies(parseVersion(version), one));
      expect(firstHolder(ranges)(parseVersion(version))).toBe(asked);
    }),
    runs(300),
  );
});

test('finds the first entry that follows an installation by any field', () => {
  const name = fc.constantFrom('a', 'b', 'c');
  const entry = fc.record({
    name,
    replaces: fc.oneof(fc.constant(''), name),
    skips: fc.array(name, { maxLength: 2 }),
    skipRange: fc.oneof(fc.constant(''), range, fc.constant('none')),
    index: fc.constant(0),
  });
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 6 }), name, anyVersion, (entries: Entry[], from, version) => {
      const installed = { name: from, version: parseVersion(version) };
      const asked = entries.findIndex((one) => edgeField(one, installed) !== undefined);
      expect(firstFollower(entries)(installed)).toBe(asked);
    }),
  );
});

test('thousands of ranges over all that came before cost no square of them', () => {
  const entries = (count: number): Entry[] =>
    Array.from({ length: count }, (_, i) => ({
      name: `p.v1.${i}.0`,
      replaces: '',
      skips: [],
      skipRange: `>=1.0.0 <1.${i}.0`,
      index: i,
    }));
  // How often the versions that are asked for are looked at: what comparing them costs.
  const looks = (count: number): number => {
    const first = firstFollower(entries(count));
    let looked = 0;
    const counting: ProxyHandler<Version> = {
      get: (version, key) => {
        looked++;
        return Reflect.get(version, key);
      },
    };
    for (let i = 0; i < count; i++) {
      first({ name: '', version: new Proxy(parseVersion(`1.${i}.0`), counting) });
    }
    return looked;
  };
  // Eight times the entries: a square would be 64 times as much.
  expect(looks(8000) / looks(1000)).toBeLessThan(12);
});

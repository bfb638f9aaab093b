import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hasChain } from '../../../catalog/fbc/channel.ts';
import { edgeField } from '../../../catalog/fbc/edge.ts';
import type { Channel, Entry } from '../../../catalog/fbc/model.ts';
import { basedOn, namingOf } from '../../../catalog/fbc/naming.ts';
import { withEntries } from '../../../catalog/olm/foresight/fix-trial.ts';
import { firstFollower, firstOtherFollower, followersOf } from '../../../catalog/olm/resolve/followers.ts';
import { parseVersion } from '../../../catalog/version/version.ts';
import { runs } from '../../fakes/runs.ts';

const NAMES = ['a', 'b', 'c', 'd'];
const name = fc.constantFrom(...NAMES);
const entry: fc.Arbitrary<Entry> = fc.record({
  name,
  replaces: fc.oneof(fc.constant(''), name),
  skips: fc.array(name, { maxLength: 4 }),
  skipRange: fc.constant(''),
  index: fc.constant(0),
});
const entries = fc.array(entry, { maxLength: 5 });

const told = (list: readonly Entry[]): unknown => {
  const { replacing, skipping } = namingOf(list);
  return ['', ...NAMES].map((one) => [one, replacing(one), skipping(one)]);
};

describe('namingOf', () => {
  test('an edited list has the naming that it has alone', () => {
    fc.assert(
      fc.property(entries, fc.array(fc.option(entry), { maxLength: 5 }), entries, (base, edits, more) => {
        const edited = [...base.map((one, i) => edits[i] ?? one), ...more];
        const alone = [...edited];
        basedOn(edited, base);
        expect(told(edited)).toEqual(told(alone));
      }),
      runs(300),
    );
  });

  test('followers of the entries of several lists are those of one list of them all', () => {
    fc.assert(
      fc.property(entries, entries, name, (some, others, from) => {
        const all = [...others, ...some].reverse();
        const installed = { name: from, version: undefined };
        const asked = [all.findIndex((one) => one.replaces === from || one.skips.includes(from))];
        expect([firstFollower(all, [some, others])(installed)]).toEqual(asked);
        expect(followersOf(all, [some, others])(installed)).toEqual(followersOf(all)(installed));
      }),
      runs(300),
    );
  });

  test('the first other follower is the first entry of another name with an edge', () => {
    const ranged = fc
      .tuple(entry, fc.constantFrom('', '>=0.1.0', '>=2.0.0'))
      .map(([one, skipRange]) => ({ ...one, skipRange }));
    const lists = fc.array(ranged, { maxLength: 5 });
    fc.assert(
      fc.property(lists, lists, name, (some, others, from) => {
        const all = [...others, ...some].reverse();
        const installed = { name: from, version: parseVersion('1.0.0') };
        const expected = all.findIndex((one) => one.name !== from && edgeField(one, installed) !== undefined);
        expect(firstOtherFollower(all, [some, others])(installed)).toBe(expected);
      }),
      runs(300),
    );
  });
});

/** A list in which each entry skips all earlier ones, and how many skipped names were looked at. */
function skippingAll(count: number): { readonly list: readonly Entry[]; readonly looks: () => number } {
  let looked = 0;
  const counted = (names: readonly string[]): readonly string[] =>
    new Proxy(names, {
      get: (target, key) => {
        if (typeof key === 'string' && /^[0-9]+$/.test(key)) looked++;
        return Reflect.get(target, key);
      },
    });
  const list = Array.from({ length: count }, (_, index): Entry => {
    const skips = counted(Array.from({ length: index }, (__, i) => `p.v1.${i}.0`));
    return { name: `p.v1.${index}.0`, replaces: '', skips, skipRange: '', index };
  });
  return { list, looks: () => looked };
}

describe('cost, in names that are looked at', () => {
  const skipped = (200 * 199) / 2;

  test('all who ask about one channel read its skips once', () => {
    const { list, looks } = skippingAll(200);
    const channel = { entries: list } as Channel;
    hasChain(channel);
    for (const { name: from } of list) {
      const installed = { name: from, version: undefined };
      firstFollower(list.toReversed(), [list])(installed);
      followersOf(list.toReversed(), [list])(installed);
    }
    expect(looks()).toBe(skipped);
  });

  test('trying a channel with one other entry reads the skips of that entry alone', () => {
    const { list, looks } = skippingAll(200);
    const channel = { entries: list } as Channel;
    hasChain(channel);
    const before = looks();
    const edited = list.map((one) => (one.index === 100 ? { ...one, replaces: 'p.v1.0.0' } : one));
    hasChain(withEntries(channel, edited));
    expect(looks() - before).toBeLessThanOrEqual(2 * 100);
  });
});

/** Publishers and the reconciler that die, stop or get no answer: every interleaving of what the real functions do. */
import { expect, test } from 'vitest';
import { digestOf, type Exploration, explore } from '../fakes/publishers.ts';

test.each([
  [2, 2, false],
  [2, 2, true],
  [3, 1, true],
  [4, 0, true],
  [4, 1, true],
])(
  '%i publishers and the reconciler, %i things that go wrong (reduced: %s): the tag never goes back, and ends at the newest commit',
  async (publishers, faults, reduced) => {
    const found = await explore({ publishers, reconciles: true, faults, reduced });
    expect([...found.backwards]).toEqual([]);
    expect([...found.ends]).toEqual([digestOf(publishers)]);
    console.log(
      `${publishers} publishers, ${faults}, ${reduced}: ${found.states} states, ${found.transitions} transitions`,
    );
  },
  600_000,
);

test.each<Partial<Exploration>>([
  {},
  { readOnce: true },
  { checkThenPut: true },
  { leaseless: true },
  { publishers: 3, readOnce: true, faults: 0 },
])(
  'with things that go wrong, a reduced search finds what the whole one finds: %j',
  async (how) => {
    const of = { publishers: 2, reconciles: how.publishers !== 3, faults: 1, ...how };
    const [whole, reduced] = [await explore(of), await explore({ ...of, reduced: true })];
    expect([...reduced.backwards].sort()).toEqual([...whole.backwards].sort());
    expect([...reduced.ends].sort()).toEqual([...whole.ends].sort());
    expect(reduced.states).toBeLessThan(whole.states);
  },
  600_000,
);

test('with four publishers, a claim that is not read again under the lease moves the tag back', async () => {
  const { backwards } = await explore({
    publishers: 4,
    reconciles: true,
    faults: 0,
    reduced: true,
    readOnce: true,
  });
  expect(backwards).toContain(`${digestOf(4)} to ${digestOf(1)}`);
}, 600_000);

test('with a claim that is checked and then put, any of three publishers may be the last', async () => {
  const { ends } = await explore({ publishers: 3, faults: 0, checkThenPut: true });
  expect(ends).toContain(digestOf(3));
  expect(ends.size).toBeGreaterThan(1);
}, 600_000);

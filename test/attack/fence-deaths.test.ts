/** Publishers and the reconciler that die, stop or get no answer: every interleaving of what the real functions do. */
import { expect, test } from 'vitest';
import { digestOf, explore } from '../fakes/publishers.ts';

test.each([
  [2, true, 1],
  [2, true, 2],
  [3, false, 1],
  [4, false, 0],
])(
  '%i publishers, a reconciler: %s, %i things that go wrong: the tag never goes back, and ends at the newest commit',
  async (publishers, reconciles, faults) => {
    const { states, transitions, ends, backwards } = await explore({ publishers, reconciles, faults });
    expect([...backwards]).toEqual([]);
    expect([...ends]).toEqual([digestOf(publishers)]);
    console.log(
      `${publishers} publishers, ${reconciles}, ${faults}: ${states} states, ${transitions} transitions`,
    );
  },
  600_000,
);

test('with a claim that is checked and then put, any of three publishers may be the last', async () => {
  const { ends } = await explore({ publishers: 3, faults: 0, checkThenPut: true });
  expect(ends).toContain(digestOf(3));
  expect(ends.size).toBeGreaterThan(1);
}, 600_000);

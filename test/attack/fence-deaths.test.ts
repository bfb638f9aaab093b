/** Four publishers that die and are delivered again: every interleaving of what the real functions do. */
import { expect, test } from 'vitest';
import { digestOf, explore } from '../fakes/publishers.ts';

test.each([
  [3, 4],
  [4, 1],
  [4, 2],
])(
  '%i publishers, %i deaths with redelivery: the tag ends at the newest commit',
  async (publishers, deaths) => {
    const { states, ends } = await explore({ publishers, deaths });
    expect([...ends]).toEqual([digestOf(publishers)]);
    console.log(`${publishers} publishers, ${deaths} deaths: ${states} states`);
  },
  600_000,
);

test('with a claim that is checked and then put, any of three publishers may be the last', async () => {
  const { ends } = await explore({ publishers: 3, deaths: 1, checkThenPut: true });
  expect(ends).toContain(digestOf(3));
  expect(ends.size).toBeGreaterThan(1);
}, 600_000);

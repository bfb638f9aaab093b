/** Every interleaving of publishers, by a search over the states that the real functions can be in. */
import { describe, expect, test } from 'vitest';
import { digestOf, explore } from '../../fakes/publishers.ts';

describe('publishers of commits 1 < 2 < …, in any order, at any pace', () => {
  test.each([
    [2, 0],
    [3, 0],
    [2, 2],
    [3, 2],
    [4, 0],
  ])(
    '%i publishers, %i deaths with redelivery: the tag ends at the newest commit',
    async (publishers, deaths) => {
      const { states, ends } = await explore({ publishers, deaths });
      expect([...ends]).toEqual([digestOf(publishers)]);
      expect(states).toBeGreaterThan(20);
    },
  );

  test('a claim that is checked and then put, not both at once, ends at an older commit', async () => {
    const { ends } = await explore({ publishers: 2, deaths: 0, checkThenPut: true });
    expect([...ends].sort()).toEqual([digestOf(1), digestOf(2)]);
  });

  test('a tag that is moved without being looked at again ends at an older commit', async () => {
    const { ends } = await explore({ publishers: 2, deaths: 0, lookOnce: true });
    expect([...ends].sort()).toEqual([digestOf(1), digestOf(2)]);
  });
});

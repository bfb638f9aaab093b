/** Every interleaving of publishers, by a search over the states that the real functions can be in. */
import { describe, expect, test } from 'vitest';
import { gitFence } from '../../../pipeline/publish/fence-git.ts';
import { compactSet } from '../../fakes/compact-set.ts';
import { digestOf, type Exploration, explore } from '../../fakes/publishers.ts';

describe('publishers of commits 1 < 2 < … and the reconciler, in any order, at any pace', () => {
  test.each([
    [2, 0, false],
    [2, 2, true],
    [3, 0, true],
  ])(
    '%i publishers, %i deaths, lost answers or stops (reduced: %s): the tag never goes back, and ends at the newest commit',
    async (publishers, faults, reduced) => {
      const { states, ends, backwards } = await explore({ publishers, reconciles: true, faults, reduced });
      expect([...backwards]).toEqual([]);
      expect([...ends]).toEqual([digestOf(publishers)]);
      expect(states).toBeGreaterThan(200);
    },
    60_000,
  );

  // What is sound finds nothing either way; what is not is found by both.
  test.each<Omit<Exploration, 'publishers' | 'faults'>>([
    {},
    { reconciles: true },
    { reconciles: true, readOnce: true },
    { reconciles: true, leaseless: true },
    { reconciles: true, checkThenPut: true },
    { reconciles: true, lookOnce: true },
  ])(
    'a search that takes states which go on alike for one finds what the whole one finds: %j',
    async (how) => {
      const whole = await explore({ publishers: 2, faults: 0, ...how });
      const reduced = await explore({ publishers: 2, faults: 0, reduced: true, ...how });
      expect([...reduced.backwards].sort()).toEqual([...whole.backwards].sort());
      expect([...reduced.ends].sort()).toEqual([...whole.ends].sort());
      expect(reduced.states).toBeLessThan(whole.states);
    },
  );

  test('a search that keeps 64 bits of each state finds as many states as one that keeps their texts', () => {
    const [compact, whole] = [compactSet(), new Set<string>()];
    let differing = 0;
    for (let n = 0; n < 300_000; n++) {
      const text = `state ${n % 200_000} of a search, 1-${(n * 7919) % 200_000}`;
      if (compact.add(text) === whole.has(text)) differing++;
      whole.add(text);
    }
    expect([differing, compact.size()]).toEqual([0, whole.size]);
  });

  test('a claim that is not read again under the lease moves the tag back', async () => {
    const { backwards } = await explore({ publishers: 2, faults: 0, reconciles: true, readOnce: true });
    expect([...backwards]).toEqual([`${digestOf(2)} to ${digestOf(1)}`]);
  });

  test('without a lease the tag goes back', async () => {
    const { backwards } = await explore({ publishers: 2, faults: 0, reconciles: true, leaseless: true });
    expect([...backwards]).toEqual([`${digestOf(2)} to ${digestOf(1)}`]);
  });

  test('a claim that is checked and then put, not both at once, ends at an older commit', async () => {
    const { ends } = await explore({ publishers: 2, faults: 0, checkThenPut: true });
    expect([...ends].sort()).toEqual([digestOf(1), digestOf(2)]);
  });

  test('a tag that is moved without being looked at again ends at an older commit', async () => {
    const { ends } = await explore({ publishers: 2, faults: 0, lookOnce: true });
    expect([...ends].sort()).toEqual([digestOf(1), digestOf(2)]);
  });
});

test('a fence is at a URL of HTTP or of a file; a text that has one in it is refused with a hint', () => {
  const settings = {};
  for (const repository of ['http://git.example.com/fence', 'https://git.example.com/fence', 'file:///fence'])
    expect(() => gitFence({ repository, settings })).not.toThrow();
  expect(() => gitFence({ repository: 'git+https://git.example.com/fence', settings })).toThrow(
    expect.objectContaining({ code: 'usage', hint: expect.stringContaining('https://') }),
  );
});

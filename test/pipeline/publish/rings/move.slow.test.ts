/** Every interleaving of merges, lookers, holds and time, by a search over the states that the real functions can be in. */
import { describe, expect, test } from 'vitest';
import { exploreRings, type RingExploration } from '../../../fakes/ring-model.ts';

const ONE: RingExploration = { rings: 2, commits: 1, clocks: [0], after: 2, hours: 2, looks: 2, deaths: 0 };
/** Larger searches, of minutes. */
const LARGE = process.env['PORTOLAN_RINGS'] !== undefined;

describe('rings, in any order, at any pace', () => {
  test.each<[string, RingExploration]>([
    ['one looker that may die', { ...ONE, deaths: 1 }],
    ['a commit that somebody holds at any time', { ...ONE, held: 1 }],
    ['a clock that is behind', { ...ONE, clocks: [-1], hours: 3 }],
    ['two lookers, one of whose clocks is ahead by an hour', { ...ONE, clocks: [0, 1], hours: 1, looks: 1 }],
    ['two commits', { ...ONE, commits: 2, hours: 3 }],
    ['three rings', { ...ONE, rings: 3, hours: 4, looks: 3 }],
    ...(LARGE
      ? ([['two lookers that may die', { ...ONE, clocks: [0, 1], looks: 1, deaths: 1 }]] satisfies [
          string,
          RingExploration,
        ][])
      : []),
  ])(
    '%s: no ring goes back, gets ahead of its predecessor, opens early or for what is held',
    async (_, how) => {
      const { states, transitions, wrong, ends } = await exploreRings(how);
      if (LARGE) console.log(states, 'states', transitions, 'transitions');
      expect([...wrong]).toEqual([]);
      // Some orders reach the last ring, and others do not look in time.
      expect([...ends].sort()).toEqual(Array.from({ length: how.commits + 1 }, (_, n) => n));
    },
    600_000,
  );

  test('a record that is written over whatever stands there loses a hold', async () => {
    const { wrong } = await exploreRings({ ...ONE, held: 1, broken: 'record' });
    expect([...wrong]).toEqual(['a hold was lost']);
  });

  if (LARGE)
    test('a claim that is written over whatever stands there moves a ring back', {
      timeout: 600_000,
    }, async () => {
      const how: RingExploration = {
        ...ONE,
        commits: 2,
        clocks: [0, 0],
        after: 0,
        hours: 0,
        looks: 1,
        broken: 'claims',
      };
      const { wrong } = await exploreRings(how);
      expect([...wrong]).toEqual(['ring 1 went back']);
    });
});

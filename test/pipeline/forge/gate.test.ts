/** Who stands behind a pull request, by its event and by the forge. */
import { expect, test } from 'vitest';
import type { GateForge, PullRequest } from '../../../pipeline/forge/forge.ts';
import { peopleOf } from '../../../pipeline/forge/gate.ts';
import type { Repository } from '../../../pipeline/git/repository.ts';
import { PEOPLE } from '../../fakes/gate.ts';

const HEAD = 'a'.repeat(40);

test.each([
  ['its own pull request and head', 7, HEAD, PEOPLE.bob],
  ['another pull request with that head', 8, HEAD, PEOPLE.carol],
  ['an older head', 7, 'b'.repeat(40), PEOPLE.carol],
])('an event says who pushed %s', async (_, number, head, expected) => {
  const pull = { number: 7, author: PEOPLE.dan, head: { commit: HEAD }, labels: [], draft: false };
  const forge = { readPusher: async () => PEOPLE.carol } as unknown as GateForge;
  const { pusher } = await peopleOf(forge, pull as unknown as PullRequest, {
    base: 'c'.repeat(40),
    repository: {} as Repository,
    reviews: [],
    commits: [],
    pushed: { by: PEOPLE.bob, head, number },
  });
  expect(pusher).toEqual(expected);
});

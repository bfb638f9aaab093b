/** A status that somebody else set in Portolan's name is told from Portolan's own. */
import { expect, test } from 'vitest';
import type { SetStatus } from '../../../pipeline/forge/forge.ts';
import { isForeign } from '../../../pipeline/forge/status.ts';

const [SELF, OTHER] = [500, 12];

/** @param newestFirst account and state of each */
function foreign(newestFirst: readonly (readonly [number | undefined, string])[], self?: number) {
  const statuses = newestFirst.map(
    ([by, state], i): SetStatus => ({ id: 100 - i, by, state, link: undefined }),
  );
  return isForeign({ readStatuses: async () => statuses, readSelf: async () => self }, 'a'.repeat(40));
}

test.each([
  ['an own one', [[SELF, 'success']], false],
  [
    'another state',
    [
      [OTHER, 'success'],
      [SELF, 'failure'],
    ],
    true,
  ],
  [
    'nobody that is known',
    [
      [undefined, 'success'],
      [SELF, 'failure'],
    ],
    true,
  ],
  [
    'the same state',
    [
      [OTHER, 'failure'],
      [SELF, 'failure'],
    ],
    false,
  ],
  ['no own one', [[OTHER, 'success']], true],
  ['none', [], false],
] as const)('by %s: %j is foreign: %s', async (_, statuses, expected) => {
  expect(await foreign(statuses, SELF)).toBe(expected);
});

test('where the own account is not known, nothing is told', async () => {
  expect(
    await foreign([
      [OTHER, 'success'],
      [SELF, 'failure'],
    ]),
  ).toBe(false);
});

test('two that set the same name do not go on for ever', async () => {
  const rounds = (count: number) =>
    Array.from(
      { length: count },
      () =>
        [
          [OTHER, 'success'],
          [SELF, 'failure'],
          [SELF, 'pending'],
        ] as const,
    ).flat();
  expect(await foreign(rounds(10), SELF)).toBe(true);
  expect(await foreign(rounds(11), SELF)).toBe(false);
});

test('each own status that follows a foreign one counts once, however many foreign ones there are', async () => {
  const round = [
    [OTHER, 'success'],
    [OTHER, 'pending'],
    [SELF, 'failure'],
  ] as const;
  expect(await foreign(Array(10).fill(round).flat(), SELF)).toBe(true);
});

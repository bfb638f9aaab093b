/** A report holds as long as the pull requests, their reviews and the tips of their branches are what it was made from. */
import { describe, expect, test } from 'vitest';
import type { GivenReview } from '../../../pipeline/check/authority/approval.ts';
import type { CheckReport } from '../../../pipeline/check/report.ts';
import type { OpenPull } from '../../../pipeline/forge/forge.ts';
import { basisOf, freshnessOf } from '../../../pipeline/forge/freshness.ts';
import { GREEN } from '../../fakes/report.ts';

const HEAD = 'b'.repeat(40);
const TIP = 'a'.repeat(40);
const CAROL = { login: 'carol', id: 3 };
const PULL: OpenPull = {
  number: 7,
  author: { login: 'bob', id: 2 },
  draft: false,
  labels: [],
  base: { branch: 'main' },
  head: { commit: HEAD },
};
const APPROVED: GivenReview = { author: CAROL, state: 'approved', commit: HEAD };

/** The report of a pull request with these reviews. */
function reportOf(pull: OpenPull, reviews: readonly GivenReview[] = [], more: object = {}): CheckReport {
  const { number, base } = pull;
  const request = { ...GREEN.request, number, branch: base.branch, basis: basisOf(pull, reviews), ...more };
  return { ...GREEN, request: request as NonNullable<CheckReport['request']>, base: TIP };
}

interface State {
  readonly open?: readonly OpenPull[];
  readonly reviews?: readonly GivenReview[];
  readonly tip?: string;
}

/** What is true now, as a forge gives it by one request, by several, or by several since the one has failed. */
function forgesOf({ open = [PULL], reviews = [], tip = TIP }: State) {
  const apart = {
    readOpen: async () => [...open],
    readReviews: async (number: number) => (number === PULL.number ? [...reviews] : []),
    readTip: async (branch: string) => (branch === 'main' ? tip : TIP),
  };
  const refused = (): never => {
    throw new Error('asked twice');
  };
  const together = {
    readOpen: refused,
    readReviews: refused,
    readTip: refused,
    readAgain: async (numbers: readonly number[], branches: readonly string[]) => ({
      open,
      reviews: new Map(
        await Promise.all(numbers.map(async (number) => [number, await apart.readReviews(number)] as const)),
      ),
      tips: new Map(
        await Promise.all(branches.map(async (branch) => [branch, await apart.readTip(branch)] as const)),
      ),
    }),
  };
  return { together, apart, 'apart, after the one failed': { ...apart, readAgain: async () => undefined } };
}

const OTHER: OpenPull = { ...PULL, number: 8, base: { branch: 'release' } };

describe.each(['together', 'apart', 'apart, after the one failed'] as const)('read %s', (way) => {
  const freshness = (state: State, reports = [reportOf(PULL)]) =>
    freshnessOf(forgesOf(state)[way], HEAD, reports);

  test('nothing has changed', async () => {
    expect(await freshness({})).toEqual({ kind: 'current' });
    const reviews: GivenReview[] = [APPROVED];
    expect(await freshness({ reviews }, [reportOf(PULL, reviews)])).toEqual({ kind: 'current' });
    const reports = [reportOf(OTHER), reportOf(PULL)];
    expect(await freshness({ open: [PULL, OTHER] }, reports)).toEqual({ kind: 'current' });
  });

  test.each<[string, State]>([
    ['a review', { reviews: [APPROVED] }],
    ['a draft', { open: [{ ...PULL, draft: true }] }],
    ['a hold with a reason', { open: [{ ...PULL, labels: ['Hold (until Friday)'] }] }],
    ['a hold', { open: [{ ...PULL, labels: ['do-not-merge/hold'] }] }],
    ['another base', { open: [{ ...PULL, base: { branch: 'release' } }] }],
    ['another author', { open: [{ ...PULL, author: CAROL }] }],
  ])('%s is a change', async (_, state) => {
    expect(await freshness(state)).toEqual({ kind: 'changed', why: '#7 has changed' });
  });

  test('a comment and another label are none', async () => {
    const reviews: GivenReview[] = [{ ...APPROVED, state: 'commented' }];
    const open = [{ ...PULL, labels: ['bug', 'holding', 'wipe'] }];
    expect(await freshness({ reviews, open })).toEqual({ kind: 'current' });
  });

  test('new commits of the base branch are a change', async () => {
    const moved = { kind: 'changed', why: 'main has new commits' };
    expect(await freshness({ tip: 'c'.repeat(40) })).toEqual(moved);
  });

  test('a head that no open pull request has is gone', async () => {
    expect(await freshness({ open: [] })).toEqual({ kind: 'gone' });
    const open = [{ ...PULL, head: { commit: 'c'.repeat(40) } }];
    expect(await freshness({ open })).toEqual({ kind: 'gone' });
  });

  test('a pull request more or fewer with the head is a change, unless its branch has no gate', async () => {
    const others = { kind: 'changed', why: 'other pull requests have the same head' };
    expect(await freshness({ open: [PULL, OTHER] })).toEqual(others);
    expect(await freshness({ open: [PULL] }, [reportOf(PULL), reportOf(OTHER)])).toEqual(others);
    const ungated = [{ number: 8, branch: 'release' }];
    const reports = [reportOf(PULL, [], { ungated })];
    expect(await freshness({ open: [PULL, OTHER] }, reports)).toEqual({ kind: 'current' });
    const gated = { ...OTHER, base: { branch: 'main' } };
    expect(await freshness({ open: [PULL, gated] }, reports)).toEqual(others);
  });

  test('a group of a queue never changes', async () => {
    const { request: _, ...group } = GREEN;
    expect(await freshness({ open: [] }, [group])).toEqual({ kind: 'current' });
  });
});

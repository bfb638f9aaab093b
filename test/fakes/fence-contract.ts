/** What every place of a fence must do, whoever keeps it: two views of one place, as two machines have them. */
import { expect } from 'vitest';
import type { Fence } from '../../pipeline/ports.ts';
import { claimTag, type Fencing, moveFollowers } from '../../pipeline/publish/fence.ts';

export type TwoViews = readonly [Fence, Fence];

export const NAME = 'v4.20/0123456789abcdef';

export function commitOf(n: number): string {
  return n.toString(16).padStart(40, '0');
}

export function digestOf(n: number): string {
  return `sha256:${n.toString(16).padStart(64, '0')}`;
}

/** Commits by number: a lower one is an ancestor of a higher one. */
export const isAncestor = async (a: string, b: string): Promise<boolean> => a <= b;

/** A claim is replaced only by who has read it. */
export async function expectConditional([one, two]: TwoViews): Promise<void> {
  expect(await one.read(NAME)).toBeUndefined();
  const made = { epoch: 0, commit: commitOf(1), digest: digestOf(1) };
  const first = await one.replace(NAME, made, undefined);
  expect(first).toMatchObject({ ...made, sequence: 1 });
  expect(await two.read(NAME)).toEqual(first);
  expect(await two.replace(NAME, { ...made, commit: commitOf(2) }, undefined)).toBeUndefined();
  const second = await two.replace(NAME, { ...made, commit: commitOf(2) }, first);
  expect(second).toMatchObject({ commit: commitOf(2), sequence: 2 });
  expect(await one.replace(NAME, { ...made, commit: commitOf(3) }, first)).toBeUndefined();
  expect(await one.read(NAME)).toEqual(second);
  expect(await one.read('v4.19/0123456789abcdef')).toBeUndefined();
}

/** Of eight at once one has the lease; it is given back, or taken over from who has it as it was read. */
export async function expectOneTurn(views: TwoViews): Promise<void> {
  const [one, two] = views;
  expect(await one.readLease(NAME)).toBeUndefined();
  const taken = await Promise.all(
    Array.from({ length: 8 }, (_, i) => views[i % 2 === 0 ? 0 : 1].replaceLease(NAME, 1000 + i, undefined)),
  );
  const [held, ...others] = taken.filter((lease) => lease !== undefined);
  expect(others).toEqual([]);
  expect(held).toMatchObject({ turn: 1 });
  expect(await two.readLease(NAME)).toEqual(held);
  const over = await two.replaceLease(NAME, 2000, held);
  expect(over).toMatchObject({ turn: 2, until: 2000 });
  expect(await one.replaceLease(NAME, 0, held), 'who held it before cannot give it back').toBeUndefined();
  expect(await two.replaceLease(NAME, 0, over)).toMatchObject({ turn: 3, until: 0 });
  expect(await one.readLease(NAME)).toMatchObject({ turn: 3, until: 0 });
  expect(await one.read(NAME), 'a lease is no claim').toBeUndefined();
  expect(await one.readLease('v4.19/0123456789abcdef')).toBeUndefined();
}

/** Of so many at once one is first, each time. */
export async function expectOneWinner(views: TwoViews, rounds: number): Promise<void> {
  for (let round = 1; round <= rounds; round++) {
    const standing = await views[0].read(NAME);
    const made = await Promise.all(
      Array.from({ length: 8 }, (_, i) => {
        const wanted = { epoch: 0, commit: commitOf(round * 10 + i), digest: digestOf(i) };
        return views[i % 2 === 0 ? 0 : 1].replace(NAME, wanted, standing);
      }),
    );
    const winners = made.filter((one) => one !== undefined);
    expect(winners).toHaveLength(1);
    expect(await views[1].read(NAME)).toEqual(winners[0]);
    expect(winners[0]?.sequence).toBe(round);
  }
}

/** Of four at once the newest commit wins, and the tag follows it. */
export async function expectNewest(views: TwoViews): Promise<void> {
  let tag = '';
  // As long as others take: waiting is not what is tested.
  const lease = { clock: { now: Date.now, sleep: () => new Promise<void>((done) => setTimeout(done, 20)) } };
  const publish = async (n: number): Promise<void> => {
    const fencing: Fencing = { fence: views[n % 2 === 0 ? 0 : 1], name: NAME, isAncestor, lease };
    const claimed = await claimTag(fencing, { commit: commitOf(n), digest: digestOf(n) });
    await moveFollowers(fencing, claimed.claim, [
      {
        follows: async ({ digest }) => tag === digest,
        move: async ({ digest }) => {
          tag = digest;
        },
      },
    ]);
  };
  await Promise.all([3, 1, 4, 2].map(publish));
  expect(tag).toBe(digestOf(4));
  expect(await views[0].read(NAME)).toMatchObject({ commit: commitOf(4) });
}

/** A lease: who waits for it, when it ends, and when it is not given back. */
import { expect, test } from 'vitest';
import { PipelineError } from '../../../pipeline/error.ts';
import { type Follower, moveFollowers } from '../../../pipeline/publish/fence.ts';
import { acquireLease, LEASE } from '../../../pipeline/publish/fence-lease.ts';
import { recordFence } from '../../../pipeline/publish/fence-records.ts';
import { directoryRecords } from '../../../pipeline/publish/records/directory.ts';
import { testClock } from '../../fakes/clock.ts';
import { commitOf, digestOf, NAME } from '../../fakes/fence-contract.ts';
import { folder } from '../../fakes/folder.ts';

function place() {
  const clock = testClock();
  return { clock, fence: recordFence(directoryRecords(folder())), name: NAME };
}

test('who died holds nobody back for longer than a lease', async () => {
  const at = place();
  const began = at.clock.now();
  await acquireLease(at);
  await acquireLease(at);
  expect(at.clock.now() - began).toBeGreaterThanOrEqual(LEASE);
  expect(at.clock.now() - began).toBeLessThan(LEASE + 10_000);
});

test('a lease from a clock that runs ahead holds nobody back for longer than a lease', async () => {
  const at = place();
  const began = at.clock.now();
  await at.fence.replaceLease(NAME, Number.MAX_SAFE_INTEGER, undefined);
  await acquireLease(at);
  expect(at.clock.now() - began).toBeGreaterThanOrEqual(LEASE);
  expect(at.clock.now() - began).toBeLessThan(LEASE + 10_000);
});

test('a lease that others take in turn is waited for, however long it is watched', async () => {
  const at = place();
  const ahead = at.clock.now() + 10 * LEASE;
  let standing = await at.fence.replaceLease(NAME, ahead, undefined);
  const fence = {
    ...at.fence,
    readLease: async (name: string) => {
      standing = await at.fence.replaceLease(name, ahead, standing);
      return standing;
    },
  };
  await expect(acquireLease({ ...at, fence })).rejects.toMatchObject({ code: 'conflict' });
});

test('who gives it back holds nobody back, and who has little patience comes again later', async () => {
  const at = place();
  const turn = await acquireLease(at);
  const impatient = acquireLease({ ...at, patience: 10_000 });
  await expect(impatient).rejects.toMatchObject({ code: 'conflict', retryable: true });
  await turn.end();
  const waits = at.clock.waits.length;
  await acquireLease(at);
  expect(at.clock.waits).toHaveLength(waits);
});

test('nothing is moved in the last part of a lease', async () => {
  const at = place();
  const turn = await acquireLease(at);
  expect(turn.timeLeft()).toBe(60_000);
  await at.clock.sleep(60_000);
  expect(() => turn.timeLeft()).toThrow(/took too long/);
});

/** Moves a tag that fails so. @returns whether the lease was given back */
async function isGivenBack(move: Follower['move']): Promise<boolean> {
  const at = place();
  const wanted = { epoch: 0, commit: commitOf(1), digest: digestOf(1) };
  const claim = await at.fence.replace(NAME, wanted, undefined);
  const moving = moveFollowers({ ...at, lease: at }, claim!, [{ follows: async () => false, move }]);
  await expect(moving).rejects.toThrow(PipelineError);
  return (await at.fence.readLease(NAME))?.until === 0;
}

test('a lease is given back after an answer, and kept while a request may be under way', async () => {
  const denied = new PipelineError('denied', 'no');
  const silent = new PipelineError('unreachable', 'no answer', { retryable: true });
  const asks = (error: PipelineError) => async (_: unknown, turn: { timeLeft(): number }) => {
    turn.timeLeft();
    throw error;
  };
  expect(await isGivenBack(asks(denied))).toBe(true);
  expect(await isGivenBack(asks(silent))).toBe(false);
  expect(await isGivenBack(() => Promise.reject(silent)), 'nothing was asked for yet').toBe(true);
  const again: Follower['move'] = async (_, turn) => {
    turn.timeLeft();
    turn.doubt();
    throw denied;
  };
  expect(await isGivenBack(again), 'an earlier try may still be under way').toBe(false);
});

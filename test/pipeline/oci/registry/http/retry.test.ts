import { describe, expect, test } from 'vitest';
import { PipelineError } from '../../../../../pipeline/error.ts';
import { createPace } from '../../../../../pipeline/oci/registry/http/pace.ts';
import { newBudget, retryAfter, withRetry } from '../../../../../pipeline/oci/registry/http/retry.ts';
import { testClock } from '../../../../fakes/clock.ts';

const options = { budget: 10_000, attempts: 4, firstWait: 100, longestWait: 1000 };

function setUp(random = 0.5) {
  const clock = testClock();
  const retrying = { options, clock, random: () => random };
  return { clock, retrying, budget: newBudget(retrying, undefined) };
}

const failing = (code: 'unreachable' | 'rate-limited' | 'denied', retryable: boolean, times = Infinity) => {
  let calls = 0;
  const run = async (): Promise<number> => {
    if (calls++ < times) throw new PipelineError(code, 'no', { retryable });
    return calls;
  };
  return { run, calls: () => calls };
};

describe('trying again', () => {
  test('until it works, with waits that double', async () => {
    const { clock, retrying, budget } = setUp();
    const work = failing('unreachable', true, 3);
    expect(await withRetry(retrying, budget, work.run)).toBe(4);
    expect(clock.waits).toEqual([75, 150, 300]);
  });

  test('chance spreads the waits, and never makes them short', async () => {
    const { clock, retrying, budget } = setUp(0);
    await withRetry(retrying, budget, failing('unreachable', true, 2).run);
    expect(clock.waits).toEqual([50, 100]);
  });

  test('as often as is allowed', async () => {
    const { retrying, budget } = setUp();
    const work = failing('unreachable', true);
    await expect(withRetry(retrying, budget, work.run)).rejects.toMatchObject({ code: 'unreachable' });
    expect(work.calls()).toBe(4);
  });

  test('not at all when it is for good, or a bug', async () => {
    const { retrying, budget } = setUp();
    const denied = failing('denied', false);
    await expect(withRetry(retrying, budget, denied.run)).rejects.toMatchObject({ code: 'denied' });
    expect(denied.calls()).toBe(1);
    const bug = withRetry(retrying, budget, () => Promise.reject(new TypeError('bug')));
    await expect(bug).rejects.toThrow(TypeError);
  });

  test('being asked to slow down ends only with the budget', async () => {
    const { clock, retrying, budget } = setUp();
    const work = failing('rate-limited', true);
    await expect(withRetry(retrying, budget, work.run)).rejects.toMatchObject({ code: 'rate-limited' });
    expect(work.calls()).toBeGreaterThan(8);
    expect(clock.now()).toBeLessThanOrEqual(budget.deadline);
  });
});

test.each([
  ['5', 5000],
  [' 7 ', 7000],
  ['Thu, 01 Jan 1970 00:00:20 GMT', 10_000],
  ['Thu, 01 Jan 1970 00:00:05 GMT', 0],
  ['soon', 0],
  [undefined, 0],
])('Retry-After %s is %d ms', (header, expected) => expect(retryAfter(header, 10_000)).toBe(expected));

describe('pace', () => {
  const host = (most: number, mostWhenDistant = most) => {
    const { clock, budget } = setUp();
    return { clock, budget, pace: createPace({ host: 'h', most, mostWhenDistant, clock, waits: options }) };
  };

  test('lets so many in at a time, in the order in which they came', async () => {
    const { pace, budget } = host(2);
    const order: number[] = [];
    const leaves = [await pace.enter(budget), await pace.enter(budget)];
    const waiting = [3, 4, 5].map(async (n) => {
      const leave = await pace.enter(budget);
      order.push(n);
      leave();
    });
    await Promise.resolve();
    expect(order).toEqual([]);
    for (const leave of leaves) leave();
    await Promise.all(waiting);
    expect(order).toEqual([3, 4, 5]);
  });

  test('leaving twice frees one place', async () => {
    const { pace, budget } = host(1);
    const leave = await pace.enter(budget);
    leave();
    leave();
    await pace.enter(budget);
    let second = false;
    void pace.enter(budget).then(() => {
      second = true;
    });
    await new Promise((done) => setImmediate(done));
    expect(second).toBe(false);
  });

  test('halves once for one overload, recovers one by one, never below a quarter', () => {
    const { pace, clock } = host(16);
    for (let i = 0; i < 10; i++) pace.slowDown(100);
    expect(pace.limit()).toBe(8);
    for (let i = 0; i < 10; i++) pace.succeeded(50);
    expect(pace.limit()).toBe(9);
    for (let i = 0; i < 10; i++) {
      void clock.sleep(5000);
      pace.slowDown(100);
    }
    expect(pace.limit()).toBe(4);
    for (let i = 0; i < 1000; i++) pace.succeeded(50);
    expect(pace.limit()).toBe(16);
  });

  test('lets more in where the answers are long on their way, until the host says that it is too many', () => {
    const { pace, clock } = host(10, 40);
    for (let i = 0; i < 100; i++) pace.succeeded(60);
    expect(pace.limit()).toBe(40);
    pace.slowDown(100);
    void clock.sleep(5000);
    expect(pace.limit()).toBe(20);
    for (let i = 0; i < 20; i++) pace.succeeded(60);
    expect(pace.limit()).toBeLessThanOrEqual(21);
    for (let i = 0; i < 1000; i++) pace.succeeded(i === 0 ? 3 : 60);
    expect(pace.limit()).toBe(10);
  });

  test('all wait for as long as the host asks', async () => {
    const { pace, clock, budget } = host(4);
    pace.slowDown(3000);
    const before = clock.now();
    await Promise.all([pace.enter(budget), pace.enter(budget)]);
    expect(clock.now() - before).toBeGreaterThanOrEqual(3000);
  });

  test('a host that fails is left alone, longer each time until it answers well', async () => {
    const { pace, clock, budget } = host(4);
    const waited: number[] = [];
    const fail = async (): Promise<void> => {
      // Those that were on their way fail together.
      for (let i = 0; i < 4; i++) pace.failed();
      const before = clock.now();
      (await pace.enter(budget))();
      waited.push(clock.now() - before);
    };
    for (let i = 0; i < 6; i++) await fail();
    pace.succeeded(50);
    await fail();
    expect(waited).toEqual([100, 200, 400, 800, 1000, 1000, 100]);
  });

  test('waiting costs nothing of the budget while the host serves others', async () => {
    const { pace, clock, budget } = host(1);
    const deadline = budget.deadline;
    const leave = await pace.enter(budget);
    const second = pace.enter(budget);
    await clock.sleep(9_000);
    pace.succeeded(50);
    leave();
    await second;
    expect(budget.deadline).toBe(deadline + 9_000);
  });

  test('waiting for a host that serves nobody ends with the budget', async () => {
    const { pace, clock, budget } = host(1);
    const deadline = budget.deadline;
    const leave = await pace.enter(budget);
    const second = pace.enter(budget);
    await clock.sleep(9_000);
    leave();
    await second;
    expect(budget.deadline).toBe(deadline);
  });

  test('a pause that outlasts the budget fails at once and gives the place back', async () => {
    const { pace, clock, budget } = host(1);
    pace.slowDown(3_600_000);
    await expect(pace.enter(budget)).rejects.toMatchObject({ code: 'rate-limited', retryable: true });
    await expect(pace.enter(budget)).rejects.toMatchObject({ code: 'rate-limited' });
    expect(clock.waits).toEqual([]);
  });

  test('a queue of many thousands is served in time', async () => {
    const { pace, budget } = host(1);
    const first = await pace.enter(budget);
    const all = Array.from({ length: 50_000 }, async () => (await pace.enter(budget))());
    first();
    await Promise.all(all);
  });
});

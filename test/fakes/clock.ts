import type { Clock } from '../../pipeline/ports.ts';

export interface TestClock extends Clock {
  /** All waits so far, in milliseconds. */
  readonly waits: readonly number[];
}

/** A clock in which waiting takes no time and passes it. */
export function testClock(): TestClock {
  let now = 1_000_000;
  const waits: number[] = [];
  return {
    waits,
    now: () => now,
    sleep: async (milliseconds) => {
      waits.push(milliseconds);
      now += milliseconds;
    },
  };
}

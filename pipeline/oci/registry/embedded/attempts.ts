/** Limits how often an address may try a password, so that wrong ones delay nobody else. */
import { PipelineError } from '../../../error.ts';

/** Wrong passwords of one address in a minute, with those that are being checked. */
const MOST_WRONG = 10;
/** Addresses that wait for a check at most. */
const MOST_WAITING = 100;
const MINUTE = 60_000;

type Check = () => Promise<boolean>;

interface Waiting {
  readonly check: Check;
  readonly done: (result: Promise<boolean>) => void;
}

/**
 * Runs checks one at a time, in turn for each address: a right password waits for one check of each other address at most.
 *
 * @returns what runs a check for an address
 * @throws PipelineError `rate-limited` after too many wrong passwords, or while too many addresses wait
 */
export function passwordAttempts(): (address: string, check: Check) => Promise<boolean> {
  const failures = new Map<string, number[]>();
  /** Checks of an address that wait or run. */
  const open = new Map<string, number>();
  const waiting = new Map<string, Waiting[]>();
  let isRunning = false;
  const run = async (): Promise<void> => {
    if (isRunning) return;
    isRunning = true;
    for (let next = nextOf(waiting); next; next = nextOf(waiting)) {
      const result = next.check();
      next.done(result);
      await result.catch(() => undefined);
    }
    isRunning = false;
  };
  return async (address, check) => {
    const since = Date.now() - MINUTE;
    const recent = (failures.get(address) ?? []).filter((time) => time > since);
    const own = waiting.get(address) ?? [];
    const unsettled = open.get(address) ?? 0;
    const isTooMany = recent.length + unsettled >= MOST_WRONG;
    if (isTooMany || (own.length === 0 && waiting.size >= MOST_WAITING))
      throw new PipelineError('rate-limited', 'too many passwords were tried; try again in a minute');
    const result = new Promise<boolean>((done) => own.push({ check, done }));
    waiting.set(address, own);
    open.set(address, unsettled + 1);
    void run();
    let isRight = false;
    try {
      isRight = await result;
    } finally {
      // At once: a check that has failed counts without a gap.
      settle(open, address);
      forgetOld(failures, since);
      if (!isRight) failures.set(address, [...(failures.get(address) ?? []), Date.now()]);
    }
    return isRight;
  };
}

/** Takes the first of the address that has waited the longest; the address waits again behind the others. */
function nextOf(waiting: Map<string, Waiting[]>): Waiting | undefined {
  const [first] = waiting;
  if (!first) return undefined;
  const [address, own] = first;
  waiting.delete(address);
  const next = own.shift();
  if (own.length > 0) waiting.set(address, own);
  return next;
}

function settle(open: Map<string, number>, address: string): void {
  const left = (open.get(address) ?? 1) - 1;
  if (left === 0) open.delete(address);
  else open.set(address, left);
}

function forgetOld(failures: Map<string, number[]>, since: number): void {
  for (const [address, times] of failures) if ((times.at(-1) ?? 0) <= since) failures.delete(address);
}

/** Limits failed passwords for each address, so that they do not delay others. */
import { PipelineError } from '../../../error.ts';

/** Wrong passwords of one address in a minute, with those that are being checked. */
const MOST_WRONG = 10;
/** Addresses that wait for a check at most. */
const MOST_WAITING = 100;
const MINUTE = 60_000;

type Check = () => Promise<boolean>;

interface Attempt {
  readonly address: string;
  /** Name and password in one: the same of an address is checked once at a time. */
  readonly what: string;
}

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
export function passwordAttempts(): (attempt: Attempt, check: Check) => Promise<boolean> {
  /** When each address was wrong; the one that was wrong last comes last. */
  const failures = new Map<string, number[]>();
  /** Checks of each address that wait or run, by what they check. */
  const checks = new Map<string, Map<string, Promise<boolean>>>();
  const inTurn = takeTurns();
  return async ({ address, what }, check) => {
    const own = checks.get(address) ?? new Map<string, Promise<boolean>>();
    // Clients send a password with several requests at once.
    const same = own.get(what);
    if (same) return same;
    const since = Date.now() - MINUTE;
    const recent = (failures.get(address) ?? []).filter((time) => time > since);
    // Checks under way count as wrong until they end: otherwise many at once would all be admitted.
    const isTooMany = recent.length + own.size >= MOST_WRONG;
    if (isTooMany || (own.size === 0 && checks.size >= MOST_WAITING))
      throw new PipelineError('rate-limited', 'too many passwords were tried; try again in a minute');
    const result = settleAttempt(inTurn(address, check), (isRight) => {
      // At once: a check that has failed counts without a gap.
      own.delete(what);
      if (own.size === 0) checks.delete(address);
      forgetOld(failures, since);
      if (!isRight) countFailure(failures, address);
    });
    checks.set(address, own.set(what, result));
    return result;
  };
}

/**
 * Waits for a check of a password.
 *
 * @param end called with whether it was right; a check that could not be made counts as wrong
 */
async function settleAttempt(result: Promise<boolean>, end: (isRight: boolean) => void): Promise<boolean> {
  let isRight = false;
  try {
    isRight = await result;
  } finally {
    end(isRight);
  }
  return isRight;
}

/** Runs one check at a time; addresses take turns. */
function takeTurns(): (address: string, check: Check) => Promise<boolean> {
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
  return (address, check) => {
    const own = waiting.get(address) ?? [];
    const result = new Promise<boolean>((done) => own.push({ check, done }));
    waiting.set(address, own);
    void run();
    return result;
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

/** Notes a wrong password of an address, which then stands last. */
function countFailure(failures: Map<string, number[]>, address: string): void {
  const times = [...(failures.get(address) ?? []), Date.now()].slice(-MOST_WRONG);
  failures.delete(address);
  failures.set(address, times);
}

/** Who failed last stands last: the first that is not old ends the search. */
function forgetOld(failures: Map<string, number[]>, since: number): void {
  for (const [address, times] of failures) {
    if ((times.at(-1) ?? 0) > since) return;
    failures.delete(address);
  }
}

/**
 * Trying again: one budget of time and attempts for everything that one call does, waits that
 * double and are spread at random, so that clients that failed together do not return together.
 */
import { PipelineError } from '../../../error.ts';
import type { Clock } from '../../../ports.ts';

/** What one call may spend. */
export interface Budget {
  /** Milliseconds since the epoch; earlier when it is clear that waiting until then is of no use. */
  deadline: number;
  /** Failures so far, of all requests that the call has led to. */
  failures: number;
  readonly signal?: AbortSignal;
}

export interface RetryOptions {
  /** Milliseconds that one call may go on trying. */
  readonly budget: number;
  /** Tries at most, the first one included; being asked to slow down does not count. */
  readonly attempts: number;
  /** Milliseconds of the first wait at most; each further one is up to twice as long. */
  readonly firstWait: number;
  /** Milliseconds of any wait at most. */
  readonly longestWait: number;
}

export const DEFAULT_RETRY: RetryOptions = {
  budget: 90_000,
  attempts: 5,
  firstWait: 250,
  longestWait: 10_000,
};

export interface Retrying {
  readonly options: RetryOptions;
  readonly clock: Clock;
  /** Numbers from 0 to 1, 1 excluded. */
  readonly random: () => number;
}

/** A fresh budget, counted from now. */
export function newBudget(retrying: Retrying, signal: AbortSignal | undefined): Budget {
  const deadline = retrying.clock.now() + retrying.options.budget;
  return signal === undefined ? { deadline, failures: 0 } : { deadline, failures: 0, signal };
}

/**
 * Does something until it succeeds, fails for good, or the budget is spent; then the last
 * failure is thrown. Only a PipelineError that says `retryable` is tried again.
 */
export async function withRetry<T>(
  retrying: Retrying,
  budget: Budget,
  attempt: () => Promise<T>,
): Promise<T> {
  for (let wait = 0; ; wait++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof PipelineError) || !error.retryable) throw error;
      // A host that asks to slow down has not failed; only the deadline ends that.
      if (error.code !== 'rate-limited') budget.failures++;
      const pause = backoff(retrying, wait);
      if (budget.failures >= retrying.options.attempts) throw error;
      if (retrying.clock.now() + pause >= budget.deadline) throw error;
      await retrying.clock.sleep(pause, budget.signal);
    }
  }
}

/** Milliseconds to wait at most after the n-th failure, n from 0: twice as long each time, up to the longest wait. */
export function longestPause(
  { firstWait, longestWait }: Pick<RetryOptions, 'firstWait' | 'longestWait'>,
  n: number,
): number {
  // 20 doublings exceed every longest wait; without the limit the power could become infinite.
  return Math.min(longestWait, firstWait * 2 ** Math.min(n, 20));
}

/** Milliseconds to wait before the try after the n-th failure, n from 0. */
function backoff({ options, random }: Retrying, n: number): number {
  const most = longestPause(options, n);
  // Never next to nothing: half is waited for, half is chance.
  return most / 2 + (most / 2) * random();
}

/**
 * Milliseconds that a `Retry-After` header asks for: seconds or a date. 0 without one, for a past date, or for neither.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3
 */
export function retryAfter(header: string | undefined, now: number): number {
  if (header === undefined) return 0;
  if (/^\s*\d+\s*$/.test(header)) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? 0 : Math.max(0, date - now);
}

/** The clock of the machine. */
export const systemClock: Clock = { now: Date.now, sleep };

/** Waits. @throws PipelineError once the signal ends the work */
function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(stoppedByCaller(signal));
    const stop = (): void => {
      clearTimeout(timer);
      reject(stoppedByCaller(signal));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', stop, { once: true });
  });
}

/** The error of work that its caller ended. */
export function stoppedByCaller(signal: AbortSignal | undefined): PipelineError {
  return new PipelineError('unreachable', 'stopped before the registry responded', {
    retryable: false,
    cause: signal?.reason,
  });
}

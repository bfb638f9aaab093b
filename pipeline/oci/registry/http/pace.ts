/**
 * How fast one host may be asked: a number of requests at a time that shrinks by half when
 * the host says "too many" and grows again by one per round of good answers (AIMD), and a
 * pause for everybody when the host says how long to wait, or fails. A host that is far away may be
 * asked more at a time: it gets no more of them in a second than one that is near.
 */
import { PipelineError } from '../../../error.ts';
import type { Clock } from '../../../ports.ts';
import { type Budget, longestPause, type RetryOptions } from './retry.ts';

export interface Pace {
  /**
   * Waits for a turn; the answer gives it back. While the host serves others, waiting costs nothing of the budget.
   *
   * @throws PipelineError `rate-limited` when the host's pause outlasts the budget
   */
  enter(budget: Budget): Promise<() => void>;
  /** The host answered well, so many milliseconds after it was asked. */
  succeeded(took: number): void;
  /** The host asked to slow down, for so many milliseconds where it said so. */
  slowDown(pause: number): void;
  /** The host failed and did not say how long: everybody waits, longer each time until it answers well. */
  failed(): void;
  /** How many requests may run at a time now. */
  limit(): number;
}

interface PaceOptions {
  readonly host: string;
  /** Requests at a time at most. */
  readonly most: number;
  /** The same for a host that is far away. */
  readonly mostWhenDistant: number;
  readonly clock: Clock;
  /** How long to wait after failures. */
  readonly waits: Pick<RetryOptions, 'firstWait' | 'longestWait'>;
}

/** Milliseconds to the quickest answer of a host that is near. A farther one may be asked more at a time in that proportion. */
const NEAR = 12;

/**
 * Paces the requests to one host: a request waits for a turn among those that may run at a time, and then until
 * the host's pause is over. A deadline limits how long a host may fail. So it moves by the wait if the host answered
 * another request meanwhile: then the host is only busy. If it answered none, the wait counts.
 */
export function createPace({ host, most, mostWhenDistant, clock, waits }: PaceOptions): Pace {
  const limit = new Limit(most, mostWhenDistant);
  const turns = new Turns(() => limit.current);
  let resumeAt = 0;
  let servedAt = -Infinity;
  let failures = 0;
  const waitForHost = async (budget: Budget): Promise<void> => {
    for (let now = clock.now(); now < resumeAt; now = clock.now()) {
      if (resumeAt > budget.deadline) {
        // The error is retryable: the budget ends here, so that `withRetry` throws it and does not wait.
        budget.deadline = now;
        throw tooLong(host, resumeAt - now);
      }
      await clock.sleep(resumeAt - now, budget.signal);
    }
  };
  return {
    enter: async (budget) => {
      const began = clock.now();
      const leave = await turns.enter();
      try {
        // The wait for a turn, then the one for the host's pause, each given back if the host served others meanwhile.
        if (servedAt >= began) budget.deadline += clock.now() - began;
        const turnAt = clock.now();
        await waitForHost(budget);
        if (servedAt >= began) budget.deadline += clock.now() - turnAt;
      } catch (error) {
        leave();
        throw error;
      }
      return leave;
    },
    succeeded: (took) => {
      servedAt = clock.now();
      failures = 0;
      limit.grow(took);
    },
    slowDown: (pause) => {
      const now = clock.now();
      limit.shrink(now, pause);
      resumeAt = Math.max(resumeAt, now + pause);
    },
    failed: () => {
      const now = clock.now();
      // Those that were on their way when the host failed are one failure.
      if (now < resumeAt) return;
      resumeAt = now + longestPause(waits, failures);
      failures++;
    },
    limit: () => limit.current,
  };
}

/** How many requests a host bears at a time: one more per round of good answers, half of them after a refusal. */
class Limit {
  /** What a near host is asked at a time at most, and one that is far away. */
  readonly #near: number;
  readonly #mostWhenDistant: number;
  /** Some hosts refuse each URL once, however slowly they are asked: they must not be slowed to one request at a time. */
  readonly #least: number;
  #limit: number;
  #most: number;
  /** Milliseconds to the quickest answer. */
  #quickest = Infinity;
  #halvedAt = -Infinity;

  constructor(near: number, mostWhenDistant: number) {
    this.#near = near;
    this.#mostWhenDistant = mostWhenDistant;
    // A quarter stays in any case: see `#least`.
    this.#least = Math.max(1, near / 4);
    this.#limit = near;
    this.#most = near;
  }

  get current(): number {
    return Math.max(1, Math.floor(this.#limit));
  }

  /** @param took milliseconds to a good answer */
  grow(took: number): void {
    this.#quickest = Math.min(this.#quickest, took);
    const most = (this.#near * this.#quickest) / NEAR;
    this.#most = Math.min(this.#mostWhenDistant, Math.max(this.#near, most));
    // Until it says "too many" for the first time what a host bears is not known: each answer allows one more.
    const step = this.#halvedAt === -Infinity ? 1 : 1 / this.#limit;
    this.#limit = Math.min(this.#most, this.#limit + step);
  }

  /** @param pause milliseconds that the host asks to wait */
  shrink(now: number, pause: number): void {
    // One overload is answered by as many refusals as requests were on their way: halve once.
    if (now - this.#halvedAt <= Math.max(pause, 1000)) return;
    this.#limit = Math.max(this.#least, this.#limit / 2);
    this.#halvedAt = now;
  }
}

/** Lets so many in at a time, first come first served. */
class Turns {
  readonly #limit: () => number;
  #running = 0;
  /** Those who wait, from `#head` on. An array that shifts its head is quadratic; this one is not. */
  #waiting: (() => void)[] = [];
  #head = 0;

  /** @param limit how many may be in now */
  constructor(limit: () => number) {
    this.#limit = limit;
  }

  /** Waits for a turn; the answer gives it back, once however often it is called. */
  async enter(): Promise<() => void> {
    await new Promise<void>((go) => {
      this.#waiting.push(go);
      this.#admit();
    });
    let isIn = true;
    return () => {
      if (!isIn) return;
      isIn = false;
      this.#running--;
      this.#admit();
    };
  }

  /** Lets in those who wait, as many as the limit has room for now. */
  #admit(): void {
    while (this.#running < this.#limit()) {
      const go = this.#next();
      if (!go) return;
      this.#running++;
      go();
    }
  }

  /** Takes the first who waits. */
  #next(): (() => void) | undefined {
    const next = this.#waiting[this.#head++];
    // Those before the head are gone: dropped together once they are half of the array, each costs next to nothing.
    if (next === undefined || this.#head * 2 > this.#waiting.length + 64) {
      this.#waiting = this.#waiting.slice(this.#head);
      this.#head = 0;
    }
    return next;
  }
}

/** The error for a host whose pause is longer than the caller's budget of time. */
function tooLong(host: string, milliseconds: number): PipelineError {
  return new PipelineError(
    'rate-limited',
    `${host} requires waiting ${Math.ceil(milliseconds / 1000)} s before the next request`,
    { retryable: true },
  );
}

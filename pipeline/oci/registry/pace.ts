/**
 * How fast one host may be asked: a number of requests at a time that shrinks by half when
 * the host says "too many" and grows again by one per round of good answers (AIMD), and a
 * pause for everybody when the host says how long to wait. A host that is far away may be asked
 * more at a time: it gets no more of them in a second than one that is near.
 */
import { PipelineError } from '../../error.ts';
import type { Clock } from '../../ports.ts';
import type { Budget } from './retry.ts';

export interface Pace {
  /**
   * Waits for a turn; the answer gives it back.
   *
   * @throws PipelineError `rate-limited` when the host's pause outlasts the budget
   */
  enter(budget: Budget): Promise<() => void>;
  /** The host answered well, so many milliseconds after it was asked. */
  succeeded(took: number): void;
  /** The host asked to slow down, for so many milliseconds where it said so. */
  slowDown(pause: number): void;
  /** How many requests may run at a time now. */
  limit(): number;
}

export interface PaceOptions {
  readonly host: string;
  /** Requests at a time at most. */
  readonly most: number;
  /** The same for a host that is far away. */
  readonly farthest: number;
  readonly clock: Clock;
}

/** Milliseconds to the quickest answer of a host that is near. */
const NEAR = 12;

/** Those who wait, first come first served. An array that shifts its head is quadratic; this one is not. */
interface Queue {
  push(go: () => void): void;
  /** The next one; undefined when nobody waits. */
  shift(): (() => void) | undefined;
}

function createQueue(): Queue {
  let items: (() => void)[] = [];
  let head = 0;
  return {
    push: (go) => void items.push(go),
    shift: () => {
      const next = items[head++];
      if (next === undefined || head * 2 > items.length + 64) {
        items = items.slice(head);
        head = 0;
      }
      return next;
    },
  };
}

export function createPace({ host, most: near, farthest, clock }: PaceOptions): Pace {
  let limit = near;
  let most = near;
  let quickest = Infinity;
  let running = 0;
  let resumeAt = 0;
  let halvedAt = -Infinity;
  const waiting = createQueue();

  const admit = (): void => {
    while (running < Math.max(1, Math.floor(limit))) {
      const go = waiting.shift();
      if (go === undefined) return;
      running++;
      go();
    }
  };
  const leave = (): void => {
    running--;
    admit();
  };
  const waitForHost = async (budget: Budget): Promise<void> => {
    for (let now = clock.now(); now < resumeAt; now = clock.now()) {
      if (resumeAt > budget.deadline) {
        budget.deadline = now;
        throw tooLong(host, resumeAt - now);
      }
      await clock.sleep(resumeAt - now, budget.signal);
    }
  };
  return {
    enter: async (budget) => {
      await new Promise<void>((go) => {
        waiting.push(go);
        admit();
      });
      let left = false;
      const leaveOnce = (): void => {
        if (!left) leave();
        left = true;
      };
      await waitForHost(budget).catch((error: unknown) => {
        leaveOnce();
        throw error;
      });
      return leaveOnce;
    },
    succeeded: (took) => {
      quickest = Math.min(quickest, took);
      most = Math.min(farthest, Math.max(near, (near * quickest) / NEAR));
      // Until it says "too many" for the first time what a host bears is not known: each answer allows one more.
      limit = Math.min(most, limit + (halvedAt === -Infinity ? 1 : 1 / limit));
    },
    slowDown: (pause) => {
      const now = clock.now();
      // One overload is answered by as many refusals as requests were on their way: halve once.
      if (now - halvedAt > Math.max(pause, 1000)) {
        limit = Math.max(1, limit / 2);
        halvedAt = now;
      }
      resumeAt = Math.max(resumeAt, now + pause);
    },
    limit: () => Math.max(1, Math.floor(limit)),
  };
}

function tooLong(host: string, milliseconds: number): PipelineError {
  return new PipelineError(
    'rate-limited',
    `${host} asks to wait ${Math.ceil(milliseconds / 1000)} s before the next request`,
    { retryable: true },
  );
}

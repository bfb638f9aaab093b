/** SQS FIFO on a clock of its own, that jumps to when the next message is seen. */
import { waitAfter } from '../../functions/aws/queue.ts';
import type { Message, Queue } from '../../pipeline/ports.ts';
import { Death } from './delivery.ts';

export interface ClockedMessage extends Message {
  /** With this time. */
  readonly tries: number;
}

export interface ClockedQueue extends Queue {
  /** In s since the beginning. */
  now(): number;
  /** Messages that were put aside. */
  readonly aside: readonly ClockedMessage[];
  /** Handles everything, whenever it is seen. @returns how often one message failed at most */
  drain(handle: (message: ClockedMessage) => Promise<void>): Promise<number>;
}

export interface ClockedQueueOptions {
  /** How often a message is delivered before it is put aside; without end when left out. */
  readonly attempts?: number;
  /** When a message comes again whose handler died, in s. */
  readonly afterDeath?: number;
}

/** What fails comes again after as long as the functions ask for; until then nothing of its group is seen. */
export function clockedQueue({
  attempts = Number.POSITIVE_INFINITY,
  afterDeath = 660,
}: ClockedQueueOptions = {}): ClockedQueue {
  const waiting: { message: Message; tries: number; at: number }[] = [];
  const seen = new Set<string>();
  const aside: ClockedMessage[] = [];
  let now = 0;
  const next = () => {
    const groups = new Set<string>();
    const heads = waiting.filter(({ message: { group } }) => !groups.has(group) && groups.add(group));
    return heads.reduce((first, one) => (one.at < first.at ? one : first));
  };
  return {
    aside,
    now: () => now,
    send: async (message) => {
      if (seen.has(message.id)) return;
      seen.add(message.id);
      waiting.push({ message, tries: 0, at: now });
    },
    drain: async (handle) => {
      let most = 0;
      while (waiting.length > 0) {
        const one = next();
        now = Math.max(now, one.at);
        const delivered = { ...one.message, tries: ++one.tries };
        try {
          await handle(delivered);
        } catch (error) {
          most = Math.max(most, one.tries);
          one.at = now + (error instanceof Death ? afterDeath : waitAfter(one.tries));
          if (one.tries < attempts) continue;
          aside.push(delivered);
        }
        waiting.splice(waiting.indexOf(one), 1);
      }
      return most;
    },
  };
}

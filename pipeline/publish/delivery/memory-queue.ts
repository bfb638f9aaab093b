/**
 * A queue of this process, with the ways of SQS FIFO: groups in order and in parallel, one message of
 * an id, delivery again after a failure, and messages put aside when nothing helps.
 */
import type { Message, Queue } from '../../ports.ts';

interface MemoryQueue extends Queue {
  /** Handles what is queued, and what that queues, until nothing is left. */
  drain(handle: (body: string) => Promise<void>): Promise<void>;
  /** Messages that failed every time, with the last failure. */
  readonly aside: readonly { readonly message: Message; readonly error: unknown }[];
}

interface MemoryQueueOptions {
  /** Deliveries of a message before it is put aside; 5 when left out. */
  readonly attempts?: number;
  /** Groups at a time; 2 when left out. */
  readonly parallel?: number;
}

export function memoryQueue({ attempts = 5, parallel = 2 }: MemoryQueueOptions = {}): MemoryQueue {
  const groups = new Map<string, Message[]>();
  const queued = new Set<string>();
  const aside: { message: Message; error: unknown }[] = [];
  const busy = new Set<string>();

  const deliver = async (message: Message, handle: (body: string) => Promise<void>): Promise<void> => {
    for (let tries = 1; ; tries++) {
      try {
        return await handle(message.body);
      } catch (error) {
        if (tries < attempts) continue;
        aside.push({ message, error });
        return;
      }
    }
  };
  const worker = async (handle: (body: string) => Promise<void>): Promise<void> => {
    for (;;) {
      const group = [...groups.keys()].find((name) => !busy.has(name));
      if (group === undefined) return;
      busy.add(group);
      const messages = groups.get(group) ?? [];
      const message = messages.shift();
      if (message) {
        await deliver(message, handle);
        queued.delete(message.id);
      }
      if (messages.length === 0) groups.delete(group);
      busy.delete(group);
    }
  };
  return {
    aside,
    send: async (message) => {
      if (queued.has(message.id)) return;
      queued.add(message.id);
      const messages = groups.get(message.group);
      if (messages) messages.push(message);
      else groups.set(message.group, [message]);
    },
    drain: async (handle) => {
      // A worker ends when every group is taken; what the last messages sent is for the next round.
      while (groups.size > 0) await Promise.all(Array.from({ length: parallel }, () => worker(handle)));
    },
  };
}

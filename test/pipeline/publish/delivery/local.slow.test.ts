/** The queue of a delivery without a cloud, by the contract of every host; a process that dies takes it along. */
import { expect, test } from 'vitest';
import { memoryQueue } from '../../../../pipeline/publish/delivery/local.ts';
import {
  expectAgain,
  expectOneOfAnId,
  expectOrder,
  expectPoison,
  type QueuePlace,
} from '../../../fakes/queue-contract.ts';

function place(): QueuePlace {
  const queue = memoryQueue();
  const tries = new Map<string, number>();
  let isDrained = false;
  return {
    queue,
    deliveries: 5,
    work: async (handle) => {
      const kill = (): void => expect.unreachable('there is one process');
      // One process drains it once.
      if (isDrained) return { kill };
      isDrained = true;
      void queue.drain((body) => {
        const again = (tries.get(body) ?? 0) + 1;
        tries.set(body, again);
        // The queue tells its handler no more than the body.
        const group = body.startsWith('{') ? JSON.parse(body).group : 'a';
        return handle({ id: body, group, body, tries: again });
      });
      return { kill };
    },
    aside: async () => queue.aside.length,
  };
}

test('messages of a group are handled in order, one at a time', () => expectOrder(place()));
test('messages of one id are one message', () => expectOneOfAnId(place()));
test('what fails comes again, and its group waits', () => expectAgain(place()));
test('what never succeeds is put aside', () => expectPoison(place()));

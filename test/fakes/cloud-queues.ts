/** The queues of a deployed stack, counted. */
import { GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { onTestFinished } from 'vitest';
import type { Cloud } from './cloud.ts';

export interface CloudQueues {
  /** Messages of a queue, by its name among the outputs: those that wait, and those that are being handled. */
  count(name: string): Promise<number>;
  /** Waits until a queue is empty. @throws Error after so many seconds */
  drained(name: string, seconds: number): Promise<void>;
}

export function cloudQueues({ endpoint, outputs }: Pick<Cloud, 'endpoint' | 'outputs'>): CloudQueues {
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
  const client = new SQSClient({ endpoint, region: 'us-east-1', credentials });
  onTestFinished(() => client.destroy());
  const count = async (name: string): Promise<number> => {
    const { Attributes = {} } = await client.send(
      new GetQueueAttributesCommand({ QueueUrl: outputs[name], AttributeNames: ['All'] }),
    );
    const { ApproximateNumberOfMessages: waiting, ApproximateNumberOfMessagesNotVisible: busy } = Attributes;
    return Number(waiting) + Number(busy);
  };
  return {
    count,
    drained: async (name, seconds) => {
      const began = performance.now();
      // Twice in a row: a message that is being handled may send others.
      for (let empty = 0; empty < 2; ) {
        empty = (await count(name)) === 0 ? empty + 1 : 0;
        if (performance.now() - began > seconds * 1000)
          throw new Error(`${name} not empty within ${seconds} s`);
        await new Promise((done) => setTimeout(done, 250));
      }
    },
  };
}

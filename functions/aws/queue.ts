/** The queue: SQS FIFO, whose groups are in order and whose ids hold for five minutes. */
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { Queue } from '../../pipeline/ports.ts';
import { cloudError } from './failure.ts';

export function fifoQueue(url: string): Queue {
  const client = new SQSClient({});
  return {
    send: ({ group, id, body }) =>
      cloudError('the queue', async () => {
        await client.send(
          new SendMessageCommand({
            QueueUrl: url,
            MessageBody: body,
            MessageGroupId: group,
            MessageDeduplicationId: id,
          }),
        );
      }),
  };
}

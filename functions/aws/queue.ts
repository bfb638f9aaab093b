/** The queue: SQS FIFO, whose groups are in order and whose ids hold for five minutes. */
import { ChangeMessageVisibilityCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { Queue } from '../../pipeline/ports.ts';
import { ASKING, cloudError } from '../s3/failure.ts';

/** Sends to an SQS queue that keeps the order within a group, and drops a message whose id came before. */
export function fifoQueue(url: string): Queue {
  const client = new SQSClient(ASKING);
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

/** How long after the first failure a message comes again, in s; twice as long after each further one. */
const FIRST_WAIT = 15;
const LONGEST_WAIT = 300;

/** How long a message waits that failed so often, in s. */
export function waitAfter(tries: number): number {
  return Math.min(FIRST_WAIT * 2 ** (tries - 1), LONGEST_WAIT);
}

/**
 * Has a message that failed come again soon: the time that a function may take is far longer than what most
 * failures last.
 *
 * @param tries how often it was delivered
 */
export function comesAgain(url: string, receipt: string, tries: number): Promise<void> {
  return comesAfter(url, receipt, waitAfter(tries));
}

/** Has a message that is being handled come again after so many s, unless it is done by then. */
export function comesAfter(url: string, receipt: string, seconds: number): Promise<void> {
  return cloudError('the queue', async () => {
    const change = { QueueUrl: url, ReceiptHandle: receipt, VisibilityTimeout: seconds };
    await new SQSClient(ASKING).send(new ChangeMessageVisibilityCommand(change));
  });
}

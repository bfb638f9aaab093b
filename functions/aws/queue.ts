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

/** How long after the first failure a message comes again, in s; twice as long after each further one, up to a limit. */
const FIRST_WAIT = 15;
const LONGEST_WAIT = 300;

/** How long a message waits before its next delivery after so many failures, in s. */
export function waitAfter(tries: number): number {
  return Math.min(FIRST_WAIT * 2 ** (tries - 1), LONGEST_WAIT);
}

/**
 * Has the queue deliver a message that failed again in seconds or minutes. By itself it would wait for an hour, which is far
 * longer than most failures last.
 *
 * @param tries how often it was delivered
 */
export function retryMessageSoon(url: string, receipt: string, tries: number): Promise<void> {
  return retryMessageAfter(url, receipt, waitAfter(tries));
}

/** Has the queue deliver a message that is being handled again after so many s, unless it is done by then. */
export function retryMessageAfter(url: string, receipt: string, seconds: number): Promise<void> {
  return cloudError('the queue', async () => {
    const change = { QueueUrl: url, ReceiptHandle: receipt, VisibilityTimeout: seconds };
    await new SQSClient(ASKING).send(new ChangeMessageVisibilityCommand(change));
  });
}

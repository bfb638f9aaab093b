/** The queue of AWS, by the contract of every host: SQS as ministack has it, and what the functions make of its messages. */
import {
  CreateQueueCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { beforeEach, describe, onTestFinished, test } from 'vitest';
import { handleDeliveries, type SqsEvent } from '../../functions/aws/deliveries.ts';
import { fifoQueue, retryMessageAfter } from '../../functions/aws/queue.ts';
import { killedCheck } from '../fakes/killed-check.ts';
import { ministackForSdk } from '../fakes/ministack.ts';
import {
  expectAgain,
  expectDeath,
  expectEndedCheck,
  expectOneOfAnId,
  expectOrder,
  expectPoison,
  type QueuePlace,
} from '../fakes/queue-contract.ts';
import { isOnPath } from '../fakes/tools.ts';

beforeEach(async () => {
  if (isOnPath('ministack')) await ministackForSdk();
});

/** Fewer than the template has, and sooner again: the test waits for each. */
const DELIVERIES = 3;
const VISIBILITY = 3;

const silent = (): void => undefined;
const telemetry = { log: silent, count: silent, time: silent, flush: silent };

async function place(visibility = VISIBILITY): Promise<QueuePlace> {
  const client = new SQSClient({});
  onTestFinished(() => client.destroy());
  const made = async (name: string, more: Record<string, string> = {}): Promise<string> => {
    const Attributes = { FifoQueue: 'true', VisibilityTimeout: String(visibility), ...more };
    const { QueueUrl = '' } = await client.send(
      new CreateQueueCommand({ QueueName: `${name}.fifo`, Attributes }),
    );
    return QueueUrl;
  };
  const attributes = async (QueueUrl: string): Promise<Record<string, string>> => {
    const asked = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] });
    return (await client.send(asked)).Attributes ?? {};
  };
  const aside = await made('aside');
  const { QueueArn: deadLetterTargetArn } = await attributes(aside);
  const policy = JSON.stringify({ deadLetterTargetArn, maxReceiveCount: DELIVERIES });
  const url = await made('work', { RedrivePolicy: policy });
  return {
    queue: fifoQueue(url),
    deliveries: DELIVERIES,
    aside: async () => Number((await attributes(aside))['ApproximateNumberOfMessages']),
    work: async (handle) => {
      let isAlive = true;
      onTestFinished(() => {
        isAlive = false;
      });
      // As Lambda takes messages from a queue, one for each call of the function.
      const take = async (): Promise<void> => {
        while (isAlive) {
          const { Messages = [] } = await client.send(
            new ReceiveMessageCommand({ QueueUrl: url, WaitTimeSeconds: 1, AttributeNames: ['All'] }),
          );
          for (const message of Messages) {
            const { MessageId: messageId, Body: body, ReceiptHandle: receiptHandle = '' } = message;
            const event = {
              Records: [{ messageId, body, receiptHandle, attributes: message.Attributes }],
            } as unknown as SqsEvent;
            const answer = await handleDeliveries(event, {
              ...{ queue: url, telemetry, failed: 'WorkFailed' },
              handle: ({ body, messageId: id, attributes: { MessageGroupId, ApproximateReceiveCount } }) =>
                handle({ body, id, group: MessageGroupId, tries: Number(ApproximateReceiveCount) }),
            });
            const { batchItemFailures } = answer as { batchItemFailures: readonly unknown[] };
            if (!isAlive) return;
            if (batchItemFailures.length > 0) await retryMessageAfter(url, receiptHandle, 0);
            else await client.send(new DeleteMessageCommand({ QueueUrl: url, ReceiptHandle: receiptHandle }));
          }
        }
      };
      for (let n = 0; n < 3; n++) void take().catch(silent);
      return {
        kill: () => {
          isAlive = false;
        },
      };
    },
  };
}

describe.skipIf(!isOnPath('ministack'))('on a stand-in for SQS', () => {
  test('messages of a group are handled in order, one at a time', async () => expectOrder(await place()));
  test('messages of one id are one message', async () => expectOneOfAnId(await place()));
  test('what fails comes again, and its group waits', async () => expectAgain(await place()));
  test('what a dead worker had taken goes to another one', async () => expectDeath(await place()));
  test('what never succeeds is put aside', async () => expectPoison(await place()));
  test('45: a pull request that kills its check is delivered once', async () =>
    expectEndedCheck(await place(60), await killedCheck()));
});

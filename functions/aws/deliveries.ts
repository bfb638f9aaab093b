/** Messages of a queue, one after the other; what fails comes again soon. */
import { processPartialResponse, SqsFifoPartialProcessorAsync } from '@aws-lambda-powertools/batch';
import type { LambdaTelemetry } from './log.ts';
import { retryMessageSoon } from './queue.ts';

interface SqsRecord {
  readonly messageId: string;
  readonly body: string;
  readonly receiptHandle: string;
  /** SQS writes the count, which includes this delivery, as text. */
  readonly attributes: { readonly ApproximateReceiveCount: string; readonly MessageGroupId: string };
}

export interface SqsEvent {
  readonly Records: readonly SqsRecord[];
}

interface Deliveries {
  /** URL of the queue. */
  readonly queue: string;
  readonly telemetry: LambdaTelemetry;
  /** Counts each try that failed. */
  readonly failed: string;
  readonly handle: (record: SqsRecord) => Promise<void>;
}

/**
 * Answers with the messages that are to come again: the first that failed, and all behind it, so that
 * none overtakes another.
 */
export async function handleDeliveries(event: SqsEvent, deliveries: Deliveries): Promise<unknown> {
  const { queue, telemetry, failed, handle } = deliveries;
  const processor = new SqsFifoPartialProcessorAsync();
  const work = async (record: SqsRecord): Promise<void> => {
    try {
      await handle(record);
    } catch (error) {
      telemetry.log(`failed: ${error instanceof Error ? error.message : String(error)}`);
      telemetry.count(failed);
      const { receiptHandle, attributes } = record;
      const tries = Number(attributes.ApproximateReceiveCount);
      await askForRetry(telemetry, () => retryMessageSoon(queue, receiptHandle, tries));
      throw error;
    }
  };
  try {
    // The library's types demand fields of a record that nothing here reads. A batch that failed as a whole is
    // answered as any other: an exception would count as a crash of the function.
    return await processPartialResponse(event as never, work as never, processor, {
      throwOnFullBatchFailure: false,
    });
  } finally {
    telemetry.flush();
  }
}

/**
 * Sends the queue a request to deliver a message again sooner than by itself. If the request fails, it is only logged: the
 * message still comes again, when the queue's own visibility timeout ends.
 *
 * @param ask sends the request
 */
export async function askForRetry({ log }: LambdaTelemetry, ask: () => Promise<void>): Promise<void> {
  try {
    await ask();
  } catch (error) {
    log(`cannot retry the message earlier: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Messages of a queue, one after the other; what fails comes again soon. */
import { processPartialResponse, SqsFifoPartialProcessorAsync } from '@aws-lambda-powertools/batch';
import type { LambdaTelemetry } from './log.ts';
import { comesAgain } from './queue.ts';

interface SqsRecord {
  readonly messageId: string;
  readonly body: string;
  readonly receiptHandle: string;
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
      await askForRetry(telemetry, () => comesAgain(queue, receiptHandle, tries));
      throw error;
    }
  };
  try {
    return await processPartialResponse(event as never, work as never, processor, {
      throwOnFullBatchFailure: false,
    });
  } finally {
    telemetry.flush();
  }
}

/** Asks when a message comes again. Without it the message comes again as well, only later. */
export async function askForRetry({ log }: LambdaTelemetry, ask: () => Promise<void>): Promise<void> {
  try {
    await ask();
  } catch (error) {
    log(`cannot retry the message earlier: ${error instanceof Error ? error.message : String(error)}`);
  }
}

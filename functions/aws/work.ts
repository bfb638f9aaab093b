/** The queue's messages: a push becomes catalogs, a catalog becomes an image. */
import { processPartialResponse, SqsFifoPartialProcessorAsync } from '@aws-lambda-powertools/batch';
import { handleMessage } from '../../pipeline/publish/delivery/handle-message.ts';
import { smoke } from '../smoke.ts';
import { settings } from './env.ts';
import { telemetryOf } from './log.ts';
import { portsOf } from './ports.ts';
import { comesAgain } from './queue.ts';
import { bucketMemory } from './store.ts';

interface SqsRecord {
  readonly messageId: string;
  readonly body: string;
  readonly receiptHandle: string;
  readonly attributes: { readonly ApproximateReceiveCount: string };
}

const telemetry = telemetryOf('work');
const read = settings();
const ports = portsOf(read, telemetry);
const store = bucketMemory(ports.records);

/**
 * Answers with the messages that are to come again: the first that failed, and all behind it, so that
 * none overtakes another.
 */
export async function handler(
  event: { readonly Records: readonly SqsRecord[] } | { readonly smoke: true },
): Promise<unknown> {
  // Asked by whoever may invoke the function: scripts/smoke-functions.mjs, after a deployment.
  if ('smoke' in event) return smoke(read.sources, ports);
  const processor = new SqsFifoPartialProcessorAsync();
  const work = async ({ body, receiptHandle, attributes }: SqsRecord): Promise<void> => {
    const began = performance.now();
    try {
      await handleMessage(body, ports, { store });
    } catch (error) {
      telemetry.log(`failed: ${error instanceof Error ? error.message : String(error)}`);
      telemetry.count('WorkFailed');
      await soon(receiptHandle, Number(attributes.ApproximateReceiveCount));
      throw error;
    } finally {
      telemetry.time('WorkDuration', performance.now() - began);
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

/** Without it the message comes again as well, only later. */
async function soon(receipt: string, tries: number): Promise<void> {
  try {
    await comesAgain(read.queue, receipt, tries);
  } catch (error) {
    telemetry.log(
      `cannot retry the message earlier: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

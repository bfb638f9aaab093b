/** The queue's messages: a push becomes catalogs, a catalog becomes an image. */
import { handleDelivery } from '../../pipeline/publish/delivery/handle-delivery.ts';
import { statusBeside } from '../../pipeline/publish/delivery/status.ts';
import { runSmokeTest } from '../smoke.ts';
import { askForRetry, handleDeliveries, type SqsEvent } from './deliveries.ts';
import { settings } from './env.ts';
import { telemetryOf } from './log.ts';
import { portsOf } from './ports.ts';
import { retryMessageAfter } from './queue.ts';
import { bucketMemory } from './store.ts';

/**
 * When a message is delivered again whose function was killed, in s: a minute more than the function may take. The queue by
 * itself would wait for an hour.
 */
const LONGEST = 660;

const telemetry = telemetryOf('work');
const read = settings();
const ports = portsOf(read, telemetry);
const store = bucketMemory(ports.records);

/**
 * Handles queued messages. It also answers two requests of whoever may invoke the function: a smoke test, and the status.
 */
export async function handler(
  event: SqsEvent | { readonly smoke: true } | { readonly status: true },
): Promise<unknown> {
  // Asked by whoever may invoke the function: scripts/smoke-functions.mjs, after a deployment.
  if ('smoke' in event) return runSmokeTest(read.sources, ports);
  // Asked by whoever may invoke the function, for portolan status: this one alone may read branches and registries.
  if ('status' in event) return statusBeside(read.sources, ports);
  return handleDeliveries(event, {
    queue: read.queue,
    telemetry,
    failed: 'WorkFailed',
    handle: async ({ body, messageId, receiptHandle, attributes }) => {
      const began = performance.now();
      const { ApproximateReceiveCount: tries, MessageGroupId: group } = attributes;
      await askForRetry(telemetry, () => retryMessageAfter(read.queue, receiptHandle, LONGEST));
      try {
        const failure = await handleDelivery({ body, group, id: messageId, tries: Number(tries) }, ports, {
          store,
        });
        if (failure === undefined) return;
        // It was sent to a group of its own, where it holds nothing up: this delivery is done.
        telemetry.log(`failed, is tried again: ${failure}`);
        telemetry.count('WorkFailed');
      } finally {
        telemetry.time('WorkDuration', performance.now() - began);
      }
    },
  });
}

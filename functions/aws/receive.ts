/** The address that GitHub's webhooks are sent to, behind an HTTP API. */

import { webhooksOf } from '../forges/forges.ts';
import { type Answer, receiveDelivery } from '../receive.ts';
import { bucketRecords } from '../s3/records.ts';
import { settings } from './env.ts';
import { deliveryOf, type HttpEvent } from './http.ts';
import { telemetryOf } from './log.ts';
import { fifoQueue } from './queue.ts';
import { neededSecret } from './secret.ts';

const telemetry = telemetryOf('receive');
const { forge, sources, queue, bucket, endpoint, secrets } = settings();
const ports = {
  webhooks: webhooksOf(forge),
  secret: neededSecret(secrets.webhook),
  sources,
  checksPulls: secrets.app !== undefined,
  queue: fifoQueue(queue),
  records: bucketRecords({ bucket, prefix: '', inPath: endpoint !== undefined }),
  now: () => new Date(),
  log: telemetry.log,
};

/** Takes a webhook's delivery: what it asks for is queued before the sender gets its answer. */
export async function handler(event: HttpEvent): Promise<{ statusCode: number; body: string }> {
  const { status, text }: Answer = await receiveDelivery(deliveryOf(event), ports);
  telemetry.count(status === 202 ? 'DeliveryTaken' : 'DeliveryRefused');
  telemetry.flush();
  return { statusCode: status, body: text };
}

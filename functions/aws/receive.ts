/** The address that GitHub's webhooks are sent to, behind an HTTP API. */
import { type Answer, receive } from '../receive.ts';
import { settings } from './env.ts';
import { telemetryOf } from './log.ts';
import { fifoQueue } from './queue.ts';
import { bucketRecords } from './records.ts';
import { secretReader } from './secret.ts';

/** What API Gateway's HTTP API hands over, format 2.0. */
export interface HttpEvent {
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly isBase64Encoded?: boolean;
}

const telemetry = telemetryOf('receive');
const { sources, queue, bucket, endpoint, secrets } = settings();
const ports = {
  secret: secretReader(secrets.webhook),
  sources,
  queue: fifoQueue(queue),
  records: bucketRecords({ bucket, prefix: '', inPath: endpoint !== undefined }),
  now: () => new Date(),
  log: telemetry.log,
};

export async function handler(event: HttpEvent): Promise<{ statusCode: number; body: string }> {
  const body = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8');
  const headers = Object.fromEntries(
    Object.entries(event.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const { status, text }: Answer = await receive({ headers, body }, ports);
  telemetry.count(status === 202 ? 'DeliveryTaken' : 'DeliveryRefused');
  telemetry.flush();
  return { statusCode: status, body: text };
}

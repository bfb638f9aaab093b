/** The address that jobs of the Action ask, a function's own: it may wait longer than an HTTP API's. */
import { systemClock } from '../../pipeline/oci/registry/http/retry.ts';
import { answerJob, tokenReader } from '../publish-request.ts';
import { bucketRecords } from '../s3/records.ts';
import { settings } from './env.ts';
import { deliveryOf, type HttpEvent, ROOM } from './http.ts';
import { telemetryOf } from './log.ts';
import { fifoQueue } from './queue.ts';

/** Less than what the function may take, and than a client waits for the head of an answer, in ms. */
const PATIENCE = 270_000;

const telemetry = telemetryOf('publish-request');
const { sources, queue, bucket, endpoint, issuer, audience } = settings();
const ports = {
  sources,
  issuer,
  readToken: tokenReader(issuer),
  queue: fifoQueue(queue),
  records: bucketRecords({ bucket, prefix: '', inPath: endpoint !== undefined }),
  clock: systemClock,
  patience: PATIENCE,
  room: ROOM,
  log: telemetry.log,
};

/** Answers a job of the Action that asks for a publish. Its token must be made for this address. */
export async function handler(event: HttpEvent): Promise<{ statusCode: number; body: string }> {
  // The platform says the address, so no token for another one is accepted.
  const address = audience ?? `https://${event.requestContext?.domainName ?? ''}`;
  const { status, body } = await answerJob({ ...deliveryOf(event), audience: address }, ports);
  telemetry.count(status === 200 ? 'JobAnswered' : 'JobRefused');
  telemetry.flush();
  return { statusCode: status, body: JSON.stringify(body) };
}

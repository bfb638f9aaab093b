/** APIs that take a request and never answer. */
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { makingRepositories } from '../../../functions/aws/ecr.ts';
import { announcerOn } from '../../../functions/aws/events.ts';
import { tableFence } from '../../../functions/aws/fence.ts';
import { fifoQueue, retryMessageSoon } from '../../../functions/aws/queue.ts';
import { neededSecret } from '../../../functions/aws/secret.ts';
import { ecrCredentials } from '../../../functions/ecr/credentials.ts';
import { ASKING } from '../../../functions/s3/failure.ts';
import { bucketRecords } from '../../../functions/s3/records.ts';
import { digestOf } from '../../../pipeline/oci/digest.ts';
import type { Registry } from '../../../pipeline/ports.ts';
import { startHost } from '../../fakes/host.ts';

const at = { registry: '123456789012.dkr.ecr.us-east-1.amazonaws.com', repository: 'a' };
const blob = { digest: digestOf(new Uint8Array()), size: 0, open: async function* () {} };
const announcement = { repository: 'r', catalog: 'c', commit: 'd', image: 'i', digest: 'e', documents: 'f/' };

/** How long the function with the shortest time may take, in ms. */
const SHORTEST_FUNCTION = 10_000;

afterEach(() => void vi.unstubAllEnvs());

test('each is given up so soon that it can be asked again before the function is killed', async () => {
  const { url } = await startHost(() => {});
  vi.stubEnv('AWS_ENDPOINT_URL', url);
  vi.stubEnv('AWS_REGION', 'us-east-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'id');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
  vi.stubEnv('AWS_MAX_ATTEMPTS', '1');
  const { connectionTimeout, socketTimeout } = ASKING.requestHandler;
  expect(connectionTimeout + socketTimeout).toBeLessThan(SHORTEST_FUNCTION);
  // As short as can be: that each client takes the limits is tested, and not how long they are.
  Object.assign(ASKING.requestHandler, { socketTimeout: 200 });
  onTestFinished(() => void Object.assign(ASKING.requestHandler, { socketTimeout }));
  const elsewhere = { credential: async () => undefined };
  const ended = await Promise.allSettled<unknown>([
    bucketRecords({ bucket: 'records', prefix: '', inPath: true }).get('published/x'),
    tableFence('fence').read('x'),
    fifoQueue(`${url}/1/q.fifo`).send({ group: 'g', id: 'i', body: '{}' }),
    retryMessageSoon(`${url}/1/q.fifo`, 'receipt', 1),
    neededSecret('webhook')(),
    announcerOn('default').announce(announcement),
    ecrCredentials(elsewhere, () => new Date()).credential(at),
    makingRepositories({} as Registry).putBlob(at, blob),
  ]);
  const reason = { name: 'PipelineError', code: 'unreachable', retryable: true };
  expect(ended).toMatchObject(ended.map(() => ({ status: 'rejected', reason })));
});

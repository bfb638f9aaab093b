/** A role without rights: each call of the cloud is refused, and says so without a word of what proves the role. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { announcerOn } from '../../../functions/aws/events.ts';
import { tableFence } from '../../../functions/aws/fence.ts';
import { fifoQueue } from '../../../functions/aws/queue.ts';
import { neededSecret } from '../../../functions/aws/secret.ts';
import { ecrCredentials } from '../../../functions/ecr/credentials.ts';
import { bucketRecords } from '../../../functions/s3/records.ts';
import { type Host, reply, startHost } from '../../fakes/host.ts';

const SECRET = 'the-key-of-the-role';
let host: Host;
let name: string;
beforeEach(async () => {
  name = 'AccessDeniedException';
  host = await startHost((request, response) => {
    const isS3 = request.headers['x-amz-target'] === undefined && !request.url.includes('Action=');
    const json = JSON.stringify({ __type: name, message: 'no' });
    const xml = '<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>';
    reply(response, isS3 ? 403 : 400, isS3 ? xml : json, {
      'content-type': isS3 ? 'application/xml' : 'application/x-amz-json-1.1',
    });
  });
  vi.stubEnv('AWS_ENDPOINT_URL', host.url);
  vi.stubEnv('AWS_REGION', 'us-east-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'id');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', SECRET);
  vi.stubEnv('AWS_SESSION_TOKEN', SECRET);
  vi.stubEnv('AWS_MAX_ATTEMPTS', '2');
});
afterEach(() => void vi.unstubAllEnvs());

const claim = { epoch: 0, commit: 'c'.repeat(40), digest: `sha256:${'0'.repeat(64)}` };
const registry = { registry: '123456789012.dkr.ecr.us-east-1.amazonaws.com', repository: 'a' };
const records = () => bucketRecords({ bucket: 'records', prefix: '', inPath: true });

test.each<[string, () => Promise<unknown>]>([
  ['a record read', () => records().get('published/x')],
  ['a record written', () => records().put('published/x', new Uint8Array())],
  ['a record written on a condition', () => records().replace('fence/x', new Uint8Array(), undefined)],
  ['records listed', () => records().list('published/')],
  ['a claim read', () => tableFence('fence').read('x')],
  ['a claim made', () => tableFence('fence').replace('x', claim, undefined)],
  ['a message sent', () => fifoQueue(`${host.url}/1/q.fifo`).send({ group: 'g', id: 'i', body: '{}' })],
  ['a secret read', () => neededSecret('webhook')()],
  [
    'an event told',
    () =>
      announcerOn('default').announce({
        ...{ repository: 'r', catalog: 'c', commit: 'd' },
        ...{ image: 'i', digest: 'e', documents: 'f/' },
      }),
  ],
  [
    'a token of ECR',
    () => ecrCredentials({ credential: async () => undefined }, () => new Date()).credential(registry),
  ],
])('%s', async (_, call) => {
  const error = await call().catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ name: 'PipelineError', code: 'denied', retryable: false });
  expect(String(error)).not.toContain(SECRET);
  // Asked once: nothing is gained by asking again.
  expect(host.asked).toHaveLength(1);
});

test('a table that asks to go slower is asked again, and then says that it may be asked later', async () => {
  name = 'ProvisionedThroughputExceededException';
  const error = await tableFence('fence')
    .read('x')
    .catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'rate-limited', retryable: true });
  expect(host.asked.length).toBeGreaterThan(1);
});

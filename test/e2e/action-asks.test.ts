/** The Action's publish job asks the functions, by the token that its runner gives it: both as they are, over HTTP. */
import { createServer } from 'node:http';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { ROOM } from '../../functions/aws/http.ts';
import { answerJob, tokenReader } from '../../functions/publish-request.ts';
import { openRepository } from '../../pipeline/git/repository.ts';
import { systemClock } from '../../pipeline/oci/registry/http/retry.ts';
import { POLICY_PATH } from '../../pipeline/policy/read-policy.ts';
import { handleMessage } from '../../pipeline/publish/delivery/handle-delivery.ts';
import { memoryQueue } from '../../pipeline/publish/delivery/local.ts';
import type { DeliveryPorts } from '../../pipeline/publish/delivery/ports.ts';
import { recordFence } from '../../pipeline/publish/fence-records.ts';
import { directoryRecords } from '../../pipeline/publish/records/directory.ts';
import { folder } from '../fakes/folder.ts';
import { catalogOf, POLICY } from '../fakes/gate.ts';
import { example } from '../fakes/github/payload.ts';
import { listen, reply, startHost, testClient } from '../fakes/host.ts';
import { type Hub, openHub } from '../fakes/hub.ts';
import { type Issuer, startIssuer } from '../fakes/issuer.ts';
import { buildProgram } from '../fakes/program.ts';
import { registry } from '../fakes/registry.ts';
import { runStep, type Stepped } from '../fakes/step.ts';

beforeAll(buildProgram);

let hub: Hub;
let issuer: Issuer;
let image: string;
beforeEach(async () => {
  hub = await openHub();
  issuer = await startIssuer();
});
afterEach(async () => {
  await hub.close();
  expect(hub.forge.defects).toEqual([]);
});

const WORKFLOW = '.github/workflows/portolan-publish.yml';

/** The functions behind an address: their queue is drained as soon as something is in it. */
async function functions(): Promise<string> {
  const { host } = await registry();
  image = `${host}/catalog:v4.20`;
  hub.moveBase({ [POLICY_PATH]: `${POLICY}publish: {catalogs: {'v4.20': {image: '${image}'}}}\n` });
  const records = directoryRecords(folder());
  const queue = memoryQueue();
  const ports: DeliveryPorts = {
    open: async ({ branch }) => {
      const repository = await openRepository(hub.repository.directory, { searchPath: process.env['PATH'] });
      const [tip = ''] = await repository.resolve([branch]);
      return { repository, tip, close: repository.close };
    },
    registry: testClient([host]),
    fence: recordFence(records),
    records,
    queue,
    reports: memoryQueue(),
    now: () => new Date(),
    log: () => undefined,
  };
  const job = { ownerId: 12, workflow: WORKFLOW };
  const sources = [{ repository: 'example/catalogs', id: 1, branch: 'main', url: hub.forge.url, job }];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const headers = request.headers as Record<string, string>;
    const sending = async (message: Parameters<typeof queue.send>[0]): Promise<void> => {
      await queue.send(message);
      await queue.drain((body) => handleMessage(body, ports));
    };
    const { status, body } = await answerJob(
      { headers, body: Buffer.concat(chunks), audience: url },
      {
        sources,
        issuer: issuer.url,
        readToken: tokenReader(issuer.url),
        queue: { send: sending },
        records,
        clock: systemClock,
        patience: 1000,
        room: ROOM,
        log: (line) => hub.log.push(line),
      },
    );
    reply(response, status, JSON.stringify(body), { 'content-type': 'application/json' });
  });
  const url = `http://${await listen(server)}`;
  return url;
}

/** A push, published by a job whose token says this. */
async function publishing(url: string, differing: object = {}, mayAsk = true): Promise<Stepped> {
  const workflow = `example/catalogs/${WORKFLOW}@refs/heads/main`;
  const runner = await startHost(async ({ url: asked }, response) => {
    const audience = new URL(asked, 'http://runner').searchParams.get('audience');
    const token = await issuer.token({
      ...{ aud: audience, repository: 'example/catalogs', repository_id: '1', repository_owner_id: '12' },
      ...{ ref: 'refs/heads/main', event_name: 'push', run_id: '17', run_attempt: '1' },
      ...{ workflow_ref: workflow, job_workflow_ref: workflow, ...differing },
    });
    reply(response, 200, JSON.stringify({ value: token }), { 'content-type': 'application/json' });
  });
  const payload = example('push');
  Object.assign(payload, { ref: 'refs/heads/main', after: hub.base(), deleted: false });
  return runStep({
    event: 'push',
    payload,
    forge: hub.forge,
    inputs: { mode: 'publish', 'publish-url': url },
    environment: mayAsk
      ? {
          ACTIONS_ID_TOKEN_REQUEST_URL: `${runner.url}/token?api-version=2`,
          ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'of-the-runner',
        }
      : {},
  });
}

test('a job without the permission for identity tokens is told which one it lacks', async () => {
  const { status, log } = await publishing(await functions(), {}, false);
  expect([status, log]).toEqual([
    1,
    expect.stringContaining('cannot get an identity token for the functions'),
  ]);
  expect(log).toContain('give the job the permission id-token: write');
  expect(log).toContain('not published: v4.20');
});

test('what is merged is published, noted as a deployment, and handed to the job', async () => {
  const url = await functions();
  const first = await publishing(url);
  expect(first.status, first.log).toBe(0);
  const { 'v4.20': receipt } = JSON.parse(first.outputs['published'] ?? '{}');
  expect(receipt).toMatchObject({ kind: 'PublishReceipt', commit: hub.base(), image });
  expect(hub.forge.deployments).toMatchObject([{ ref: hub.base(), description: receipt.digest }]);
  hub.moveBase({ 'catalogs/v4.20/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0', '1.1.0', '1.2.0']) });
  const second = await publishing(url);
  const next = JSON.parse(second.outputs['published'] ?? '{}')['v4.20'];
  expect(next).toMatchObject({ commit: hub.base() });
  expect(next.digest).not.toBe(receipt.digest);
});

test('documents that the functions’ answer has no room for are named in the log', async () => {
  await functions();
  const key = 'documents/v4.20/x/y/page.html';
  const receipt = { kind: 'PublishReceipt', catalog: 'v4.20', commit: hub.base(), image, digest: 'sha256:1' };
  const answer = JSON.stringify({ published: true, receipt, files: {}, tooLarge: [key] });
  const { url } = await startHost((_, response) => reply(response, 200, answer));
  const stepped = await publishing(url);
  expect(stepped.status, stepped.log).toBe(0);
  expect(stepped.log).toContain(`v4.20: too large for the response, download it from the bucket: ${key}`);
});

test('a job that may not is refused, and its token stands in no log', async () => {
  const url = await functions();
  const stepped = await publishing(url, { repository_id: '666' });
  expect(stepped.status).toBe(1);
  expect(stepped.log).toContain('not published: v4.20');
  expect(stepped.log.replaceAll(/^::add-mask::.*$/gm, '')).not.toContain('eyJ');
  expect(hub.log).toEqual(['refused a job: jobs of this repository are not allowed']);
});

test('a publish that takes longer than one answer, or than a gateway waits, is asked for again, with a token that is still valid', async () => {
  await functions();
  const receipt = { kind: 'PublishReceipt', catalog: 'v4.20', commit: hub.base(), image, digest: 'sha256:1' };
  const published = JSON.stringify({ published: true, receipt, files: {}, tooLarge: [] });
  const tokens: (string | undefined)[] = [];
  const { url } = await startHost(({ headers }, response) => {
    tokens.push(headers.authorization);
    const gateway = { 1: 504, 2: 502, 3: 429 }[tokens.length];
    if (gateway !== undefined) reply(response, gateway, '<html>');
    else if (tokens.length < 6)
      reply(response, 503, JSON.stringify({ error: 'not published yet: it waits' }));
    else reply(response, 200, published);
  });
  const stepped = await publishing(url);
  expect(stepped.status, stepped.log).toBe(0);
  expect(JSON.parse(stepped.outputs['published'] ?? '{}')['v4.20']).toEqual(receipt);
  expect(tokens).toHaveLength(6);
});

test('why functions refuse is in the summary, and functions that do not answer are no crash', async () => {
  await functions();
  const refusing = await startHost((_, response) =>
    reply(response, 422, JSON.stringify({ error: 'no head' })),
  );
  const refused = await publishing(refusing.url);
  expect([refused.status, refused.summary]).toEqual([1, expect.stringContaining('422: no head')]);
  const silent = await startHost((_, { socket }) => void socket?.destroy());
  const unreached = await publishing(silent.url);
  expect(unreached.status).toBe(1);
  expect(unreached.summary).toContain('cannot reach the functions: other side closed');
});

/** Creating something once, although answers are lost, and the account that does. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { PipelineError } from '../../../pipeline/error.ts';
import { openGitHub } from '../../../pipeline/github/client.ts';
import { createOnce, ownAccount } from '../../../pipeline/github/post-report.ts';

const lost = new PipelineError('unreachable', 'no answer', { retryable: true });

test('what took effect is found, and not created again', async () => {
  const made: number[] = [];
  const create = async (): Promise<number> => {
    made.push(made.length + 1);
    throw lost;
  };
  expect(await createOnce(create, async () => made[0], 1)).toBe(1);
  expect(made).toEqual([1]);
});

test('what took no effect is sent again', async () => {
  let tries = 0;
  const create = async (): Promise<number> => {
    tries += 1;
    if (tries === 1) throw lost;
    return 7;
  };
  expect([await createOnce(create, async () => undefined, 1), tries]).toEqual([7, 2]);
});

test('a refusal is one', async () => {
  const refused = new PipelineError('denied', 'no');
  await expect(
    createOnce(
      () => Promise.reject(refused),
      async () => 1,
    ),
  ).rejects.toBe(refused);
});

test.each<[string, Record<string, object>, number | undefined]>([
  ['of the viewer', { '/graphql': { data: { viewer: { databaseId: 1 } } }, '/user': { id: 2 } }, 1],
  ['of the token', { '/graphql': { data: { viewer: { databaseId: null } } }, '/user': { id: 2 } }, 2],
  ['of jobs', { '/users/github-actions%5Bbot%5D': { id: 3 } }, 3],
  ['that nobody names', {}, undefined],
])('the own account is the one %s', async (_, answers, expected) => {
  const server = createServer((request, response) => {
    const answer = answers[request.url ?? ''];
    response.writeHead(answer ? 200 : 403, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer ?? { message: 'Resource not accessible by integration' }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close().closeAllConnections());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const identity = { kind: 'token', token: 'x' } as const;
  expect(await ownAccount(openGitHub({ url, identity, log: () => undefined, retries: 0 }))).toBe(expected);
});

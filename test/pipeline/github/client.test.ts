/** The token of a client, which no message may repeat. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { dataOf, openGitHub } from '../../../pipeline/github/client.ts';

async function failure(url: string, token: string): Promise<string> {
  const identity = { kind: 'token', token } as const;
  const github = openGitHub({ url, identity, log: () => undefined, retries: 0 });
  const asked = dataOf(github.rest.repos.get({ owner: 'own', repo: 'er' }));
  return asked.then(
    () => 'no error',
    (error: unknown) => String(error),
  );
}

test('96: a token with a line break is in no message', async () => {
  const message = await failure('http://127.0.0.1:1', 'gh-0123456789\nX: y');
  expect(message).toContain('GET /repos/own/er');
  expect(message).not.toContain('0123456789');
});

test('96: a server that repeats the token is quoted without it', async () => {
  const server = createServer((request, response) => {
    response.writeHead(400, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ message: `not a token: ${request.headers.authorization}` }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close().closeAllConnections());
  const { port } = server.address() as AddressInfo;
  const message = await failure(`http://127.0.0.1:${port}`, 'gh-0123456789');
  expect(message).toContain('not a token: token ***');
});

/** The embedded registry as a server that strangers reach: names in headers and paths, passwords, addresses. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { hashSync } from 'bcryptjs';
import { expect, onTestFinished, test, vi } from 'vitest';
import { parseReference } from '../../../../../catalog/reference.ts';
import { digestOf } from '../../../../../pipeline/oci/digest.ts';
import { OCI_INDEX } from '../../../../../pipeline/oci/media-types.ts';
import {
  htpasswdAccounts,
  passwordAttempts,
} from '../../../../../pipeline/oci/registry/embedded/htpasswd.ts';
import { startRegistry } from '../../../../../pipeline/oci/registry/embedded/server.ts';
import { openLayout } from '../../../../../pipeline/oci/registry/layout/layout.ts';
import { pushImage } from '../../../../../pipeline/oci/registry/push.ts';
import { folder } from '../../../../fakes/folder.ts';
import { testClient } from '../../../../fakes/host.ts';
import { sampleImage } from '../../../../fakes/image.ts';
import { registry } from '../../../../fakes/registry.ts';

const image = sampleImage();
const { root } = image;

test('attack 87: a page in a browser cannot write, whatever name of the registry it uses', async () => {
  const { host, url } = await registry();
  await pushImage(testClient([host]), parseReference(`${host}/a:v1`), { image });
  const answers = await Promise.all(
    [
      ['POST', `a/blobs/uploads/?digest=${digestOf(Buffer.from('x'))}`],
      ['PUT', 'a/manifests/v2'],
      ['DELETE', 'a/manifests/v1'],
    ].map(([method = '', path]) =>
      fetch(`${url}/v2/${path}`, {
        method,
        headers: { origin: 'https://evil.example', 'content-type': root.mediaType },
        ...(method === 'DELETE' ? {} : { body: method === 'PUT' ? new Uint8Array(root.bytes) : 'x' }),
      }),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual([403, 403, 403]);
  const read = await fetch(`${url}/v2/a/tags/list`, { headers: { origin: 'https://evil.example' } });
  expect(await read.json()).toMatchObject({ tags: ['v1'] });
});

test('attack 92: a name that somebody lets stand for this machine is refused, also to read', async () => {
  const { host, url } = await registry();
  const port = new URL(url).port;
  await pushImage(testClient([host]), parseReference(`${host}/a:v1`), { image });
  const names = [
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'localhost@evil.example',
  ];
  for (const name of [...names, ...names.map((one) => `${one}:${port}`)]) {
    expect(await statusUnder(url, name), name).toBe(403);
  }
  for (const name of ['localhost', 'LOCALHOST.', 'r.localhost', '127.0.0.1', '[::1]', '10.0.0.1', '']) {
    expect(await statusUnder(url, name), name).toBe(200);
    expect(await statusUnder(url, `${name}:${port}`), name).toBe(200);
  }
  const shared = await registry({ openToAll: true });
  expect(await statusUnder(shared.url, 'registry.example')).toBe(404);
  const anonymousPull = true;
  const access = { kind: 'basic', accounts: { bob: 'password' } } as const;
  expect(await statusUnder((await registry({ access })).url, 'registry.example')).toBe(401);
  const open = await registry({ access: { ...access, anonymousPull } });
  expect(await statusUnder(open.url, 'registry.example')).toBe(403);
});

/** The status of a list of tags that is asked for under a name of the registry. */
async function statusUnder(url: string, host: string): Promise<number | undefined> {
  const asked = get(`${url}/v2/a/tags/list`, { headers: { host } });
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}

/** Pushes a manifest by its digest again, with tags in the query. */
function putByDigest(url: string, name: string, query: string): Promise<Response> {
  const headers = { 'content-type': root.mediaType };
  const body = new Uint8Array(root.bytes);
  return fetch(`${url}/v2/${name}/manifests/${root.digest}?${query}`, { method: 'PUT', headers, body });
}

test.each(['tag=a%0d%0aX', 'tag=team-a/secret:latest', 'tag=', 'tag=ok&tag=../x', 'tag=%ff'])(
  'attack 47: a tag that is none is refused, and the server goes on: %s',
  async (query) => {
    const { host, url } = await registry();
    await pushImage(testClient([host]), parseReference(`${host}/team-b/a:v1`), { image });
    const answer = await putByDigest(url, 'team-b/a', query);
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('MANIFEST_INVALID')]);
    expect((await fetch(`${url}/v2/`)).status).toBe(200);
  },
);

test('attack 47: tags by digest are written as they are named', async () => {
  const { host, url } = await registry();
  await pushImage(testClient([host]), parseReference(`${host}/a:v1`), { image });
  const answer = await putByDigest(url, 'a', 'tag=x&tag=y_1.0-z');
  expect([answer.status, answer.headers.get('oci-tag')]).toEqual([201, 'x, y_1.0-z']);
});

test('attack 48: a tag of another repository is not overwritten, also after a restart', async () => {
  const directory = folder();
  const first = await startRegistry({ directory });
  const client = testClient([first.host]);
  const secret = sampleImage({ architectures: ['s390x'] });
  await pushImage(client, parseReference(`${first.host}/team-a/secret:latest`), { image: secret });
  await pushImage(client, parseReference(`${first.host}/team-b/a:v1`), { image });
  const layout = await openLayout(directory, { create: true, takesSparse: false, journaled: true });
  await expect(layout.add('team-b/a', 'team-a/secret:latest', root)).rejects.toMatchObject({ code: 'usage' });
  await expect(layout.add('', 'team-a/secret:latest', root)).rejects.toMatchObject({ code: 'usage' });
  await putByDigest(first.url, 'catalog', 'tag=team-a/secret:latest');
  await first.close();
  const again = await registry({ directory });
  const found = await testClient([again.host]).getManifest(
    parseReference(`${again.host}/team-a/secret:latest`),
  );
  expect(found?.digest).toBe(secret.root.digest);
  expect(readFileSync(join(directory, 'index.json'), 'utf8')).toContain('team-a/secret:latest');
});

test('attack 47: a request that fails unexpectedly gets status 500, and the server goes on', async () => {
  const { url, host } = await registry({
    access: {
      kind: 'basic',
      accounts: async () => {
        throw new TypeError('unexpected');
      },
    },
  });
  const headers = { authorization: `Basic ${btoa('u:p')}` };
  expect((await fetch(`${url}/v2/`, { headers })).status).toBe(500);
  expect((await fetch(`http://${host}/v2/`)).status).toBe(401);
});

/** What `htpasswd -nbB u p` printed. */
const ACCOUNT = 'u:$2y$05$ZEpDdr8YvQJiBEh21SIYIuc5KwefDMKRJ4ziyFF96Y.htgcEnFru2\n';

test('attack 49: an address that tries many passwords gets status 429, and another one its answer', async () => {
  const check = htpasswdAccounts(ACCOUNT, 'accounts');
  let from = '192.0.2.1';
  const accounts = (name: string, password: string): Promise<boolean> => check(name, password, from);
  const { url } = await registry({ access: { kind: 'basic', accounts } });
  const ask = (password: string): Promise<Response> =>
    fetch(`${url}/v2/`, { headers: { authorization: `Basic ${btoa(`u:${password}`)}` } });
  const statuses = await Promise.all(
    Array.from({ length: 60 }, async (_, i) => (await ask(`wrong${i}`)).status),
  );
  expect(statuses.filter((status) => status === 401)).toHaveLength(10);
  expect(statuses.filter((status) => status === 429)).toHaveLength(50);
  const refused = await ask('p');
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60']);
  from = '192.0.2.2';
  expect((await ask('p')).status).toBe(200);
  // A limited address does not learn that a guess is right because another address has proven it. That one stays logged in.
  from = '192.0.2.1';
  expect((await ask('p')).status).toBe(429);
  from = '192.0.2.2';
  await Promise.all(Array.from({ length: 20 }, (_, i) => ask(`wrong${i}`)));
  expect((await ask('wrong')).status).toBe(429);
  expect((await ask('p')).status).toBe(200);
});

test('attack 49: checks take turns by address, and an address may try again after a minute', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const attempts = passwordAttempts();
  const order: string[] = [];
  const wrong = (from: string) => async (): Promise<boolean> => {
    order.push(from);
    return false;
  };
  const tried = Array.from({ length: 11 }, (_, i) => attempts({ address: 'a', what: `${i}` }, wrong('a')));
  const other = attempts({ address: 'b', what: '1' }, wrong('b'));
  const results = await Promise.allSettled([...tried, other]);
  expect(results.filter(({ status }) => status === 'rejected').length).toBeLessThanOrEqual(1);
  expect(order.indexOf('b')).toBeLessThanOrEqual(2);
  const again = { address: 'a', what: 'again' };
  await expect(attempts(again, wrong('a'))).rejects.toMatchObject({ code: 'rate-limited' });
  vi.setSystemTime(Date.now() + 61_000);
  expect(await attempts(again, async () => true)).toBe(true);
});

test('attack 49: a password that several requests bring at once is compared once, and all get their answer', async () => {
  const attempts = passwordAttempts();
  let compared = 0;
  const check = async (): Promise<boolean> => ++compared > 0;
  const asked = Array.from({ length: 30 }, () => attempts({ address: 'a', what: 'u:p' }, check));
  expect([...new Set(await Promise.all(asked)), compared]).toEqual([true, 1]);
  expect(await htpasswdAccounts(ACCOUNT, 'accounts')('u', 'p', '192.0.2.1')).toBe(true);
});

test('attack 49: other requests are served while a password is compared', async () => {
  // What `htpasswd -nbB -C 12 u p` printed.
  const costly = 'u:$2y$12$sD4P9LyhJZkCLimhiIgszOVsDBLh4bR788zBNn1PbWcKzdyoHvady\n';
  const check = htpasswdAccounts(costly, 'accounts');
  let isDone = false;
  const done = check('u', 'wrong', '192.0.2.1').then((isRight) => {
    isDone = true;
    return isRight;
  });
  let turns = 0;
  while (!isDone) {
    await new Promise((resolve) => setImmediate(resolve));
    turns++;
  }
  expect(await done).toBe(false);
  // Slices in this thread would be fewer than ten.
  expect(turns).toBeGreaterThan(100);
  expect(await check('u', 'p', '192.0.2.1')).toBe(true);
});

test('a password beyond the 72 bytes that bcrypt compares is not another spelling of its beginning', async () => {
  const longest = `é${'x'.repeat(70)}`;
  const check = htpasswdAccounts(`u:${hashSync(longest, 4)}\n`, 'accounts');
  expect(await check('u', `${longest}y`, '192.0.2.1')).toBe(false);
  expect(await check('u', longest, '192.0.2.1')).toBe(true);
});

test('attack 49: a hash that takes seconds to compare is refused, and one of a second is not', () => {
  const account = (cost: number): string => ACCOUNT.replace('$05$', `$${cost}$`);
  expect(() => htpasswdAccounts(account(15), 'accounts')).toThrow(
    'accounts:1 has a password of cost 15, more than 14',
  );
  htpasswdAccounts(account(14), 'accounts');
});

/** Sends the head of an upload and its first byte; what comes back, until the connection ends. */
async function beginUpload(url: string): Promise<{ socket: Socket; ended: Promise<string> }> {
  const opened = await fetch(`${url}/v2/a/blobs/uploads/`, { method: 'POST' });
  const { host, hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const head = `PATCH ${opened.headers.get('location')} HTTP/1.1\r\nhost: ${host}\r\ncontent-length: 1000000\r\n\r\n`;
  let text = '';
  socket.on('data', (bytes) => {
    text += bytes.toString();
  });
  socket.on('error', () => undefined);
  const ended = once(socket, 'close').then(() => text);
  socket.write(`${head}x`);
  return { socket, ended };
}

test.each([
  [10, true],
  [200_000, false],
])('attack 52: an upload of %i bytes in a minute and a half ends early: %s', async (bytes, isEnded) => {
  const { url } = await registry();
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const { socket, ended } = await beginUpload(url);
  // The server has read the first byte by then.
  await fetch(`${url}/v2/`);
  vi.setSystemTime(Date.now() + 90_000);
  socket.write('x'.repeat(bytes));
  if (!isEnded) socket.write('x'.repeat(1_000_000 - bytes - 1));
  if (isEnded) expect(await ended).not.toContain('202');
  else expect((await once(socket, 'data')).toString()).toContain('202');
  socket.destroy();
});

test.each(['0.0.0.0', '::', '192.0.2.1', 'registry.example'])(
  'attack 50: without accounts nothing listens at %s unless its owner says so',
  async (host) => {
    await expect(startRegistry({ directory: folder(), host })).rejects.toMatchObject({
      code: 'usage',
      message: `refusing to listen on ${host} without accounts: everybody who can connect could pull and push`,
    });
  },
);

test('attack 50: an owner can open the registry, or ask for accounts', async () => {
  const open = await registry({ host: '0.0.0.0', openToAll: true });
  expect((await fetch(`${open.url.replace('0.0.0.0', '127.0.0.1')}/v2/`)).status).toBe(200);
  await registry({ host: '0.0.0.0', access: { kind: 'basic', accounts: { u: 'p' } } });
  await registry({ host: 'localhost' });
});

test('82: large annotations of referrers come in pages, and are not held', async () => {
  const directory = folder();
  const { host, url } = await registry({ directory });
  const client = testClient([host]);
  await pushImage(client, parseReference(`${host}/a:v1`), { image });
  const { digest, mediaType, bytes } = root;
  const text = 'x'.repeat(1_500_000);
  const pushed: string[] = [];
  for (const [i, artifactType] of ['b', 'b', 'b', 'b', 'c'].entries()) {
    const subject = { digest, mediaType, size: bytes.length };
    const annotations = { text: `${i}${text}` };
    const list = {
      schemaVersion: 2,
      mediaType: OCI_INDEX,
      artifactType,
      manifests: [],
      subject,
      annotations,
    };
    const body = JSON.stringify(list);
    const one = digestOf(Buffer.from(body));
    pushed.push(one);
    const headers = { 'content-type': OCI_INDEX };
    const put = await fetch(`${url}/v2/a/manifests/${one}`, { method: 'PUT', headers, body });
    expect(put.status).toBe(201);
  }
  const first = await fetch(`${url}/v2/a/referrers/${digest}?artifactType=b`);
  expect((await first.arrayBuffer()).byteLength).toBeLessThan(4.1 * 2 ** 20);
  expect(first.headers.get('link')).toContain('rel="next"');
  const all = await client.listReferrers(parseReference(`${host}/a@${digest}`), digest);
  expect(all.map((one) => one.digest)).toEqual([...pushed].sort());
  expect(all.every(({ annotations }) => (annotations?.['text']?.length ?? 0) > text.length)).toBe(true);
  const some = await client.listReferrers(parseReference(`${host}/a@${digest}`), digest, 'b');
  expect(some.map((one) => one.digest)).toEqual(pushed.slice(0, 4).sort());
  const layout = await openLayout(directory, { create: false, takesSparse: false, journaled: true });
  const { manifests } = await layout.contents('a');
  expect(JSON.stringify([...manifests.values()]).length).toBeLessThan(text.length);
});

test('52: a registry that is stopped waits for no body of a connection that is gone', async () => {
  const server = await startRegistry({ directory: folder() });
  const set = vi.spyOn(globalThis, 'setTimeout');
  onTestFinished(() => set.mockRestore());
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write('GET /v2/_catalog HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(50));
  await once(socket, 'data');
  socket.destroy();
  await server.close();
  // Those of this process that are not the registry's come and go meanwhile.
  const patient = set.mock.results.filter((_, i) => Number(set.mock.calls[i]?.[1]) >= 60_000);
  expect(patient).not.toEqual([]);
  expect(patient.filter(({ value }) => value.hasRef())).toEqual([]);
});

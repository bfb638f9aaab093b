/** The embedded registry as a server that strangers reach: names in headers and paths, passwords, addresses. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { parseReference } from '../../../../../catalog/reference.ts';
import { passwordAttempts } from '../../../../../pipeline/oci/registry/embedded/attempts.ts';
import { htpasswdAccounts } from '../../../../../pipeline/oci/registry/embedded/htpasswd.ts';
import { startRegistry } from '../../../../../pipeline/oci/registry/embedded/server.ts';
import { openLayout } from '../../../../../pipeline/oci/registry/layout/layout.ts';
import { pushImage } from '../../../../../pipeline/oci/registry/push.ts';
import { folder } from '../../../../fakes/folder.ts';
import { testClient } from '../../../../fakes/host.ts';
import { sampleImage } from '../../../../fakes/image.ts';
import { registry } from '../../../../fakes/registry.ts';

const image = sampleImage();
const { root } = image;

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
  // Who has proven a password is not asked again.
  from = '192.0.2.1';
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
  const tried = Array.from({ length: 11 }, () => attempts('a', wrong('a')));
  const other = attempts('b', wrong('b'));
  const results = await Promise.allSettled([...tried, other]);
  expect(results.filter(({ status }) => status === 'rejected').length).toBeLessThanOrEqual(1);
  expect(order.indexOf('b')).toBeLessThanOrEqual(2);
  await expect(attempts('a', wrong('a'))).rejects.toMatchObject({ code: 'rate-limited' });
  vi.setSystemTime(Date.now() + 61_000);
  expect(await attempts('a', async () => true)).toBe(true);
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

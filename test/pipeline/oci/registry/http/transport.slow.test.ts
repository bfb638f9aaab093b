import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parseReference, type Reference } from '../../../../../catalog/reference.ts';
import { openTransport } from '../../../../../pipeline/oci/registry/client.ts';
import { pushImage } from '../../../../../pipeline/oci/registry/push.ts';
import { selfSigned } from '../../../../fakes/certificate.ts';
import { testClock } from '../../../../fakes/clock.ts';
import { listen, reply, startHost, testClient } from '../../../../fakes/host.ts';
import { bytesOf, sampleImage, source } from '../../../../fakes/image.ts';
import { registry } from '../../../../fakes/registry.ts';

const tag = (host: string, name = 'a'): Reference => parseReference(`${host}/${name}:v1`);
const blob = source(Buffer.from('content'));
const content = (host: string) => ({ registry: host, repository: 'a' });

describe('redirects', () => {
  test('of blobs are followed, without the credentials', async () => {
    const store = await startHost((_request, response) => reply(response, 200, 'content'));
    const front = await startHost((request, response) => {
      if (request.headers.authorization === undefined) {
        return reply(response, 401, '', { 'www-authenticate': 'Basic realm="x"' });
      }
      reply(response, 307, '', { location: `${store.url}/signed?x=1` });
    });
    const client = testClient([front.host, store.host], {
      credentials: { credential: async () => ({ kind: 'basic', username: 'u', password: 'p' }) },
    });
    expect((await bytesOf(client.getBlob(content(front.host), blob))).toString()).toBe('content');
    expect(store.asked.map(({ headers }) => headers.authorization)).toEqual([undefined]);
    expect(store.asked[0]?.url).toBe('/signed?x=1');
  });

  test('that lead back to the registry do not bring the credentials back', async () => {
    const back = await startHost((_request, response) =>
      reply(response, 302, '', { location: `http://${front.host}/v2/secret` }),
    );
    const front = await startHost((request, response) => {
      if (request.url === '/v2/secret') return reply(response, 200, 'content');
      if (request.headers.authorization === undefined) {
        return reply(response, 401, '', { 'www-authenticate': 'Basic realm="x"' });
      }
      reply(response, 307, '', { location: `${back.url}/x` });
    });
    const client = testClient([front.host, back.host], {
      credentials: { credential: async () => ({ kind: 'basic', username: 'u', password: 'p' }) },
    });
    await bytesOf(client.getBlob(content(front.host), blob));
    expect(front.asked.at(-1)).toMatchObject({ url: '/v2/secret' });
    expect(front.asked.at(-1)?.headers.authorization).toBeUndefined();
  });

  test('to another registry that wants a token of its own get an anonymous one', async () => {
    const other = await startHost((request, response) => {
      if (request.url.startsWith('/token'))
        return reply(response, 200, JSON.stringify({ token: 'anonymous' }));
      if (request.headers.authorization === 'Bearer anonymous') return reply(response, 200, 'content');
      const realm = `http://${request.headers.host}/token`;
      reply(response, 401, '', { 'www-authenticate': `Bearer realm="${realm}",scope="repository:m/a:pull"` });
    });
    const front = await startHost((request, response) => {
      if (request.url === '/v2/') return reply(response, 200);
      reply(response, 307, '', { location: `${other.url}/v2/m/a/blobs/${blob.digest}` });
    });
    const client = testClient([front.host, other.host], {
      credentials: { credential: async () => ({ kind: 'basic', username: 'u', password: 'p' }) },
    });
    expect((await bytesOf(client.getBlob(content(front.host), blob))).toString()).toBe('content');
    expect(other.asked.some(({ headers }) => headers.authorization?.startsWith('Basic'))).toBe(false);
  });

  test.each([
    ['without end', (host: string) => `http://${host}/v2/again`, 'bad-answer'],
    ['to plain HTTP', () => 'http://plain.example/', 'not-allowed'],
    ['to a file', () => 'file:///etc/passwd', 'not-allowed'],
    ['with a password in them', () => 'https://u:p@elsewhere.example/', 'bad-answer'],
    ['to nowhere', () => 'http://', 'bad-answer'],
  ])('%s are refused', async (_, location, code) => {
    const { host } = await startHost((request, response) => {
      if (request.url === '/v2/') return reply(response, 200);
      reply(response, 302, '', { location: location(request.headers.host ?? '') });
    });
    await expect(bytesOf(testClient([host]).getBlob(content(host), blob))).rejects.toMatchObject({ code });
  });
});

describe('hosts that are busy', () => {
  test('are asked again after as long as they say, by all', async () => {
    const clock = testClock();
    let busy = 3;
    const { host } = await startHost((request, response) => {
      if (request.url === '/v2/') return reply(response, 200);
      if (busy-- > 0) return reply(response, 429, '', { 'retry-after': '2' });
      reply(response, 404);
    });
    const client = testClient([host], { clock, retry: { budget: 60_000 } });
    const looks = Array.from({ length: 10 }, (_, i) => client.resolve(tag(host, `a${i}`)));
    expect(await Promise.all(looks)).toEqual(looks.map(() => undefined));
    expect(clock.now() - 1_000_000).toBeGreaterThanOrEqual(2000);
  });

  test('for longer than we may wait are given up at once', async () => {
    const { host, asked } = await startHost((request, response) => {
      if (request.url === '/v2/') return reply(response, 200);
      reply(response, 429, '{"errors":[{"code":"TOOMANYREQUESTS","message":"limit"}]}', {
        'retry-after': '3600',
      });
    });
    const looking = testClient([host]).resolve(tag(host));
    await expect(looking).rejects.toMatchObject({ code: 'rate-limited', retryable: true });
    expect(asked).toHaveLength(2);
  });

  test('are never asked more at a time than is allowed', async () => {
    let now = 0;
    let most = 0;
    const { host } = await startHost((request, response) => {
      if (request.url === '/v2/') return reply(response, 200);
      most = Math.max(most, ++now);
      setTimeout(() => {
        now--;
        reply(response, 404);
      }, 5);
    });
    const client = testClient([host], { concurrency: 3 });
    await Promise.all(Array.from({ length: 20 }, (_, i) => client.resolve(tag(host, `a${i}`))));
    expect(most).toBe(3);
  });
});

describe('hosts that fail', () => {
  test.each([[500], [502], [503], [504], [408]])('with %d are asked again', async (status) => {
    let failures = 2;
    const { host } = await startHost((request, response) => {
      if (request.url === '/v2/') return reply(response, 200);
      reply(response, failures-- > 0 ? status : 404);
    });
    expect(await testClient([host]).resolve(tag(host))).toBeUndefined();
  });

  test('always are given up', async () => {
    const { host, asked } = await startHost((_request, response) => reply(response, 503, 'down'));
    await expect(testClient([host]).resolve(tag(host))).rejects.toMatchObject({
      code: 'bad-answer',
      retryable: true,
    });
    expect(asked).toHaveLength(4);
  });

  test('to answer at all are not asked a thousand times', async () => {
    const dead = createServer();
    const host = await listen(dead);
    await new Promise((done) => dead.close(done));
    const client = testClient([host]);
    const first = client.resolve(tag(host));
    await expect(first).rejects.toMatchObject({
      code: 'unreachable',
      message: expect.stringContaining('refused'),
    });
    const before = client.traffic().get(host)?.requests;
    for (let i = 0; i < 100; i++)
      await expect(client.resolve(tag(host))).rejects.toMatchObject({ code: 'unreachable' });
    expect(client.traffic().get(host)?.requests).toBe(before);
  });

  test('by silence are given up in time', async () => {
    const { host } = await startHost(() => undefined);
    const client = testClient([host], { retry: { attempts: 1 }, timeouts: { answer: 100 } });
    await expect(client.resolve(tag(host))).rejects.toMatchObject({ code: 'unreachable', retryable: true });
  });

  test('104: by silence are asked twice, whatever for, and again after as long as they were silent', async () => {
    let isBack = false;
    const { host, asked } = await startHost((_request, response) => {
      if (isBack) reply(response, 404);
    });
    const clock = testClock();
    const client = testClient([host], { clock, concurrency: 3, timeouts: { answer: 300 } });
    const silent = { code: 'unreachable', retryable: true, message: `${host} does not respond` };
    for (let i = 0; i < 10; i++) await expect(client.resolve(tag(host))).rejects.toMatchObject(silent);
    expect(asked).toHaveLength(2);
    await clock.sleep(30_000);
    await expect(client.resolve(tag(host))).rejects.toMatchObject(silent);
    expect(asked).toHaveLength(3);
    await clock.sleep(30_000);
    isBack = true;
    await expect(client.resolve(tag(host))).rejects.toMatchObject(silent);
    await clock.sleep(30_000);
    expect(await client.resolve(tag(host))).toBeUndefined();
  });

  test('104: to one kind of request, a thousand at a time, are asked twice as often as they may be', async () => {
    const { host, asked } = await startHost(({ method }, response) => {
      if (method !== 'HEAD') reply(response, 404);
    });
    const client = testClient([host], { concurrency: 3, timeouts: { look: 500 } });
    const looks = Array.from({ length: 1000 }, (_, i) => client.resolve(tag(host, `a${i}`)));
    const ended = await Promise.allSettled(looks);
    expect(ended.every(({ status }) => status === 'rejected')).toBe(true);
    expect(asked.filter(({ method }) => method === 'HEAD')).toHaveLength(6);
    // What it answers, it is asked for.
    expect(await client.getManifest(tag(host))).toBeUndefined();
  });

  test('104: after an answer of the same kind are asked as often as before', async () => {
    let heads = 0;
    const { host } = await startHost(({ method }, response) => {
      if (method !== 'HEAD' || ++heads % 3 === 1) reply(response, 404);
    });
    const client = testClient([host], { timeouts: { answer: 50 } });
    for (let i = 0; i < 4; i++) expect(await client.resolve(tag(host))).toBeUndefined();
  });

  test('a connection that the host closed while it was kept costs nothing', async () => {
    const sockets = new Set<Socket>();
    const server = createServer((_request, response) => reply(response, 404));
    server.on('connection', (socket) => sockets.add(socket));
    const host = await listen(server);
    const client = testClient([host]);
    for (let i = 0; i < 3; i++) {
      expect(await client.resolve(tag(host))).toBeUndefined();
      for (const socket of sockets) socket.destroy();
      sockets.clear();
    }
  });
});

describe('ending', () => {
  test('a signal ends requests and waits', async () => {
    const { host } = await startHost(() => undefined);
    const controller = new AbortController();
    const client = testClient([host], { signal: controller.signal });
    const looking = client.resolve(tag(host));
    setTimeout(() => controller.abort(new Error('enough')), 20);
    await expect(looking).rejects.toMatchObject({ message: expect.stringContaining('stopped') });
    await expect(client.resolve(tag(host))).rejects.toMatchObject({
      message: expect.stringContaining('stopped'),
    });
  });

  test('connections are used again, and all are counted', async () => {
    let connections = 0;
    const server = createServer((_request, response) => reply(response, 404, 'no'));
    server.on('connection', () => connections++);
    const host = await listen(server);
    const client = testClient([host]);
    for (let i = 0; i < 20; i++) await client.resolve(tag(host));
    expect(connections).toBe(1);
    expect(client.traffic()).toEqual(new Map([[host, { requests: 41, sent: 0, received: 42 }]]));
  });
});

describe('TLS', () => {
  const tls = selfSigned('127.0.0.1', 'localhost');

  test('a private authority is believed when it is given', async () => {
    const { host } = await registry({ tls });
    const client = testClient([], { authorities: [tls.cert] });
    await pushImage(client, tag(host), { image: sampleImage() });
    expect(await client.resolve(tag(host))).toMatchObject({ digest: sampleImage().root.digest });
  });

  test('and not when it is not', async () => {
    const { host } = await registry({ tls });
    await expect(testClient([]).resolve(tag(host))).rejects.toMatchObject({
      code: 'unreachable',
      retryable: false,
      hint: expect.stringContaining('certificate'),
    });
  });

  test('a host that speaks plain HTTP is said to need an option, in one line', async () => {
    const { host } = await startHost((_request, response) => reply(response, 200, ''));
    const asked = testClient([]).resolve(tag(host));
    await expect(asked).rejects.toMatchObject({
      message: expect.stringMatching(`^GET to ${host}: TLS failed: [a-z ]+$`),
      hint: `if ${host} uses plain HTTP: --insecure ${host}, or the Action's input plain-http`,
    });
  });

  test('a certificate for another host is not believed', async () => {
    const other = selfSigned('elsewhere.example');
    const { host } = await registry({ tls: other });
    const looking = testClient([], { authorities: [other.cert] }).resolve(tag(host));
    await expect(looking).rejects.toMatchObject({ code: 'unreachable', retryable: false });
  });

  test('a host may be named as plain with the usual port, which a URL leaves out', () => {
    const transport = openTransport({ plainHttp: ['plain.test:80'] });
    onTestFinished(transport.close);
    const check = (url: string) => transport.checkUrl(new URL(url));
    expect(() => check('http://plain.test:80/v2/')).not.toThrow();
    expect(() => check('http://plain.test:81/v2/')).toThrow('it does not use HTTPS');
  });

  test('plain HTTP is spoken only where that is said', async () => {
    const { host, seen } = await registry();
    await expect(testClient([]).resolve(tag(host))).rejects.toMatchObject({
      code: 'unreachable',
      hint: expect.stringContaining('plain HTTP'),
    });
    expect(seen).toEqual([]);
  });
});

describe('proxies', () => {
  /** A proxy that keeps what it was asked for. */
  async function proxy(credentials?: string) {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      void fetch((request.url ?? '').replace('plain.test', '127.0.0.1')).then(async (answer) =>
        reply(response, answer.status, Buffer.from(await answer.arrayBuffer())),
      );
    });
    server.on('connect', (request, socket) => {
      asked.push(`CONNECT ${request.url}`);
      const isKnown = credentials === undefined || request.headers['proxy-authorization'] === credentials;
      if (!isKnown) return socket.end('HTTP/1.1 407 no\r\n\r\n');
      const port = Number(request.url?.split(':')[1]);
      const through = connect(port, '127.0.0.1', () => socket.write('HTTP/1.1 200 OK\r\n\r\n'));
      onTestFinished(() => void through.destroy());
      through.pipe(socket).pipe(through);
      through.on('error', () => socket.destroy());
      socket.on('error', () => through.destroy());
    });
    return { host: await listen(server), asked };
  }
  const resolver = async () => [{ address: '127.0.0.1', family: 4 }];

  test('carry TLS through a tunnel', async () => {
    const tls = selfSigned('registry.test');
    const real = await registry({ tls });
    const port = real.host.split(':')[1];
    const through = await proxy(`Basic ${Buffer.from('me:secret').toString('base64')}`);
    const host = `registry.test:${port}`;
    const make = (user: string) =>
      testClient([], {
        authorities: [tls.cert],
        environment: { HTTPS_PROXY: `http://${user}@${through.host}` },
        resolver,
        internal: ['registry.test'],
      });
    const client = make('me:secret');
    await pushImage(client, tag(host), { image: sampleImage() });
    expect(await client.resolve(tag(host))).toMatchObject({ digest: sampleImage().root.digest });
    expect(new Set(through.asked)).toEqual(new Set([`CONNECT ${host}`]));
    await expect(make('me:wrong').resolve(tag(host))).rejects.toMatchObject({
      code: 'denied',
      message: expect.not.stringContaining('wrong'),
    });
  });

  test('carry plain requests', async () => {
    const { host } = await startHost((_request, response) => reply(response, 404));
    const name = `plain.test:${host.split(':')[1]}`;
    const through = await proxy();
    let lookups = 0;
    const client = testClient([name], {
      environment: { http_proxy: `http://${through.host}` },
      // Behind a proxy there may be no names; that is found out once.
      resolver: () => {
        lookups++;
        return Promise.reject(new Error('no such host'));
      },
      internal: ['plain.test'],
    });
    expect(await client.resolve(tag(name))).toBeUndefined();
    expect(await client.resolve(tag(name))).toBeUndefined();
    expect(lookups).toBe(1);
    expect(through.asked[0]).toBe(`GET http://${name}/v2/`);
  });
});

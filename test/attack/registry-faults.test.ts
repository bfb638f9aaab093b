import { open } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { parseReference, type Reference } from '../../catalog/reference.ts';
import { PipelineError } from '../../pipeline/error.ts';
import type { ClientOptions } from '../../pipeline/oci/registry/client.ts';
import { contentOf, parseManifest } from '../../pipeline/oci/registry/image.ts';
import { openLayout } from '../../pipeline/oci/registry/layout/layout.ts';
import { layoutRegistry } from '../../pipeline/oci/registry/layout/registry.ts';
import { copyImage, pushImage, readImage } from '../../pipeline/oci/registry/push.ts';
import type { CredentialSource } from '../../pipeline/ports.ts';
import { type Fault, faultProxy, type Passing } from '../fakes/fault-proxy.ts';
import { folder } from '../fakes/folder.ts';
import { listen, reply, startHost, testClient } from '../fakes/host.ts';
import { bytesOf, noise, sampleImage, source } from '../fakes/image.ts';
import { registry, type TestRegistry } from '../fakes/registry.ts';

const PASS: Fault = { kind: 'pass' };
const before = sampleImage({ architectures: ['amd64', 'arm64'], layers: ['shared', 'old'] });
const after = sampleImage({ architectures: ['amd64', 'arm64'], layers: ['shared', 'new', noise(300_000)] });

/** Every byte of an image, asked of the registry itself, past the proxy. */
async function expectWhole(real: TestRegistry, reference: Reference): Promise<void> {
  const client = testClient([real.host]);
  const at = { ...reference, registry: real.host };
  const { root, manifests, blobs } = await readImage(client, at);
  for (const manifest of [root, ...manifests]) contentOf(parseManifest(manifest));
  for (const blob of blobs) expect(await bytesOf(blob.open(0))).toHaveLength(blob.size);
}

/** A registry whose tag names the old image, behind a proxy with faults. */
async function setUp(choose: (request: Passing) => Fault, options: ClientOptions = {}) {
  const real = await registry();
  await pushImage(testClient([real.host]), parseReference(`${real.host}/a:v1`), { image: before });
  const proxy = await faultProxy(real.host, choose);
  const client = testClient([proxy.host], { chunk: 100_000, ...options });
  const tag = parseReference(`${proxy.host}/a:v1`);
  return { real, proxy, client, tag };
}

/** Pushes the new image; afterwards the tag names either image, and all of it. */
async function push(at: Awaited<ReturnType<typeof setUp>>): Promise<unknown> {
  const outcome = await pushImage(at.client, at.tag, { image: after }).catch((error: unknown) => error);
  const found = await testClient([at.real.host]).resolve({ ...at.tag, registry: at.real.host });
  const isDone = !(outcome instanceof Error);
  if (isDone) expect(found?.digest).toBe(after.root.digest);
  else {
    expect(outcome).toBeInstanceOf(PipelineError);
    expect([before.root.digest, after.root.digest]).toContain(found?.digest);
  }
  await expectWhole(at.real, at.tag);
  return isDone ? 'done' : outcome;
}

/** The fault for the n-th request of a kind, counted from 1. */
function nth(match: RegExp, which: number | 'all', fault: Fault): (request: Passing) => Fault {
  let count = 0;
  return ({ method, url }) => {
    if (!match.test(`${method} ${url}`)) return PASS;
    count++;
    return which === 'all' || count === which ? fault : PASS;
  };
}

describe('uploads', () => {
  test.each<[string, RegExp, number, Fault]>([
    ['a reset in the middle of a chunk', /^PATCH/, 2, { kind: 'cut-request', after: 50_000 }],
    ['a reset after a chunk was taken', /^PATCH/, 1, { kind: 'cut-answer' }],
    ['a reset in the middle of a whole blob', /^PUT .*uploads/, 1, { kind: 'cut-request', after: 10 }],
    ['a reset before an upload is opened', /^POST/, 1, { kind: 'cut' }],
    ['a reset after an upload is opened', /^POST/, 1, { kind: 'cut-answer' }],
    ['a 500 for a commit that was not done', /^PUT .*uploads/, 1, { kind: 'answer', status: 500 }],
    ['a 500 for a commit that was done', /^PUT .*uploads/, 1, { kind: 'lie', status: 500 }],
    ['a 502 for the last commit', /^PUT .*uploads/, 4, { kind: 'lie', status: 502 }],
    ['a reset after a manifest was taken', /^PUT .*manifests\/sha256/, 1, { kind: 'cut-answer' }],
    ['a 503 for the tag, which was written', /^PUT .*manifests\/v1/, 1, { kind: 'lie', status: 503 }],
    ['a 504 for the tag, which was not written', /^PUT .*manifests\/v1/, 1, { kind: 'answer', status: 504 }],
    ['a 404 for a HEAD of a blob that is there', /^HEAD .*blobs/, 1, { kind: 'answer', status: 404 }],
    ['a 404 for what the tag names', /^GET .*manifests\/v1/, 1, { kind: 'answer', status: 404 }],
    ['a 403 for a part of it', /^GET .*manifests\/sha256/, 1, { kind: 'answer', status: 403 }],
    ['a 404 for a part of it', /^GET .*manifests\/sha256/, 1, { kind: 'answer', status: 404 }],
    ['a 416 for a chunk', /^PATCH/, 2, { kind: 'answer', status: 416 }],
    ['an upload that is forgotten', /^PATCH/, 2, { kind: 'answer', status: 404 }],
  ])('%s is survived', async (_, match, which, fault) => {
    const at = await setUp(nth(match, which, fault));
    expect(await push(at)).toBe('done');
    const matching = at.proxy.seen.filter(({ method, url }) => match.test(`${method} ${url}`));
    expect(matching.length).toBeGreaterThanOrEqual(which);
  });

  test.each<[string, RegExp, Fault, string]>([
    ['a 500 for every commit', /^PUT .*uploads/, { kind: 'answer', status: 500 }, 'bad-answer'],
    ['a reset of every chunk', /^PATCH/, { kind: 'cut' }, 'unreachable'],
    ['a reset of every tag', /^PUT .*manifests\/v1/, { kind: 'cut' }, 'unreachable'],
    ['a refusal of every manifest', /^PUT .*manifests/, { kind: 'answer', status: 403 }, 'denied'],
    ['no space left', /^PUT .*uploads/, { kind: 'answer', status: 507 }, 'bad-answer'],
    ['silence at every commit', /^PUT .*uploads/, { kind: 'silence' }, 'unreachable'],
  ])('%s is said, and the tag stays', async (_, match, fault, code) => {
    const at = await setUp(nth(match, 'all', fault), {
      retry: { budget: 3000, attempts: 3 },
      timeouts: { answer: 300 },
    });
    expect(await push(at)).toMatchObject({ code });
    const found = await testClient([at.real.host]).resolve({ ...at.tag, registry: at.real.host });
    expect(found?.digest).toBe(before.root.digest);
  });

  test('a registry that says it stored other bytes is not believed', async () => {
    const other = source(Buffer.from('other')).digest;
    const at = await setUp(
      nth(/^PUT .*uploads/, 'all', { kind: 'headers', headers: { 'docker-content-digest': other } }),
    );
    expect(await push(at)).toMatchObject({ code: 'corrupt' });
  });

  test('a push that was killed goes on: what was sent is not sent again', async () => {
    const at = await setUp(nth(/^PUT .*manifests/, 'all', { kind: 'cut' }));
    await push(at);
    const direct = testClient([at.real.host]);
    const tag = { ...at.tag, registry: at.real.host };
    expect((await pushImage(direct, tag, { image: after })).blobs).toMatchObject({ uploaded: 0 });
    expect(direct.traffic().get(at.real.host)?.sent).toBeLessThan(3000);
  });
});

describe('tokens', () => {
  const credentials: CredentialSource = {
    credential: async () => ({ kind: 'basic', username: 'u', password: 'p' }),
  };

  test('that a registry forgets in the middle of an upload are renewed', async () => {
    const real = await registry({ access: { kind: 'token', accounts: { u: 'p' } } });
    let revoked = '';
    const proxy = await faultProxy(real.host, ({ method, headers }) => {
      const { authorization = '' } = headers;
      // The third chunk finds its token revoked; the client believes in it for minutes.
      if (method === 'PATCH' && headers['content-range']?.startsWith('200000-') && revoked === '')
        revoked = authorization;
      if (revoked === '' || authorization !== revoked) return PASS;
      const challenge = `Bearer realm="http://${real.host}/token",service="portolan",error="invalid_token"`;
      return { kind: 'answer', status: 401, headers: { 'www-authenticate': challenge } };
    });
    const client = testClient([proxy.host, real.host], { chunk: 100_000, credentials });
    await pushImage(client, parseReference(`${proxy.host}/a:v1`), { image: after });
    expect(revoked).not.toBe('');
    const check = testClient([real.host], { credentials });
    expect(await check.resolve(parseReference(`${real.host}/a:v1`))).toMatchObject({
      digest: after.root.digest,
    });
  });

  test('that are refused for ever are given up', async () => {
    const real = await registry();
    const auth = await startHost((_request, response) =>
      reply(response, 200, JSON.stringify({ token: 't' })),
    );
    const challenge = `Bearer realm="${auth.url}/token",service="x"`;
    const proxy = await faultProxy(real.host, () => ({
      kind: 'answer',
      status: 401,
      headers: { 'www-authenticate': challenge },
    }));
    const client = testClient([proxy.host, auth.host]);
    const pushing = pushImage(client, parseReference(`${proxy.host}/a:v1`), { image: after });
    await expect(pushing).rejects.toMatchObject({ code: 'denied' });
    expect(proxy.seen.length).toBeLessThan(20);
  });

  test('are not seen by the host that a redirect leads to', async () => {
    const real = await registry({ access: { kind: 'token', accounts: { u: 'p' } } });
    const direct = testClient([real.host], { credentials });
    const tag = parseReference(`${real.host}/a:v1`);
    await pushImage(direct, tag, { image: after });
    const store = await startHost((request, response) => {
      const digest = request.url.slice(1);
      void (async () => {
        const blob = after.blobs.find((one) => one.digest === digest);
        reply(response, blob ? 200 : 404, blob ? await bytesOf(blob.open(0)) : '');
      })();
    });
    const proxy = await faultProxy(real.host, ({ method, url }) => {
      const digest = /\/blobs\/(sha256:\w+)$/.exec(url)?.[1];
      if (method !== 'GET' || digest === undefined) return PASS;
      return { kind: 'answer', status: 307, headers: { location: `${store.url}/${digest}` } };
    });
    const client = testClient([proxy.host, store.host, real.host], { credentials });
    const { blobs } = await readImage(client, { ...tag, registry: proxy.host });
    for (const blob of blobs) expect(await bytesOf(blob.open(0))).toHaveLength(blob.size);
    expect(store.asked.length).toBeGreaterThan(0);
    for (const { headers } of store.asked) {
      expect(headers.authorization).toBeUndefined();
      expect(JSON.stringify(headers)).not.toContain('Bearer');
    }
  });
});

describe('downloads', () => {
  const read = async (choose: (request: Passing) => Fault, options: ClientOptions = {}) => {
    const at = await setUp(choose, options);
    await pushImage(testClient([at.real.host]), { ...at.tag, registry: at.real.host }, { image: after });
    const { blobs } = await readImage(at.client, at.tag);
    for (const blob of blobs)
      expect((await bytesOf(blob.open(0))).equals(await bytesOf(original(blob.digest)))).toBe(true);
    return at;
  };
  const original = (digest: string) =>
    (after.blobs.find((one) => one.digest === digest) ?? source(Buffer.alloc(0))).open(0);

  test.each<[string, RegExp, number, Fault]>([
    ['a body that is cut', /^GET .*blobs/, 1, { kind: 'truncate', after: 7 }],
    ['a body that stops', /^GET .*blobs/, 1, { kind: 'stall', after: 7 }],
    ['a manifest that is cut', /^GET .*manifests/, 1, { kind: 'truncate', after: 7 }],
    ['a manifest that stops', /^GET .*manifests/, 2, { kind: 'stall', after: 7 }],
    ['a HEAD that says 404', /^HEAD .*manifests/, 1, { kind: 'answer', status: 404 }],
    ['a 500', /^GET .*blobs/, 2, { kind: 'answer', status: 500 }],
  ])('%s is survived', async (_, match, which, fault) => void (await read(nth(match, which, fault))));

  test('HEAD that always says 404 is not believed', async () => {
    const at = await setUp(nth(/^HEAD/, 'all', { kind: 'answer', status: 404 }));
    expect(await at.client.resolve(at.tag)).toMatchObject({ digest: before.root.digest });
  });

  test('a wrong digest is found out', async () => {
    const other = source(Buffer.from('other')).digest;
    const lie: Fault = { kind: 'headers', headers: { 'docker-content-digest': other } };
    const at = await setUp(nth(/^GET .*manifests/, 'all', lie));
    await expect(at.client.getManifest(at.tag)).rejects.toMatchObject({ code: 'corrupt' });
    const blobs = await setUp(nth(/^GET .*blobs/, 'all', lie));
    const [blob = source(Buffer.alloc(0))] = before.blobs;
    await expect(bytesOf(blobs.client.getBlob(blobs.tag, blob))).rejects.toMatchObject({ code: 'corrupt' });
  });
});

describe('a host that plays for time', () => {
  /** Answers everything with a byte at a time. */
  async function dripping(what: 'head' | 'body'): Promise<string> {
    const server = createServer();
    server.removeAllListeners('request');
    server.on('connection', (socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => {
        const head = 'HTTP/1.1 200 OK\r\ncontent-length: 100000\r\ncontent-type: application/json\r\nx: ';
        let sent = what === 'head' ? 0 : head.length;
        if (what === 'body') socket.write(`${head}y\r\n\r\n`);
        const timer = setInterval(() => {
          if (socket.destroyed) return clearInterval(timer);
          socket.write(what === 'head' ? (head[sent++] ?? 'z') : 'z');
        }, 20);
        onTestFinished(() => clearInterval(timer));
      });
    });
    return listen(server);
  }

  test.each(['head', 'body'] as const)('with its %s is given up', async (what) => {
    const host = await dripping(what);
    const client = testClient([host], {
      retry: { attempts: 1, budget: 5000 },
      timeouts: { answer: 400, pause: 400, slowest: 1024 },
    });
    const began = Date.now();
    const reading = client.getManifest(parseReference(`${host}/a:v1`));
    await expect(reading).rejects.toMatchObject({ code: 'unreachable' });
    // To its end it would take 2,000 s.
    expect(Date.now() - began).toBeLessThan(100_000);
  });

  test('by not reading what we send is given up', async () => {
    const server = createServer();
    server.removeAllListeners('request');
    server.on('connection', (socket) => {
      socket.on('error', () => undefined);
      socket.once('data', (head) => {
        const text = head.toString();
        if (text.startsWith('POST'))
          socket.end('HTTP/1.1 202 OK\r\nlocation: /up\r\ncontent-length: 0\r\n\r\n');
        else if (text.startsWith('PUT')) socket.pause();
        else
          socket.end(`HTTP/1.1 ${text.startsWith('GET /v2/ ') ? 200 : 404} x\r\ncontent-length: 0\r\n\r\n`);
      });
    });
    const host = await listen(server);
    const client = testClient([host], {
      retry: { attempts: 1 },
      timeouts: { silence: 300, answer: 300 },
      chunk: 64 * 1024 * 1024,
    });
    const putting = client.putBlob({ registry: host, repository: 'a' }, source(noise(30_000_000)));
    await expect(putting).rejects.toMatchObject({ code: 'unreachable' });
  });
});

describe('a storm of 429', () => {
  test('is waited out, and no request of it is lost', async () => {
    let storm = 60;
    const at = await setUp(({ url }) =>
      url !== '/v2/' && storm-- > 0 ? { kind: 'answer', status: 429, headers: { 'retry-after': '0' } } : PASS,
    );
    expect(await push(at)).toBe('done');
  });

  test('that does not end is said to be one', async () => {
    const at = await setUp(({ url }) => (url === '/v2/' ? PASS : { kind: 'answer', status: 429 }), {
      retry: { budget: 500 },
    });
    expect(await push(at)).toMatchObject({ code: 'rate-limited', retryable: true });
  });
});

describe('a full disk', () => {
  let restore = (): void => undefined;
  afterEach(() => restore());

  /** Makes all writes to files fail once so many bytes have been written. */
  async function fill(after: number): Promise<void> {
    const handle = await open(join(folder(), 'x'), 'w');
    const prototype = Object.getPrototypeOf(handle) as { write: (...all: unknown[]) => Promise<unknown> };
    await handle.close();
    const { write } = prototype;
    restore = () => {
      prototype.write = write;
    };
    let left = after;
    prototype.write = function limited(...parameters: unknown[]) {
      left -= (parameters[0] as Uint8Array).length;
      if (left >= 0) return write.apply(this, parameters);
      return Promise.reject(Object.assign(new Error('ENOSPC'), { code: 'ENOSPC', syscall: 'write' }));
    };
  }

  test('of the registry fails the push, and the tag stays', async () => {
    const at = await setUp(() => PASS, { retry: { attempts: 2 } });
    await fill(150_000);
    const outcome = await pushImage(at.client, at.tag, { image: after }).catch((error: unknown) => error);
    expect(outcome).toMatchObject({ code: 'bad-answer', message: expect.stringContaining('no space left') });
    restore();
    const found = await testClient([at.real.host]).resolve({ ...at.tag, registry: at.real.host });
    expect(found?.digest).toBe(before.root.digest);
    expect(await push(at)).toBe('done');
  });

  test('of ours fails the copy into a directory, which stays as it was', async () => {
    const directory = join(folder(), 'layout');
    const layout = layoutRegistry(await openLayout(directory, { create: true }));
    const tag = { kind: 'tag', registry: '', repository: '', tag: 'v1' } as const;
    await pushImage(layout, tag, { image: before });
    const at = await setUp(() => PASS);
    await pushImage(testClient([at.real.host]), { ...at.tag, registry: at.real.host }, { image: after });
    await fill(150_000);
    const copying = copyImage(
      { registry: at.client, reference: at.tag },
      { registry: layout, reference: tag },
    );
    await expect(copying).rejects.toMatchObject({
      code: 'io',
      message: expect.stringContaining('no space left'),
    });
    restore();
    expect(await layout.resolve(tag)).toMatchObject({ digest: before.root.digest });
  });
});

test('a connection that is nothing but noise is an unreachable host', async () => {
  const server = createServer();
  server.removeAllListeners('connection');
  server.on('connection', (socket) => {
    socket.on('error', () => undefined);
    socket.end(noise(500));
  });
  const host = await listen(server);
  const looking = testClient([host]).resolve(parseReference(`${host}/a:v1`));
  await expect(looking).rejects.toMatchObject({ code: 'unreachable' });
});

test('whatever breaks in whatever order, the tag names a whole image', async () => {
  const outcomes = { done: 0, failed: 0 };
  for (let seed = 0; seed < Number(process.env['RUNS'] ?? 40); seed++) {
    const next = random(seed);
    const at = await setUp(
      ({ url }) => {
        if (url === '/v2/' || next() > 0.25) return PASS;
        const faults: readonly Fault[] = [
          { kind: 'cut' },
          { kind: 'cut-answer' },
          { kind: 'cut-request', after: Math.floor(next() * 90_000) },
          { kind: 'truncate', after: Math.floor(next() * 500) },
          { kind: 'answer', status: 429 },
          { kind: 'answer', status: 503 },
          { kind: 'answer', status: 404 },
          { kind: 'lie', status: 500 },
        ];
        return faults[Math.floor(next() * faults.length)] ?? PASS;
      },
      { retry: { budget: 4000, attempts: 6 } },
    );
    const outcome = await push(at);
    outcomes[outcome === 'done' ? 'done' : 'failed']++;
    if (outcome !== 'done')
      await pushImage(testClient([at.real.host]), { ...at.tag, registry: at.real.host }, { image: after });
    await expectWhole(at.real, at.tag);
  }
  expect(outcomes.done).toBeGreaterThan(0);
});

/** Numbers from 0 to 1 that are the same for the same seed. */
function random(seed: number): () => number {
  let state = seed * 2654435761 + 1;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 2246822519) + 3266489917) | 0;
    return ((state ^ (state >>> 13)) >>> 0) / 2 ** 32;
  };
}

test('the proxy itself hands on what it is not told to break', async () => {
  const at = await setUp(() => PASS);
  expect(await push(at)).toBe('done');
  const [host = '', port = ''] = at.proxy.host.split(':');
  await new Promise<void>((done) => {
    const socket = connect(Number(port), host, () => socket.destroy());
    socket.on('close', () => done());
  });
});

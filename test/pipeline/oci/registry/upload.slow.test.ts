import { describe, expect, test, vi } from 'vitest';
import { faultProxy } from '../../../fakes/fault-proxy.ts';
import { type Asked, type Respond, reply, startHost, testClient } from '../../../fakes/host.ts';
import { bytesOf, noise, source } from '../../../fakes/image.ts';
import { registry } from '../../../fakes/registry.ts';

const bytes = noise(250_000);
const blob = source(bytes);
const at = (host: string, repository = 'a') => ({ registry: host, repository });

const steps = (asked: readonly { method: string; url: string }[]) =>
  asked.filter(({ url }) => url !== '/v2/').map(({ method }) => method);

describe('sending', () => {
  test('small blobs go in one request', async () => {
    const { host, seen } = await registry();
    const client = testClient([host]);
    expect(await client.putBlob(at(host), blob)).toBe('uploaded');
    expect(steps(seen)).toEqual(['HEAD', 'POST', 'PUT']);
    expect(client.traffic().get(host)?.sent).toBe(bytes.length);
  });

  test('large ones in chunks', async () => {
    const { host, seen } = await registry();
    const client = testClient([host], { chunk: 100_000 });
    expect(await client.putBlob(at(host), blob)).toBe('uploaded');
    expect(steps(seen)).toEqual(['HEAD', 'POST', 'PATCH', 'PATCH', 'PATCH', 'PUT']);
    expect(seen.filter(({ method }) => method === 'PATCH').map(({ received }) => received)).toEqual([
      100_000, 100_000, 50_000,
    ]);
  });

  test('an empty one', async () => {
    const { host } = await registry();
    const client = testClient([host], { chunk: 1 });
    const empty = source(Buffer.alloc(0));
    expect(await client.putBlob(at(host), empty)).toBe('uploaded');
    expect(await client.hasBlob(at(host), empty.digest)).toBe(true);
    expect(await bytesOf(client.getBlob(at(host), empty))).toHaveLength(0);
  });

  test('what is there is not sent', async () => {
    const { host, seen } = await registry();
    const client = testClient([host]);
    await client.putBlob(at(host), blob);
    expect(await client.putBlob(at(host), blob)).toBe('present');
    expect(steps(seen).slice(3)).toEqual(['HEAD']);
  });

  test('what another repository has is mounted', async () => {
    const { host, seen } = await registry();
    const client = testClient([host]);
    await client.putBlob(at(host, 'base'), blob);
    expect(await client.putBlob(at(host), blob, { mountFrom: ['base'] })).toBe('mounted');
    expect(await client.hasBlob(at(host), blob.digest)).toBe(true);
    expect(seen.reduce((sum, { received }) => sum + received, 0)).toBe(bytes.length);
  });

  test('what is known to be absent is read while the upload is opened, once', async () => {
    const real = await registry();
    let posts = 0;
    let reads = 0;
    let readBefore = 0;
    const front = await forward(real.host, (request, response) => {
      if (request.method !== 'POST') return false;
      readBefore = reads;
      if (++posts === 1) reply(response, 503);
      return posts === 1;
    });
    const open = (from: number) => {
      reads++;
      return blob.open(from);
    };
    const client = testClient([front.host]);
    expect(await client.putBlob(at(front.host), { ...blob, open }, { absent: true })).toBe('uploaded');
    expect({ posts, reads, readBefore }).toEqual({ posts: 2, reads: 1, readBefore: 1 });
    expect(await client.hasBlob(at(front.host), blob.digest)).toBe(true);
  });

  test('what cannot be mounted is sent, in the upload that the answer opened', async () => {
    const { host, seen } = await registry();
    expect(await testClient([host]).putBlob(at(host), blob, { mountFrom: ['other'] })).toBe('uploaded');
    expect(steps(seen)).toEqual(['HEAD', 'POST', 'PUT']);
  });

  test('other algorithms', async () => {
    const { host } = await registry();
    const client = testClient([host], { chunk: 100_000 });
    const { createHash } = await import('node:crypto');
    const digest = `sha512:${createHash('sha512').update(bytes).digest('hex')}`;
    expect(await client.putBlob(at(host), { ...blob, digest })).toBe('uploaded');
    expect(await client.hasBlob(at(host), digest)).toBe(true);
  });

  test('a source that has other bytes than it says is found out before it is stored', async () => {
    const { host } = await registry();
    const other = source(noise(250_000, 'other'));
    for (const chunk of [1_000_000, 100_000]) {
      const client = testClient([host], { chunk });
      for (const open of [other.open, source(bytes.subarray(1)).open]) {
        await expect(client.putBlob(at(host), { ...blob, open })).rejects.toMatchObject({ code: 'corrupt' });
      }
      expect(await client.hasBlob(at(host), blob.digest)).toBe(false);
    }
  });
});

describe('with a memory', () => {
  /** A registry that signs how far an upload got into its address, and may tell without it. */
  const signing = (tells: boolean) =>
    startHost((request, response) => {
      const location = '/v2/a/blobs/uploads/1?_state=signed';
      if (request.method === 'POST' || request.method === 'PATCH')
        return reply(response, 202, '', { location });
      if (request.method === 'GET' && request.url === '/v2/a/blobs/uploads/1')
        return reply(response, tells ? 204 : 404, '', tells ? { location, range: '0-0' } : {});
      reply(response, request.method === 'PUT' ? 201 : request.url === '/v2/' ? 200 : 404);
    });
  const remembering = (noted: string[]) => ({
    location: undefined,
    chunk: 100_000,
    note: (location: string) => void noted.push(location),
  });

  test('an upload goes in chunks where it can be gone on with, and says where from the start', async () => {
    const { host, asked } = await signing(true);
    const client = testClient([host]);
    const noted: string[] = [];
    for (const repository of ['a', 'a'])
      await client.putBlob(at(host, repository), blob, { memory: remembering(noted) });
    const once = ['POST', 'GET', 'PATCH', 'PATCH', 'PATCH', 'PUT'];
    expect(steps(asked)).toEqual(['HEAD', ...once, 'HEAD', ...once.filter((method) => method !== 'GET')]);
    expect(noted.slice(0, 4)).toEqual(Array(4).fill(`http://${host}/v2/a/blobs/uploads/1?_state=signed`));
  });

  test('one request is better where half a chunk ends an upload', async () => {
    const { host, asked } = await signing(false);
    const noted: string[] = [];
    await testClient([host]).putBlob(at(host), blob, { memory: remembering(noted) });
    expect(steps(asked)).toEqual(['HEAD', 'POST', 'GET', 'PUT']);
    expect(noted).toEqual([]);
  });

  test('an upload that an earlier run began, and that got no byte, is deleted in the registry', async () => {
    const real = await registry();
    const begun = await fetch(`http://${real.host}/v2/a/blobs/uploads/`, { method: 'POST' });
    const location = new URL(begun.headers.get('location') ?? '', `http://${real.host}`).href;
    expect((await fetch(location)).status).toBe(204);
    const client = testClient([real.host]);
    await client.putBlob(at(real.host), blob, { memory: { ...remembering([]), location } });
    expect(await client.hasBlob(at(real.host), blob.digest)).toBe(true);
    expect((await fetch(location)).status).toBe(404);
    // An address elsewhere is not asked for anything.
    const elsewhere = await registry();
    const foreign = `http://${elsewhere.host}/v2/a/blobs/uploads/1`;
    await client.putBlob(at(real.host, 'b'), blob, { memory: { ...remembering([]), location: foreign } });
    expect(elsewhere.seen).toEqual([]);
  });

  test('uploads that an earlier run opened are deleted, but not where the blob arrived', async () => {
    const real = await registry();
    const opened = async (): Promise<string> => {
      const begun = await fetch(`http://${real.host}/v2/a/blobs/uploads/`, { method: 'POST' });
      return new URL(begun.headers.get('location') ?? '', `http://${real.host}`).href;
    };
    const location = await opened();
    const noted: string[] = [];
    const begun = (place: string): void => void noted.push(place);
    const client = testClient([real.host]);
    await client.putBlob(at(real.host), blob, { uploads: { earlier: [location], begun } });
    expect((await fetch(location)).status).toBe(404);
    expect(noted).toEqual([expect.stringContaining(`http://${real.host}/v2/a/blobs/uploads/`)]);
    real.seen.length = 0;
    const other = await opened();
    await client.putBlob(at(real.host), blob, { uploads: { earlier: [other], begun } });
    expect(real.seen.filter(({ method }) => method === 'DELETE')).toEqual([]);
    // An address elsewhere is not asked for anything.
    const elsewhere = await registry();
    const foreign = `http://${elsewhere.host}/v2/a/blobs/uploads/1`;
    await client.putBlob(at(real.host, 'b'), blob, { uploads: { earlier: [foreign], begun } });
    expect(elsewhere.seen).toEqual([]);
  });

  test('what was cut in the midst of a chunk goes on from there', async () => {
    const real = await registry();
    const cutting = await faultProxy(real.host, ({ method }) =>
      method === 'PATCH' ? { kind: 'cut-request', after: 60_000 } : { kind: 'pass' },
    );
    const noted: string[] = [];
    const once = testClient([cutting.host], { retry: { attempts: 1 } });
    const first = once.putBlob(at(cutting.host), blob, { memory: remembering(noted) });
    await expect(first).rejects.toThrow();
    const location = noted.at(-1)?.replace(cutting.host, real.host) ?? '';
    // What was on its way arrives after the cut.
    await vi.waitFor(
      async () => expect((await fetch(location)).headers.get('range')).not.toBe('0-0'),
      60_000,
    );
    const client = testClient([real.host]);
    await client.putBlob(at(real.host), blob, { memory: { ...remembering([]), location } });
    expect(await client.hasBlob(at(real.host), blob.digest)).toBe(true);
    expect(client.traffic().get(real.host)?.sent).toBeLessThan(bytes.length);
  });
});

describe('a mount that is refused', () => {
  test.each([[400], [401], [403], [404], [405], [500]])('with %d becomes an upload', async (status) => {
    const real = await registry();
    const asked: string[] = [];
    const front = await forward(real.host, (request, response) => {
      asked.push(request.method);
      if (!request.url.includes('mount=')) return false;
      reply(response, status);
      return true;
    });
    const client = testClient([front.host], { retry: { attempts: 9 } });
    const putting = client.putBlob(at(front.host), blob, { mountFrom: ['base'] });
    if (status === 500) await expect(putting).rejects.toMatchObject({ code: 'bad-answer' });
    else expect(await putting).toBe('uploaded');
  });
});

describe('where to go on', () => {
  /** A registry that gives an upload's place in its own way. */
  const placing = (location: (host: string) => string) =>
    startHost((request, response) => {
      const host = request.headers.host ?? '';
      if (request.method === 'POST') return reply(response, 202, '', { location: location(host) });
      reply(response, request.method === 'PUT' ? 201 : request.url === '/v2/' ? 200 : 404);
    });

  test.each<[string, (host: string) => string, string]>([
    ['a path', () => '/up/1', '/up/1?digest='],
    ['a path beside the request', () => '1', '/v2/a/blobs/uploads/1?digest='],
    ['an address', (host) => `http://${host}/up`, '/up?digest='],
    [
      'a query that is signed',
      () => '/up?_state=a%20b%2Bc%3D%3D&x=%7E',
      '/up?_state=a%20b%2Bc%3D%3D&x=%7E&digest=',
    ],
  ])('%s', async (_, location, expected) => {
    const { host, asked } = await placing(location);
    await testClient([host]).putBlob(at(host), blob);
    expect(asked.at(-1)?.url).toBe(`${expected}${encodeURIComponent(blob.digest)}`);
  });

  test('nowhere, or over plain HTTP elsewhere, is refused', async () => {
    const nowhere = await startHost((request, response) =>
      reply(response, request.method === 'POST' ? 202 : 404),
    );
    await expect(testClient([nowhere.host]).putBlob(at(nowhere.host), blob)).rejects.toMatchObject({
      code: 'bad-answer',
    });
    const plain = await placing(() => 'http://plain.example/up');
    await expect(testClient([plain.host]).putBlob(at(plain.host), blob)).rejects.toMatchObject({
      code: 'not-allowed',
    });
  });
});

describe('chunks', () => {
  test('begin again where the registry says', async () => {
    const real = await registry();
    let patches = 0;
    const front = await forward(real.host, (request, response) => {
      if (request.method !== 'PATCH') return false;
      patches++;
      if (patches === 2) reply(response, 500);
      return patches === 2;
    });
    const client = testClient([front.host], { chunk: 100_000 });
    expect(await client.putBlob(at(front.host), blob)).toBe('uploaded');
    expect(steps(front.asked)).toEqual(['HEAD', 'POST', 'PATCH', 'PATCH', 'GET', 'PATCH', 'PATCH', 'PUT']);
    expect(await client.hasBlob(at(front.host), blob.digest)).toBe(true);
  });

  test('an upload that the registry forgot is begun anew', async () => {
    const real = await registry();
    let upload = '';
    const front = await forward(real.host, (request, response) => {
      if (upload === '' && request.headers['content-range']?.startsWith('100000-')) upload = request.url;
      if (upload === '' || request.url !== upload) return false;
      reply(response, 404, '{"errors":[{"code":"BLOB_UPLOAD_UNKNOWN"}]}');
      return true;
    });
    expect(await testClient([front.host], { chunk: 100_000 }).putBlob(at(front.host), blob)).toBe('uploaded');
    expect(steps(front.asked).filter((method) => method === 'POST')).toHaveLength(2);
  });

  test('are as large as the registry wants them', async () => {
    const { host, asked } = await startHost((request, response) => {
      if (request.method === 'POST') {
        return reply(response, 202, '', { location: '/up', 'oci-chunk-min-length': '200000' });
      }
      if (request.method === 'PATCH') return reply(response, 202, '', { location: '/up' });
      reply(response, request.method === 'PUT' ? 201 : request.url === '/v2/' ? 200 : 404);
    });
    await testClient([host], { chunk: 1000 }).putBlob(at(host), blob);
    const patches = asked.filter(({ method }) => method === 'PATCH');
    expect(patches.map(({ body }) => body.length)).toEqual([200_000, 50_000]);
    expect(patches.map(({ headers }) => headers['content-range'])).toEqual(['0-199999', '200000-249999']);
    expect(Buffer.concat(patches.map(({ body }) => body)).equals(bytes)).toBe(true);
  });

  test('a registry that does not say how far it got takes the blob anew', async () => {
    let patches = 0;
    const { host, asked } = await startHost((request, response) => {
      if (request.method === 'POST') return reply(response, 202, '', { location: '/up' });
      // The second chunk breaks, once; the way to ask is not known here.
      if (request.method === 'PATCH' && ++patches === 2) return void response.destroy();
      if (request.method === 'PATCH') return reply(response, 202, '', { location: '/up' });
      if (request.url === '/up') return reply(response, 400, '{"errors":[{"code":"NAME_INVALID"}]}');
      reply(response, request.method === 'PUT' ? 201 : request.url === '/v2/' ? 200 : 404);
    });
    expect(await testClient([host], { chunk: 100_000 }).putBlob(at(host), blob)).toBe('uploaded');
    expect(asked.filter(({ method }) => method === 'POST')).toHaveLength(2);
    const sent = asked.filter(({ method }) => method === 'PATCH').slice(-3);
    expect(Buffer.concat(sent.map(({ body }) => body)).equals(bytes)).toBe(true);
  });

  test('a registry that takes nothing, or claims more than was sent, is given up', async () => {
    for (const range of ['0-0', '0-999999']) {
      const { host } = await startHost((request, response) => {
        if (request.method === 'POST') return reply(response, 202, '', { location: '/up' });
        if (request.method === 'PATCH') return reply(response, 202, '', { location: '/up', range });
        if (request.url === '/up') return reply(response, 204, '', { location: '/up', range });
        reply(response, request.url === '/v2/' ? 200 : 404);
      });
      const putting = testClient([host], { chunk: 100_000 }).putBlob(at(host), blob);
      await expect(putting).rejects.toMatchObject({ code: range === '0-0' ? 'bad-answer' : 'corrupt' });
    }
  });
});

/** A host that hands requests on to a registry, but for those that `step` answers itself. */
function forward(target: string, step: (...parameters: Parameters<Respond>) => boolean) {
  return startHost((request, response) => {
    if (step(request, response)) return;
    void hand(target, request).then(({ status, headers, body }) => reply(response, status, body, headers));
  });
}

async function hand(target: string, { method, url, headers, body }: Asked) {
  const { 'content-range': range } = headers;
  const answer = await fetch(`http://${target}${url}`, {
    method,
    headers: { ...(range ? { 'content-range': range } : {}) },
    ...(body.length > 0 ? { body: new Uint8Array(body) } : {}),
  });
  const { 'content-length': _, ...rest } = Object.fromEntries(answer.headers);
  return { status: answer.status, headers: rest, body: Buffer.from(await answer.arrayBuffer()) };
}

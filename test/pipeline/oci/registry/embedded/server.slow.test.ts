import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { parseReference, withDigest } from '../../../../../catalog/reference.ts';
import { OCI_INDEX, OCI_MANIFEST } from '../../../../../pipeline/oci/media-types.ts';
import { startRegistry } from '../../../../../pipeline/oci/registry/embedded/server.ts';
import { pushImage } from '../../../../../pipeline/oci/registry/push.ts';
import { folder } from '../../../../fakes/folder.ts';
import { testClient } from '../../../../fakes/host.ts';
import { bytesOf, manifestOf, noise, sampleImage, source } from '../../../../fakes/image.ts';
import { registry } from '../../../../fakes/registry.ts';

const image = sampleImage({ architectures: ['amd64', 'arm64'] });
const blob = source(noise(1000));

async function push(host: string, name: string): Promise<void> {
  await pushImage(testClient([host]), parseReference(`${host}/${name}`), { image });
}

async function errorOf(answer: Response): Promise<string> {
  const { errors } = (await answer.json()) as { errors: { code: string }[] };
  return `${answer.status} ${errors[0]?.code}`;
}

async function upload(url: string, name: string, bytes: Uint8Array): Promise<Response> {
  const opened = await fetch(`${url}/v2/${name}/blobs/uploads/`, { method: 'POST' });
  const place = `${url}${opened.headers.get('location')}?digest=${source(Buffer.from(bytes)).digest}`;
  return fetch(place, { method: 'PUT', body: new Uint8Array(bytes) });
}

describe('names', () => {
  test('the layout’s own tags are served under the root name, others under theirs', async () => {
    const { host, url, directory } = await registry({ root: 'own' });
    await push(host, 'own:v1');
    await push(host, 'a/b:v2');
    await vi.waitFor(() => {
      const { manifests } = JSON.parse(readFileSync(join(directory, 'index.json'), 'utf8'));
      const names = manifests.map((one: { annotations: object }) => Object.values(one.annotations)[0]);
      expect(names).toEqual(['v1', 'a/b:v2']);
    }, 60_000);
    const all = await (await fetch(`${url}/v2/_catalog`)).json();
    expect(all).toEqual({ repositories: ['a/b', 'own'] });
  });

  test.each([
    ['/v2/UPPER/tags/list', '400 NAME_INVALID'],
    ['/v2/a/../../etc/tags/list', '404 NAME_UNKNOWN'],
    ['/v2/a%2fb/tags/list', '400 NAME_INVALID'],
    [`/v2/${'a'.repeat(256)}/tags/list`, '400 NAME_INVALID'],
    ['/v2/a/tags/other', '404 NAME_UNKNOWN'],
    ['/v2/a/manifests/-x', '400 MANIFEST_INVALID'],
    [`/v2/a/manifests/${'x'.repeat(129)}`, '400 MANIFEST_INVALID'],
    ['/v2/a/manifests/sha256:short', '400 DIGEST_INVALID'],
    ['/v2/a/blobs/v1', '400 DIGEST_INVALID'],
    ['/v2/a/blobs/sha256:%2e%2e%2f', '400 DIGEST_INVALID'],
    ['/v2/a/blobs/%ff', '400 DIGEST_INVALID'],
    ['/v2/a/referrers/x', '400 DIGEST_INVALID'],
    [`/v2/a/blobs/sha256:${'a'.repeat(64)}`, '404 BLOB_UNKNOWN'],
    ['/v2/a/manifests/v1', '404 MANIFEST_UNKNOWN'],
    ['/v2/a/tags/list', '404 NAME_UNKNOWN'],
    ['/v2/a/blobs/uploads/none', '404 BLOB_UPLOAD_UNKNOWN'],
    ['/elsewhere', '404 NAME_UNKNOWN'],
    ['/token', '404 NAME_UNKNOWN'],
  ])('%s: %s', async (path, expected) => {
    const { url } = await registry();
    expect(await errorOf(await fetch(url + path))).toBe(expected);
  });

  test('a method that is not for a place', async () => {
    const { url } = await registry();
    expect(await errorOf(await fetch(`${url}/v2/a/tags/list`, { method: 'POST' }))).toBe('405 UNSUPPORTED');
    expect(await errorOf(await fetch(`${url}/v2/`, { method: 'DELETE' }))).toBe('405 UNSUPPORTED');
  });
});

describe('reading', () => {
  test.each([
    ['bytes=0-99', 206, 0, 100, 'bytes 0-99/1000'],
    ['bytes=900-', 206, 900, 1000, 'bytes 900-999/1000'],
    ['bytes=-10', 206, 990, 1000, 'bytes 990-999/1000'],
    ['bytes=900-5000', 206, 900, 1000, 'bytes 900-999/1000'],
    ['bytes=1000-', 416, 0, 0, 'bytes */1000'],
    ['bytes=7-3', 200, 0, 1000, null],
    ['items=0-3', 200, 0, 1000, null],
    ['bytes=0-1,4-5', 200, 0, 1000, null],
  ])('the range %s', async (range, status, from, to, header) => {
    const { url } = await registry();
    await upload(url, 'a', noise(1000));
    const answer = await fetch(`${url}/v2/a/blobs/${blob.digest}`, { headers: { range } });
    expect([answer.status, answer.headers.get('content-range')]).toEqual([status, header]);
    const body = Buffer.from(await answer.arrayBuffer());
    if (status !== 416) expect(body.equals(noise(1000).subarray(from, to))).toBe(true);
  });

  test('tags come in pages', async () => {
    const { host, url } = await registry();
    for (const tag of ['c', 'a', 'B', 'd']) await push(host, `a:${tag}`);
    const page = async (query: string) => {
      const answer = await fetch(`${url}/v2/a/tags/list${query}`);
      const { tags } = (await answer.json()) as { tags: string[] };
      return [tags.join(''), answer.headers.get('link')];
    };
    expect(await page('')).toEqual(['Bacd', null]);
    expect(await page('?n=2')).toEqual(['Ba', '</v2/a/tags/list?n=2&last=a>; rel="next"']);
    expect(await page('?n=2&last=a')).toEqual(['cd', null]);
    expect(await page('?last=c')).toEqual(['d', null]);
    expect(await page('?n=0')).toEqual(['', null]);
    expect(await page('?n=x')).toEqual(['Bacd', null]);
  });
});

describe('writing', () => {
  test('a blob belongs to the repository that it was pushed to, until it is mounted', async () => {
    const { url } = await registry();
    await upload(url, 'a', noise(1000));
    const has = async (name: string) =>
      (await fetch(`${url}/v2/${name}/blobs/${blob.digest}`, { method: 'HEAD' })).status;
    expect([await has('a'), await has('b')]).toEqual([200, 404]);
    const mount = (query: string) =>
      fetch(`${url}/v2/b/blobs/uploads/?mount=${blob.digest}${query}`, { method: 'POST' });
    expect((await mount('&from=c')).status).toBe(202);
    expect((await mount('&from=a')).status).toBe(201);
    expect(await has('b')).toBe(200);
  });

  test('a manifest needs its blobs in its own repository', async () => {
    const { host, url } = await registry();
    await push(host, 'a:v1');
    const put = (name: string) =>
      fetch(`${url}/v2/${name}`, {
        method: 'PUT',
        headers: { 'content-type': image.root.mediaType },
        body: new Uint8Array(image.root.bytes),
      });
    expect((await put('a/manifests/v2')).status).toBe(201);
    expect(await errorOf(await put('b/manifests/v1'))).toBe('404 MANIFEST_BLOB_UNKNOWN');
  });

  test.each<[string, string, Uint8Array | string, string]>([
    ['no JSON', OCI_MANIFEST, 'x', '400 MANIFEST_INVALID'],
    ['another type inside', OCI_MANIFEST, image.root.bytes, '400 MANIFEST_INVALID'],
    ['an unknown type', 'text/plain', '{}', '400 MANIFEST_INVALID'],
    ['one that is too large', OCI_MANIFEST, Buffer.alloc(5 * 1024 * 1024), '413 SIZE_INVALID'],
  ])('%s is no manifest', async (_, type, body, expected) => {
    const { url } = await registry();
    const sent = typeof body === 'string' ? body : new Uint8Array(body);
    const answer = await fetch(`${url}/v2/a/manifests/v1`, {
      method: 'PUT',
      headers: { 'content-type': type },
      body: sent,
    });
    expect(await errorOf(answer)).toBe(expected);
  });

  test('what comes in the wrong order is refused and leaves the upload as it was', async () => {
    const { url } = await registry();
    const opened = await fetch(`${url}/v2/a/blobs/uploads/`, { method: 'POST' });
    const place = url + opened.headers.get('location');
    const patch = async (range: string, bytes: Buffer) => {
      const answer = await fetch(place, {
        method: 'PATCH',
        headers: { 'content-range': range },
        body: new Uint8Array(bytes),
      });
      return [answer.status, answer.headers.get('range')];
    };
    const bytes = noise(1000);
    expect(await patch('0-499', bytes.subarray(0, 500))).toEqual([202, '0-499']);
    expect(await patch('600-999', bytes.subarray(600))).toEqual([416, '0-499']);
    expect(await patch('0-499', bytes.subarray(0, 500))).toEqual([416, '0-499']);
    expect((await patch('500-998', bytes.subarray(500)))[0]).toBe(400);
    const elsewhere = place.replace('/v2/a/', '/v2/b/');
    expect((await fetch(elsewhere)).status).toBe(404);
    expect((await fetch(place)).headers.get('range')).toBe('0-499');
    const done = await fetch(`${place}?digest=${blob.digest}`, {
      method: 'PUT',
      body: new Uint8Array(bytes.subarray(500)),
    });
    expect(done.status).toBe(201);
    expect((await fetch(place)).status).toBe(404);
  });

  test('an upload whose line breaks keeps what came and goes on', async () => {
    const { url, host } = await registry();
    const opened = await fetch(`${url}/v2/a/blobs/uploads/`, { method: 'POST' });
    const path = opened.headers.get('location') ?? '';
    const bytes = noise(1000);
    await new Promise<void>((done) => {
      const socket = connect(Number(host.split(':')[1]), '127.0.0.1', () => {
        socket.write(`PATCH ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\n`);
        socket.write(bytes.subarray(0, 300), () => setTimeout(() => socket.destroy(), 50));
      });
      socket.on('close', () => done());
    });
    await new Promise((done) => setTimeout(done, 50));
    expect((await fetch(url + path)).headers.get('range')).toBe('0-299');
    const rest = await fetch(`${url}${path}?digest=${blob.digest}`, {
      method: 'PUT',
      body: new Uint8Array(bytes.subarray(300)),
    });
    expect(rest.status).toBe(201);
  });

  test('a wrong digest leaves nothing to be seen', async () => {
    const { url } = await registry();
    const opened = await fetch(`${url}/v2/a/blobs/uploads/`, { method: 'POST' });
    const place = url + opened.headers.get('location');
    const answer = await fetch(`${place}?digest=${blob.digest}`, { method: 'PUT', body: 'other' });
    expect(await errorOf(answer)).toBe('400 DIGEST_INVALID');
    expect((await fetch(`${url}/v2/a/blobs/${blob.digest}`)).status).toBe(404);
    expect((await fetch(place)).status).toBe(404);
  });

  test('several tags with one manifest by digest', async () => {
    const { host, url } = await registry();
    await push(host, 'a:v1');
    const answer = await fetch(`${url}/v2/a/manifests/${image.root.digest}?tag=x&tag=y`, {
      method: 'PUT',
      body: new Uint8Array(image.root.bytes),
    });
    expect(answer.headers.get('oci-tag')).toBe('x, y');
    expect(await (await fetch(`${url}/v2/a/tags/list`)).json()).toEqual({
      name: 'a',
      tags: ['v1', 'x', 'y'],
    });
  });

  test('pushes at the same time are all kept', async () => {
    const { host, url } = await registry();
    const client = testClient([host]);
    const names = Array.from({ length: 20 }, (_, i) => `v${String(i).padStart(2, '0')}`);
    await Promise.all(
      names.map((name) =>
        pushImage(client, parseReference(`${host}/a:${name}`), {
          image: sampleImage({ layers: ['shared', name] }),
        }),
      ),
    );
    expect(await (await fetch(`${url}/v2/a/tags/list`)).json()).toEqual({ name: 'a', tags: names });
  });
});

describe('removing', () => {
  test('a blob that a manifest names stays', async () => {
    const { host, url } = await registry();
    await push(host, 'a:v1');
    const [named] = image.blobs;
    const remove = (digest = '') => fetch(`${url}/v2/a/blobs/${digest}`, { method: 'DELETE' });
    expect(await errorOf(await remove(named?.digest))).toBe('405 UNSUPPORTED');
    await upload(url, 'a', noise(1000));
    expect((await remove(blob.digest)).status).toBe(202);
    expect((await remove(blob.digest)).status).toBe(404);
  });

  test('of two pushes of one immutable tag at a time, one is refused', async () => {
    const { url } = await registry({ isImmutable: () => true, takesSparse: true });
    const put = (note: string) => {
      const list = manifestOf(OCI_INDEX, {
        schemaVersion: 2,
        mediaType: OCI_INDEX,
        manifests: [],
        annotations: { note },
      });
      const body = new Uint8Array(list.bytes);
      const headers = { 'content-type': OCI_INDEX };
      return fetch(`${url}/v2/a/manifests/v1`, { method: 'PUT', headers, body });
    };
    const answers = await Promise.all(['one', 'two'].map(put));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400]);
  });

  test('a blob that another repository holds stays there', async () => {
    const { url, directory } = await registry();
    for (const name of ['a', 'b']) await upload(url, name, noise(1000));
    const remove = (name: string) => fetch(`${url}/v2/${name}/blobs/${blob.digest}`, { method: 'DELETE' });
    expect((await remove('a')).status).toBe(202);
    expect((await fetch(`${url}/v2/b/blobs/${blob.digest}`)).status).toBe(200);
    expect((await remove('b')).status).toBe(202);
    expect(() => readFileSync(join(directory, 'blobs', blob.digest.replace(':', '/')))).toThrow('ENOENT');
  });
});

describe('who may what', () => {
  const accounts = { u: 'p' };
  const basic = (pair: string) => ({ authorization: `Basic ${Buffer.from(pair).toString('base64')}` });

  test('read-only', async () => {
    const directory = folder();
    const first = await startRegistry({ directory });
    await push(first.host, 'a:v1');
    await first.close();
    const { host, url } = await registry({ directory, readOnly: true });
    expect(await testClient([host]).resolve(parseReference(`${host}/a:v1`))).toMatchObject({
      digest: image.root.digest,
    });
    expect(await errorOf(await fetch(`${url}/v2/a/blobs/uploads/`, { method: 'POST' }))).toBe(
      '405 UNSUPPORTED',
    );
    expect(await errorOf(await fetch(`${url}/v2/a/manifests/v1`, { method: 'DELETE' }))).toBe(
      '405 UNSUPPORTED',
    );
    await expect(startRegistry({ directory: folder(), readOnly: true })).rejects.toMatchObject({
      code: 'not-found',
    });
  });

  test('passwords', async () => {
    const { url } = await registry({ access: { kind: 'basic', accounts } });
    const status = async (headers = {}) => (await fetch(`${url}/v2/`, { headers })).status;
    expect(await status()).toBe(401);
    for (const pair of ['u:x', 'x:p', 'u', ':', 'constructor:x', '__proto__:x', 'u:']) {
      expect(await status(basic(pair))).toBe(401);
    }
    expect(await status(basic('u:p'))).toBe(200);
  });

  test('tokens say what they are good for, and nobody makes his own', async () => {
    const { host, url } = await registry({ access: { kind: 'token', accounts, anonymousPull: true } });
    const token = async (scope: string, headers = {}) => {
      const answer = await fetch(`${url}/token?service=portolan&scope=${scope}`, { headers });
      return ((await answer.json()) as { token: string }).token;
    };
    const post = async (bearer: string) =>
      (
        await fetch(`${url}/v2/a/blobs/uploads/`, {
          method: 'POST',
          headers: { authorization: `Bearer ${bearer}` },
        })
      ).status;
    expect(await post(await token('repository:a:pull,push', basic('u:p')))).toBe(202);
    expect(await post(await token('repository:a:pull,push'))).toBe(401);
    expect(await post(await token('repository:b:pull,push', basic('u:p')))).toBe(401);
    expect((await fetch(`${url}/token?scope=x`, { headers: basic('u:no') })).status).toBe(401);
    const good = await token('repository:a:pull,push', basic('u:p'));
    const [, signature] = good.split('.');
    const forged = Buffer.from(JSON.stringify({ expires: Date.now() + 1e6, scopes: ['repository:a:push'] }));
    for (const bad of [`${forged.toString('base64url')}.${signature}`, 'x.y', 'x', `${good}x`]) {
      expect(await post(bad)).toBe(401);
    }
    expect((await fetch(`${url}/v2/`)).headers.get('www-authenticate')).toContain(`http://${host}/token`);
  });

  test('only tokens of accounts list the repositories', async () => {
    const { url } = await registry({ access: { kind: 'token', accounts } });
    const status = async (path: string, headers = {}) => {
      const { token } = (await (await fetch(`${url}/token`, { headers })).json()) as { token: string };
      return (await fetch(`${url}/v2/${path}`, { headers: { authorization: `Bearer ${token}` } })).status;
    };
    expect(await status('_catalog')).toBe(401);
    expect(await status('')).toBe(200);
    expect(await status('_catalog', basic('u:p'))).toBe(200);
  });

  test('what one may not read one may not mount', async () => {
    const { host, url } = await registry({ access: { kind: 'token', accounts } });
    const credentials = {
      credential: async () => ({ kind: 'basic', username: 'u', password: 'p' }) as const,
    };
    await testClient([host], { credentials }).putBlob({ registry: host, repository: 'secret' }, blob);
    const answer = await fetch(`${url}/token?scope=repository:a:pull,push`, { headers: basic('u:p') });
    const { token } = (await answer.json()) as { token: string };
    const mount = await fetch(`${url}/v2/a/blobs/uploads/?mount=${blob.digest}&from=secret`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
    });
    expect(mount.status).toBe(202);
  });
});

test('a registry that is started again has what it had', async () => {
  const directory = folder();
  const first = await startRegistry({ directory });
  await push(first.host, 'a/b:v1');
  await push(first.host, 'catalog:v1');
  await first.close();
  const { host } = await registry({ directory });
  const client = testClient([host]);
  for (const name of ['a/b:v1', 'catalog:v1']) {
    const reference = parseReference(`${host}/${name}`);
    expect(await client.getManifest(reference)).toEqual(image.root);
    for (const child of image.manifests)
      expect(await client.resolve(withDigest(reference, child.digest))).toBeDefined();
    for (const one of image.blobs) expect(await client.hasBlob(reference, one.digest)).toBe(true);
  }
});

test('after a restart, a blob that no manifest names can be used and removed', async () => {
  const directory = folder();
  const first = await startRegistry({ directory });
  await upload(first.url, 'a', await bytesOf(blob.open(0)));
  await first.close();
  await new Promise((done) => setTimeout(done, 5));
  const { url } = await registry({ directory });
  const at = `${url}/v2/a/blobs/${blob.digest}`;
  expect((await fetch(at)).status).toBe(200);
  expect((await fetch(at, { method: 'DELETE' })).status).toBe(202);
  expect(await errorOf(await fetch(at))).toBe('404 BLOB_UNKNOWN');
});

describe('uploads that nobody goes on with', () => {
  const post = (url: string) => fetch(`${url}/v2/a/blobs/uploads/`, { method: 'POST' });

  test('announced only, they cost no file, and make room for others', async () => {
    const { url, directory } = await registry();
    const first = await post(url);
    const second = await post(url);
    const patch = (answer: Response) =>
      fetch(`${url}${answer.headers.get('location')}`, { method: 'PATCH', body: 'x' });
    expect((await patch(second)).status).toBe(202);
    for (let i = 0; i < 2000; i++) expect((await post(url)).status).toBe(202);
    expect(readdirSync(join(directory, '.portolan-uploads'))).toHaveLength(1);
    expect(await errorOf(await patch(first))).toBe('404 BLOB_UPLOAD_UNKNOWN');
    expect((await patch(second)).status).toBe(202);
  });

  test('with bytes, the next is refused while they are many, until they have waited a minute', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const { url, directory } = await registry();
    const uploads: Response[] = [];
    for (let i = 0; i < 512; i++) {
      const opened = await post(url);
      uploads.push(opened);
      await fetch(`${url}${opened.headers.get('location')}`, { method: 'PATCH', body: 'x' });
    }
    const one = await post(url);
    const patch = () => fetch(`${url}${one.headers.get('location')}`, { method: 'PATCH', body: 'x' });
    const refused = await patch();
    expect(refused.headers.get('retry-after')).toBe('60');
    expect(await errorOf(refused)).toBe('429 TOOMANYREQUESTS');
    vi.advanceTimersByTime(61_000);
    expect((await patch()).status).toBe(202);
    const statusOf = async (i: number) =>
      (await fetch(`${url}${uploads[i]?.headers.get('location')}`)).status;
    expect([await statusOf(0), await statusOf(1)]).toEqual([404, 204]);
    vi.advanceTimersByTime(3601_000);
    await post(url);
    expect(await statusOf(511)).toBe(404);
    await vi.waitFor(() => expect(readdirSync(join(directory, '.portolan-uploads'))).toEqual([]), 60_000);
  });
});

test('a port that is taken is said to be', async () => {
  const { host } = await registry();
  const port = Number(host.split(':')[1]);
  await expect(startRegistry({ directory: folder(), port })).rejects.toMatchObject({ code: 'io' });
});

test('an index with nothing in it is one', async () => {
  const { url } = await registry();
  const empty = manifestOf('application/vnd.oci.image.index.v1+json', { schemaVersion: 2, manifests: [] });
  const answer = await fetch(`${url}/v2/a/manifests/none`, {
    method: 'PUT',
    body: new Uint8Array(empty.bytes),
  });
  expect([answer.status, answer.headers.get('docker-content-digest')]).toEqual([201, empty.digest]);
});

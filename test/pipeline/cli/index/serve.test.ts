import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { folder } from '../../../fakes/folder.ts';
import { type RegistryApi, registryApi } from '../../../fakes/registry-api.ts';
import { portolan, started } from '../../../fakes/terminal.ts';

const SAMPLE = 'test/catalogs/sample/catalogs/v4.20';
const ANY = ['--listen', '127.0.0.1:0', '--http', '127.0.0.1:0'];

async function served(...more: string[]): Promise<{ api: RegistryApi; url: string; out: string }> {
  const running = await started('.', 'serve', SAMPLE, ...ANY, ...more);
  const out = running.out();
  const [, port] = /gRPC {2}127\.0\.0\.1:(\d+)/.exec(out) ?? [];
  const [, url = ''] = /HTTP {2}(http:.*)\/all/.exec(out) ?? [];
  const api = registryApi(Number(port));
  onTestFinished(api.close);
  return { api, url, out };
}

test('by gRPC: packages, bundles, health', async () => {
  const { api, out } = await served();
  expect(out).toMatch(/^serving 3 packages of test\/catalogs/);
  expect(await api.ask('ListPackages', {})).toEqual({
    stream: [{ name: 'ferry-operator' }, { name: 'harbour-operator' }, { name: 'lighthouse-operator' }],
  });
  expect(await api.ask('GetPackage', { name: 'nope' })).toEqual({
    error: 'rpc error: code = Unknown desc = package "nope" not found',
  });
  const bundles = await api.ask('ListBundles', {});
  expect('stream' in bundles && bundles.stream).toHaveLength(14);
  expect(await api.ask('Check', {}, 'grpc.health.v1.Health')).toEqual({ answer: { status: 'SERVING' } });
});

describe('by HTTP, as catalogd', () => {
  test('all blobs, a line each, in the order of the files', async () => {
    const { url } = await served();
    const answer = await fetch(`${url}/all`, { headers: { 'accept-encoding': 'identity' } });
    expect(answer.headers.get('content-type')).toBe('application/jsonl');
    const lines = (await answer.text()).trimEnd().split('\n');
    const packages = lines.map((line) => JSON.parse(line)).filter(({ schema }) => schema === 'olm.package');
    expect(packages.map(({ name }) => name)).toEqual([
      'ferry-operator',
      'harbour-operator',
      'lighthouse-operator',
    ]);
    expect(await (await fetch(`${url}/metas`)).text()).toBe(`${lines.join('\n')}\n`);
  });

  test.each([
    ['schema=olm.package', 3],
    ['package=harbour-operator', 6],
    ['package=harbour-operator&schema=olm.channel', 2],
    ['name=harbour-operator', 1],
    ['schema=&package=&name=harbour-operator.v1.0.0', 1],
    ['schema=none', 0],
  ])('metas?%s', async (query, count) => {
    const { url } = await served();
    const text = await (await fetch(`${url}/metas?${query}`)).text();
    expect(text.split('\n')).toHaveLength(count + 1);
  });

  test('who has it already is told so; bytes that differ have tags that differ', async () => {
    const { url } = await served();
    const plain = await fetch(`${url}/all`, { headers: { 'accept-encoding': 'identity' } });
    const zipped = await fetch(`${url}/all`, { headers: { 'accept-encoding': 'gzip;q=0.5' } });
    const [a = '', b = ''] = [plain, zipped].map(({ headers }) => headers.get('etag') ?? '');
    expect(a).not.toBe(b);
    expect(await zipped.text()).toBe(await plain.text());
    const again = await fetch(`${url}/all`, {
      headers: { 'if-none-match': `"x", W/${a}`, 'accept-encoding': 'identity' },
    });
    expect(again.status).toBe(304);
    const since = plain.headers.get('last-modified') ?? '';
    expect((await fetch(`${url}/all`, { headers: { 'if-modified-since': since } })).status).toBe(304);
    expect(
      (await fetch(`${url}/all`, { headers: { 'if-none-match': '"x"', 'if-modified-since': since } })).status,
    ).toBe(200);
    const { url: another } = await served();
    expect(
      (await fetch(`${another}/all`, { headers: { 'accept-encoding': 'identity' } })).headers.get('etag'),
    ).toBe(a);
  });

  test.each([
    ['gzip', true],
    ['br, gzip', true],
    ['*', true],
    ['gzip;q=0', false],
    ['gzip;q=0.000', false],
    ['br', false],
  ])('accept-encoding: %s', async (encoding, zipped) => {
    const { url } = await served();
    const { request } = await import('node:http');
    const body = await new Promise<Buffer>((resolve) => {
      request(`${url}/all`, { headers: { 'accept-encoding': encoding } }, (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk) => chunks.push(chunk)).on('end', () => resolve(Buffer.concat(chunks)));
      }).end();
    });
    expect((zipped ? gunzipSync(body) : body).toString()).toMatch(/^\{/);
  });

  test.each([
    ['GET', '/nope', 404, '404 page not found\n'],
    ['GET', '/catalogs/other/api/v1/all', 404, '404 Not Found\n'],
    ['GET', '/catalogs/Bad_Name/api/v1/all', 400, 'invalid catalog name\n'],
    ['POST', '/catalogs/v4.20/api/v1/all', 405, 'Method Not Allowed\n'],
    ['GET', '/catalogs/v4.20/api/v1/metas?shcema=x', 400, '400 Bad Request\n'],
    ['HEAD', '/catalogs/v4.20/api/v1/all', 200, ''],
  ])('%s %s', async (method, path, status, text) => {
    const { url } = await served();
    const answer = await fetch(new URL(path, url), { method });
    expect(answer.status).toBe(status);
    expect(await answer.text()).toBe(text);
  });
});

test('either may be off, and the name may be chosen', async () => {
  const running = await started(
    '.',
    'serve',
    SAMPLE,
    '--listen',
    'off',
    '--http',
    '127.0.0.1:0',
    '--name',
    'mine',
  );
  expect(running.out()).not.toContain('gRPC');
  expect(running.out()).toContain('/catalogs/mine/api/v1/all');
  expect(await running.end()).toBe(0);
});

test('what opm would not serve is refused, with every reason on its line', async () => {
  const root = folder();
  mkdirSync(join(root, 'a'));
  writeFileSync(join(root, 'a', 'catalog.yaml'), 'schema: olm.package\nname: a\ndefaultChannel: x\n');
  const ran = await portolan(root, 'serve', '.', ...ANY);
  expect(ran).toMatchObject({ exit: 1, out: '' });
  expect(ran.err).toContain('a/catalog.yaml:');
  expect(ran.err).toContain('FAIL: opm would not serve this catalog');
});

test.each([
  ['--listen', '50051'],
  ['--http', 'localhost:99999'],
])('%s %s is no address', async (option, value) => {
  const ran = await portolan('.', 'serve', SAMPLE, option, value);
  expect(ran.exit).toBe(2);
  expect(ran.err).toContain(`${option} must be HOST:PORT or off`);
});

test('an address that is taken is said to be', async () => {
  const running = await started('.', 'serve', SAMPLE, ...ANY);
  const [, port] = /HTTP {2}http:\/\/127\.0\.0\.1:(\d+)/.exec(running.out()) ?? [];
  const ran = await portolan('.', 'serve', SAMPLE, '--listen', '127.0.0.1:0', '--http', `127.0.0.1:${port}`);
  expect(ran.exit).toBe(2);
  expect(ran.err).toContain(`cannot listen on 127.0.0.1:${port}`);
});

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { folder } from '../../../fakes/folder.ts';
import { type RegistryApi, registryApi } from '../../../fakes/registry-api.ts';
import { portolan, started } from '../../../fakes/terminal.ts';

const SAMPLE = 'test/catalogs/sample/catalogs/v4.20';
const ANY = ['--listen', '127.0.0.1:0', '--http', '127.0.0.1:0'];

async function served(catalog = SAMPLE): Promise<{ api: RegistryApi; url: string; out: string }> {
  const running = await started('.', 'serve', catalog, ...ANY);
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

/** A catalog with blobs of other schemas: two of a package, one of them twice, and one of no package. */
function withCustomSchemas(): string {
  const root = folder();
  const blob = (...lines: string[]): string => ['---', ...lines, ''].join('\n');
  const note = (text: string): string => blob('schema: org.note', 'package: harbour', `text: ${text}`);
  writeFileSync(
    join(root, 'catalog.yaml'),
    [
      blob('schema: olm.package', 'name: harbour', 'defaultChannel: stable'),
      blob('schema: olm.channel', 'package: harbour', 'name: stable', 'entries: [{name: harbour.v1.0.0}]'),
      blob(
        'schema: olm.bundle',
        'package: harbour',
        'name: harbour.v1.0.0',
        'image: quay.io/example/harbour:v1.0.0',
        'properties: [{type: olm.package, value: {packageName: harbour, version: 1.0.0}}]',
      ),
      note('a'),
      note('a'),
      blob('schema: org.note', 'package: harbour', 'all: [null, true, 1.5, {deep: [[]]}]'),
      blob('schema: org.note', 'name: everywhere'),
    ].join(''),
  );
  return root;
}

describe('by gRPC, the experimental API: blobs of other schemas', () => {
  const METHOD = 'ExperimentalListPackageCustomSchemas';
  const SERVICE = 'api.ExperimentalRegistry';
  const KNOWING = { 'x-acknowledge-experimental': 'true' };

  test('of a package, each once, whatever JSON they have; of no package; of none', async () => {
    const { api } = await served(withCustomSchemas());
    const ask = (schema: string, packageName?: string) =>
      api.ask(METHOD, { schema, packageName }, SERVICE, KNOWING);
    const of = (fields: object) => ({
      fields: expect.arrayContaining(Object.entries(fields).map(([key, value]) => ({ key, value }))),
    });
    const deep = { fields: [{ key: 'deep', value: { list_value: { values: [{ list_value: {} }] } } }] };
    const values = [
      { null_value: 'NULL_VALUE' },
      { bool_value: true },
      { number_value: 1.5 },
      { struct_value: deep },
    ];
    const all = await ask('org.note', 'harbour');
    expect('stream' in all && all.stream).toHaveLength(2);
    expect(all).toEqual({
      stream: expect.arrayContaining([
        of({ package: { string_value: 'harbour' }, text: { string_value: 'a' } }),
        of({ all: { list_value: { values } } }),
      ]),
    });
    expect(await ask('org.note')).toEqual({
      stream: [of({ name: { string_value: 'everywhere' } })],
    });
    expect(await ask('org.note', 'ferry')).toEqual({ stream: [] });
    // opm keeps its own schemas elsewhere.
    expect(await ask('olm.bundle', 'harbour')).toEqual({ stream: [] });
  });

  test('only those who acknowledge that it may change get anything', async () => {
    const { api } = await served(withCustomSchemas());
    for (const headers of [{}, { 'x-acknowledge-experimental': 'yes' }]) {
      const request = { schema: 'org.note', packageName: 'harbour' };
      expect(await api.ask(METHOD, request, SERVICE, headers)).toEqual({ stream: [] });
    }
  });

  test.each([
    [{}, 'schema is required'],
    [
      { schema: '../x' },
      'invalid custom schema query: invalid schema "../x": must match ^[a-zA-Z0-9][a-zA-Z0-9._-]*$',
    ],
    [
      { schema: 'org.note', packageName: 'a/b' },
      'invalid custom schema query: invalid packageName "a/b": must match ^[a-zA-Z0-9][a-zA-Z0-9._-]*$',
    ],
  ])('%j is not a question', async (request, why) => {
    const { api } = await served();
    expect(await api.ask(METHOD, request, SERVICE, KNOWING)).toEqual({
      error: `rpc error: code = Invalid_argument desc = ${why}`,
    });
  });
});

describe('by HTTP, as catalogd', () => {
  test('all.json, the path of OpenShift 4.17, has the same lines', async () => {
    const { url } = await served();
    const answer = await fetch(new URL('/catalogs/v4.20/all.json', url));
    expect(answer.headers.get('content-type')).toBe('application/jsonl');
    expect(await answer.text()).toBe(await (await fetch(`${url}/all`)).text());
  });

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

  test.each([
    ['*', 'gzip'],
    ['br, gzip', 'gzip'],
    ['gzip;q=0', null],
    ['gzip;q=0, *', null],
    ['*;q=0, gzip', 'gzip'],
    ['br', null],
  ])('who accepts %s gets %s', async (accepted, coding) => {
    const { url } = await served();
    const answer = await fetch(`${url}/all`, { headers: { 'accept-encoding': accepted } });
    expect(answer.headers.get('content-encoding')).toBe(coding);
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

  test('the whole catalog has a length and ranges, as a file', async () => {
    const root = folder();
    const notes = Array.from(
      { length: 200 },
      (_, i) => `---\nschema: org.note\nname: n${i}\ntext: ${'é'.repeat(500)}\n`,
    );
    writeFileSync(join(root, 'catalog.yaml'), notes.join(''));
    const { url } = await served(root);
    const ask = (headers: Record<string, string> = {}, method = 'GET', path = 'all') =>
      fetch(`${url}/${path}`, { method, headers: { 'accept-encoding': 'identity', ...headers } });
    const whole = await ask();
    const bytes = Buffer.from(await whole.arrayBuffer());
    const etag = whole.headers.get('etag') ?? '';
    expect(whole.headers.get('content-length')).toBe(String(bytes.length));
    expect((await ask({}, 'HEAD')).headers.get('content-length')).toBe(String(bytes.length));
    for (const [range, start, end] of [
      ['bytes=0-0', 0, 1],
      ['bytes=10-', 10, bytes.length],
      ['bytes=-7', bytes.length - 7, bytes.length],
      ['bytes=65530-65545', 65530, 65546],
    ] as const) {
      const part = await ask({ range, 'if-range': etag });
      expect([part.status, part.headers.get('content-range')]).toEqual([
        206,
        `bytes ${start}-${end - 1}/${bytes.length}`,
      ]);
      expect(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(start, end)), range).toBe(true);
    }
    const outside = await ask({ range: `bytes=${bytes.length}-` });
    expect([outside.status, outside.headers.get('content-range')]).toEqual([416, `bytes */${bytes.length}`]);
    // RFC 9110 14.1.1: a range that ends before it starts is invalid, and invalid ranges are ignored.
    expect((await ask({ range: 'bytes=5-2' })).status).toBe(200);
    expect((await ask({ range: 'bytes=0-1', 'if-range': '"other"' })).status).toBe(200);
    // What is selected is streamed.
    expect((await ask({ range: 'bytes=0-1' }, 'GET', 'metas')).status).toBe(200);
    expect((await ask({ range: 'bytes=0-1', 'accept-encoding': 'gzip' })).status).toBe(200);
  });

  test.each([
    [{ 'if-match': '"other"' }, 412],
    [{ 'if-match': '*' }, 200],
    [{ 'if-match': '"other", TAG' }, 200],
    [{ 'if-match': 'W/TAG' }, 412],
    [{ 'if-unmodified-since': 'Thu, 01 Jan 2015 00:00:00 GMT' }, 412],
    [{ 'if-unmodified-since': 'Thu, 01 Jan 2099 00:00:00 GMT' }, 200],
    [{ 'if-unmodified-since': 'soon' }, 200],
    [{ 'if-match': 'TAG', 'if-unmodified-since': 'Thu, 01 Jan 2015 00:00:00 GMT' }, 200],
    [{ 'if-match': 'TAG', 'if-none-match': 'TAG' }, 304],
  ])('%j answers %i', async (headers, status) => {
    const { url } = await served();
    const identity = { 'accept-encoding': 'identity' };
    const etag = (await fetch(`${url}/metas`, { headers: identity })).headers.get('etag') ?? '';
    for (const path of ['all', 'metas']) {
      const answer = await fetch(`${url}/${path}`, {
        headers: {
          ...identity,
          ...JSON.parse(JSON.stringify(headers).replaceAll('TAG', etag.replaceAll('"', '\\"'))),
        },
      });
      expect(answer.status, path).toBe(status);
    }
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
    ['GET', '/catalogs/other/all.json', 404, '404 Not Found\n'],
    ['GET', '/catalogs/v4.20/metas.json', 404, '404 page not found\n'],
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

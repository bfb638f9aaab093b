import { describe, expect, test } from 'vitest';
import { parseReference, withDigest } from '../../../../catalog/reference.ts';
import { digestOf } from '../../../../pipeline/oci/digest.ts';
import { OCI_MANIFEST } from '../../../../pipeline/oci/media-types.ts';
import { pushImage } from '../../../../pipeline/oci/registry/push.ts';
import { type Asked, type Host, reply, startHost, testClient } from '../../../fakes/host.ts';
import { manifestOf, sampleImage } from '../../../fakes/image.ts';
import { registry } from '../../../fakes/registry.ts';

const { root } = sampleImage();
const bytes = Buffer.from(root.bytes);
const told = { 'content-type': root.mediaType, 'docker-content-digest': root.digest };

type Answer = readonly [
  status: number,
  body?: Uint8Array | string,
  headers?: Readonly<Record<string, string>>,
];

/** A registry that answers HEAD and GET of manifests as given, and greets well. */
function answering(head: Answer, get: Answer): Promise<Host> {
  return startHost((request, response) => {
    if (request.url === '/v2/') return reply(response, 200);
    const [status, body, headers] = request.method === 'HEAD' ? head : get;
    if (request.method !== 'HEAD') return reply(response, status, body, headers);
    response.writeHead(status, headers as Record<string, string>);
    response.end();
  });
}

const methods = (asked: readonly Asked[]) =>
  asked.filter(({ url }) => url !== '/v2/').map(({ method }) => method);

describe('what a tag names', () => {
  const length = { 'content-length': String(bytes.length) };
  const whole: Answer = [200, bytes, told];

  test.each<[string, Answer, Answer, string[]]>([
    ['HEAD tells all', [200, '', { ...told, ...length }], [500], ['HEAD']],
    ['HEAD says 404 and GET has it', [404], whole, ['HEAD', 'GET']],
    ['HEAD is forbidden', [403], whole, ['HEAD', 'GET']],
    ['HEAD is not supported', [405], whole, ['HEAD', 'GET']],
    ['HEAD has no digest', [200, '', { 'content-type': root.mediaType, ...length }], whole, ['HEAD', 'GET']],
    [
      'HEAD has a broken digest',
      [200, '', { ...told, ...length, 'docker-content-digest': 'sha256:x' }],
      whole,
      ['HEAD', 'GET'],
    ],
    [
      'HEAD has no useful type',
      [200, '', { ...told, ...length, 'content-type': 'text/plain' }],
      whole,
      ['HEAD', 'GET'],
    ],
    ['HEAD has no length', [200, '', told], whole, ['HEAD', 'GET']],
    [
      'the type has parameters',
      [200, '', { ...told, ...length, 'content-type': `${root.mediaType}; charset=utf-8` }],
      [500],
      ['HEAD'],
    ],
    ['GET has no digest header', [404], [200, bytes, { 'content-type': root.mediaType }], ['HEAD', 'GET']],
    ['GET has no useful type', [404], [200, bytes, { 'content-type': 'application/json' }], ['HEAD', 'GET']],
  ])('%s', async (_, head, get, expected) => {
    const { host, asked } = await answering(head, get);
    const client = testClient([host]);
    expect(await client.resolve(parseReference(`${host}/a:v1`))).toEqual({
      mediaType: root.mediaType,
      digest: root.digest,
      size: bytes.length,
    });
    expect(methods(asked)).toEqual(expected);
  });

  test('nothing, when GET has nothing either', async () => {
    const { host, asked } = await answering([404], [404]);
    expect(await testClient([host]).resolve(parseReference(`${host}/a:v1`))).toBeUndefined();
    expect(methods(asked)).toEqual(['HEAD', 'GET']);
  });

  test.each<[string, Answer, string]>([
    ['other bytes than the header says', [200, 'other', told], 'corrupt'],
    [
      'a manifest beyond the limit',
      [200, Buffer.alloc(5 * 1024 * 1024), { 'content-type': root.mediaType }],
      'too-large',
    ],
    ['no permission', [403, '{"errors":[{"code":"DENIED","message":"no\\u001b[31m\\nway"}]}'], 'denied'],
    ['nonsense', [302], 'bad-answer'],
  ])('%s is an error', async (_, get, code) => {
    const { host } = await answering([404], get);
    const looking = testClient([host]).resolve(parseReference(`${host}/a:v1`));
    await expect(looking).rejects.toMatchObject({
      code,
      message: expect.not.stringMatching(/\p{Cc}/u),
    });
  });
});

describe('what a digest names', () => {
  const reference = (host: string, digest = root.digest) => withDigest(parseReference(`${host}/a`), digest);

  test('HEAD with another digest is not believed, nor are other bytes', async () => {
    const other = digestOf(Buffer.from('other'));
    const head: Answer = [200, '', { ...told, 'docker-content-digest': other, 'content-length': '5' }];
    const lying = await answering(head, [200, bytes, told]);
    await expect(testClient([lying.host]).resolve(reference(lying.host))).rejects.toMatchObject({
      code: 'corrupt',
    });
    const wrong = await answering([404], [200, 'other', { 'content-type': root.mediaType }]);
    await expect(testClient([wrong.host]).getManifest(reference(wrong.host))).rejects.toMatchObject({
      code: 'corrupt',
    });
  });

  test('any known algorithm is computed', async () => {
    const digest = digestOf(bytes, 'sha512');
    const { host } = await answering([404], [200, bytes, { 'content-type': root.mediaType }]);
    expect(await testClient([host]).getManifest(reference(host, digest))).toMatchObject({ digest });
  });
});

describe('writing', () => {
  const image = sampleImage();

  test('a tag is written and moved', async () => {
    const { host } = await registry();
    const client = testClient([host]);
    const tag = parseReference(`${host}/a:v1`);
    for (const layers of [['one'], ['two'], ['one']]) {
      const content = sampleImage({ layers });
      await pushImage(client, tag, { image: content });
      expect(await client.getManifest(tag)).toEqual(content.root);
    }
  });

  test('a manifest is not written under another digest', async () => {
    const { host, seen } = await registry();
    const to = withDigest(parseReference(`${host}/a`), digestOf(Buffer.from('x')));
    await expect(testClient([host]).putManifest(to, image.root)).rejects.toMatchObject({ code: 'corrupt' });
    expect(seen).toEqual([]);
  });

  test('nor where what it names is not there', async () => {
    const { host } = await registry();
    const tag = parseReference(`${host}/a:v1`);
    const client = testClient([host]);
    await expect(client.putManifest(tag, image.root)).rejects.toMatchObject({ code: 'not-found' });
    expect(await client.resolve(tag)).toBeUndefined();
  });

  test('an immutable tag that names the same already is well, one that names another is a conflict', async () => {
    const { host } = await registry({ isImmutable: () => true });
    const client = testClient([host]);
    const tag = parseReference(`${host}/a:v1`);
    await pushImage(client, tag, { image });
    await client.putManifest(tag, image.root);
    const other = sampleImage({ layers: ['other'] });
    await expect(pushImage(client, tag, { image: other })).rejects.toMatchObject({ code: 'conflict' });
    expect(await client.resolve(tag)).toMatchObject({ digest: image.root.digest });
  });

  test.each([
    [404, 'MANIFEST_UNKNOWN'],
    [400, 'MANIFEST_BLOB_UNKNOWN'],
  ])('one that stands, and is refused with %i %s, is not taken for written', async (status, code) => {
    const { host } = await startHost((request, response) => {
      if (request.method === 'PUT') return reply(response, status, JSON.stringify({ errors: [{ code }] }));
      reply(response, 200, '', { 'docker-content-digest': image.root.digest });
    });
    const writing = testClient([host]).putManifest(parseReference(`${host}/a:v1`), image.root);
    await expect(writing).rejects.toMatchObject({ message: expect.stringContaining(code) });
  });

  test('a registry that says it took another digest is not believed', async () => {
    const { host } = await startHost((_request, response) =>
      reply(response, 201, '', { 'docker-content-digest': digestOf(Buffer.from('other')) }),
    );
    const writing = testClient([host]).putManifest(parseReference(`${host}/a:v1`), image.root);
    await expect(writing).rejects.toMatchObject({ code: 'corrupt' });
  });

  test('removing', async () => {
    const { host } = await registry();
    const client = testClient([host]);
    const tag = parseReference(`${host}/a:v1`);
    await pushImage(client, tag, { image });
    expect(await client.deleteManifest(tag)).toBe(true);
    expect(await client.deleteManifest(tag)).toBe(false);
    const digest = withDigest(tag, image.root.digest);
    expect(await client.resolve(digest)).toBeDefined();
    expect(await client.deleteManifest(digest)).toBe(true);
    expect(await client.resolve(digest)).toBeUndefined();
    const fixed = await startHost((_request, response) => reply(response, 405));
    const removing = testClient([fixed.host]).deleteManifest(parseReference(`${fixed.host}/a:v1`));
    await expect(removing).rejects.toMatchObject({ code: 'denied' });
  });
});

test('a manifest that a try deleted whose answer was lost is deleted', async () => {
  let deletes = 0;
  const { host, asked } = await startHost((request, response) => {
    if (request.url === '/v2/') return reply(response, 200);
    reply(response, ++deletes === 1 ? 503 : 404);
  });
  expect(await testClient([host]).deleteManifest(parseReference(`${host}/a:v1`))).toBe(true);
  expect(methods(asked)).toEqual(['DELETE', 'DELETE']);
});

test('names that make no URL are refused before anything is asked', async () => {
  const { host, asked } = await answering([200], [200]);
  const client = testClient([host]);
  const look = (registry: string, repository: string) =>
    client.resolve({ kind: 'tag', registry, repository, tag: 'v1' });
  for (const [registry, repository] of [
    [host, '../x'],
    [host, 'a/../../token'],
    [host, 'a?x=y'],
    [host, 'A'],
    [`${host}/x`, 'a'],
    [`user@${host}`, 'a'],
    [`${host}#`, 'a'],
    ['', 'a'],
  ] as const) {
    await expect(look(registry, repository)).rejects.toMatchObject({ code: 'usage' });
  }
  expect(asked).toEqual([]);
});

test('a manifest of any form goes round unchanged', async () => {
  const { host } = await registry();
  const client = testClient([host]);
  for (const format of ['oci', 'docker'] as const) {
    const image = sampleImage({ format, architectures: ['amd64', 's390x'] });
    const tag = parseReference(`${host}/x/${format}:v1`);
    await pushImage(client, tag, { image });
    expect(await client.getManifest(tag)).toEqual(image.root);
    expect(await client.resolve(tag)).toMatchObject({ mediaType: image.root.mediaType });
  }
  const odd = manifestOf(OCI_MANIFEST, { not: 'an image' });
  await expect(client.putManifest(parseReference(`${host}/x:v1`), odd)).rejects.toMatchObject({
    code: 'bad-answer',
  });
});

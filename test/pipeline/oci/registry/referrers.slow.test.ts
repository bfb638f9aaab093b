import { describe, expect, test } from 'vitest';
import { parseReference, withDigest } from '../../../../catalog/reference.ts';
import { OCI_INDEX, OCI_MANIFEST } from '../../../../pipeline/oci/media-types.ts';
import type { RegistryClient } from '../../../../pipeline/oci/registry/client.ts';
import { parseManifest } from '../../../../pipeline/oci/registry/image.ts';
import { pushImage } from '../../../../pipeline/oci/registry/push.ts';
import { referrersTag } from '../../../../pipeline/oci/registry/referrers.ts';
import { type Asked, reply, startHost, testClient } from '../../../fakes/host.ts';
import { sampleImage, sampleReferrer } from '../../../fakes/image.ts';
import { registry } from '../../../fakes/registry.ts';

const image = sampleImage();
const signature = sampleReferrer(image.root, 'test/signature');
const sbom = sampleReferrer(image.root, 'test/sbom');

async function pushAll(client: RegistryClient, host: string): Promise<void> {
  const tag = parseReference(`${host}/a:v1`);
  await pushImage(client, tag, { image });
  for (const about of [signature, sbom]) {
    await pushImage(client, withDigest(tag, about.root.digest), { image: about });
  }
}

/** The embedded registry behind a host that knows nothing of referrers. */
async function withoutApi() {
  const real = await registry();
  return startHost((request, response) => {
    if (request.url.includes('/referrers/')) return reply(response, 404, 'no page here');
    void hand(real.host, request).then(({ status, headers, body }) => {
      const { 'oci-subject': _, ...rest } = headers;
      reply(response, status, body, rest);
    });
  });
}

async function hand(target: string, { method, url, headers, body }: Asked) {
  const type = headers['content-type'];
  const answer = await fetch(`http://${target}${url}`, {
    method,
    headers: type ? { 'content-type': type } : {},
    ...(body.length > 0 ? { body: new Uint8Array(body) } : {}),
  });
  const { 'content-length': _, ...rest } = Object.fromEntries(answer.headers) as Record<string, string>;
  return { status: answer.status, headers: rest, body: Buffer.from(await answer.arrayBuffer()) };
}

describe.each([
  ['a registry with the API', async () => (await registry()).host, 0],
  ['a registry without it', async () => (await withoutApi()).host, 1],
])('%s', (_, start, tags) => {
  test('lists what was pushed about a manifest, all or of one type', async () => {
    const host = await start();
    const client = testClient([host]);
    await pushAll(client, host);
    const at = { registry: host, repository: 'a' };
    const found = await client.listReferrers(at, image.root.digest);
    expect(new Set(found.map(({ digest }) => digest))).toEqual(
      new Set([signature.root.digest, sbom.root.digest]),
    );
    expect(await client.listReferrers(at, image.root.digest, 'test/sbom')).toEqual([
      {
        mediaType: sbom.root.mediaType,
        digest: sbom.root.digest,
        size: sbom.root.bytes.length,
        artifactType: 'test/sbom',
        annotations: { note: '' },
      },
    ]);
    expect(await client.listReferrers(at, signature.root.digest)).toEqual([]);
    const listed: string[] = [];
    for await (const tag of client.listTags(at)) listed.push(tag);
    expect(listed).toHaveLength(1 + tags);
  });

  test('forgets what is removed', async () => {
    const host = await start();
    const client = testClient([host]);
    await pushAll(client, host);
    const at = { registry: host, repository: 'a' };
    const tag = parseReference(`${host}/a:v1`);
    expect(await client.deleteManifest(withDigest(tag, sbom.root.digest))).toBe(true);
    expect((await client.listReferrers(at, image.root.digest)).map(({ digest }) => digest)).toEqual([
      signature.root.digest,
    ]);
    await client.deleteManifest(withDigest(tag, signature.root.digest));
    expect(await client.listReferrers(at, image.root.digest)).toEqual([]);
  });
});

test.each([
  ['without a referrer', 0],
  ['of many referrers', 1000],
])('pages %s that never end are given up', async (_, count) => {
  const one = { mediaType: OCI_MANIFEST, digest: signature.root.digest, size: 1 };
  const body = JSON.stringify({ schemaVersion: 2, mediaType: OCI_INDEX, manifests: Array(count).fill(one) });
  let page = 0;
  const { host, asked } = await startHost(({ url }, response) => {
    if (url === '/v2/') return reply(response, 200);
    const link = `<${url.split('?')[0]}?page=${++page}>; rel="next"`;
    reply(response, 200, body, { 'content-type': OCI_INDEX, link });
  });
  const listing = testClient([host]).listReferrers({ registry: host, repository: 'a' }, image.root.digest);
  await expect(listing).rejects.toMatchObject({
    code: 'too-large',
    message: expect.stringContaining(`${host}/a@${image.root.digest} has too many referrers`),
  });
  expect(asked.length).toBeLessThan(100);
});

test('a page that is not there hides none of the others', async () => {
  const one = { mediaType: OCI_MANIFEST, digest: signature.root.digest, size: 1 };
  const body = JSON.stringify({ schemaVersion: 2, mediaType: OCI_INDEX, manifests: [one] });
  let hasNext = true;
  const { host } = await startHost(({ url }, response) => {
    if (url === '/v2/') return reply(response, 200);
    if (url.endsWith('page=2')) return reply(response, 404, '{}', { 'content-type': 'application/json' });
    const link = hasNext ? { link: `<${url}?page=2>; rel="next"` } : {};
    reply(response, 200, body, { 'content-type': OCI_INDEX, ...link });
  });
  const list = () => testClient([host]).listReferrers({ registry: host, repository: 'a' }, image.root.digest);
  await expect(list()).rejects.toMatchObject({ code: 'bad-answer' });
  hasNext = false;
  expect(await list()).toHaveLength(1);
});

test('the same referrer pushed twice is listed once', async () => {
  const { host } = await withoutApi();
  const client = testClient([host]);
  await pushAll(client, host);
  const tag = parseReference(`${host}/a:v1`);
  await client.putManifest(withDigest(tag, sbom.root.digest), sbom.root);
  expect(await client.listReferrers(tag, image.root.digest)).toHaveLength(2);
});

test('a tag in the place of the list that is none is a conflict, and stays', async () => {
  const { host } = await withoutApi();
  const client = testClient([host]);
  const tag = parseReference(`${host}/a:v1`);
  await pushImage(client, tag, { image });
  const other = sampleImage({ layers: ['other'] });
  const place = referrersTag(tag, image.root.digest);
  await pushImage(client, place, { image: other });
  const pushing = pushImage(client, withDigest(tag, sbom.root.digest), { image: sbom });
  await expect(pushing).rejects.toMatchObject({ code: 'conflict' });
  expect(await client.resolve(place)).toMatchObject({ digest: other.root.digest });
});

test('keys of the list that we do not know are kept', async () => {
  const { host } = await withoutApi();
  const client = testClient([host]);
  await pushAll(client, host);
  const tag = parseReference(`${host}/a:v1`);
  const place = referrersTag(tag, image.root.digest);
  const list = await client.getManifest(place);
  const parsed = list && parseManifest(list);
  expect(parsed).toMatchObject({
    kind: 'list',
    manifests: [{ artifactType: 'test/signature' }, { artifactType: 'test/sbom' }],
  });
});

test.each([
  [`sha256:${'a'.repeat(64)}`, `sha256-${'a'.repeat(64)}`],
  [`sha512:${'a'.repeat(128)}`, `sha512-${'a'.repeat(64)}`],
  [
    'test+algorithm+using+algorithm+separators+and+lots+of+characters:alsoSome=InTheEncodedSectionToShowHyphenReplacementAndLotsAndLotsOfCharacters',
    'test-algorithm-using-algorithm-s-alsoSome-InTheEncodedSectionToShowHyphenReplacementAndLotsAndLot',
  ],
])('the tag of %s', (digest, tag) => {
  expect(referrersTag({ registry: 'r', repository: 'a' }, digest).tag).toBe(tag);
});

/** A host without the referrers API in front of the embedded registry; it answers some deletions, and does nothing then. */
async function refusingDeletion(status: number, isRefused: (path: string) => boolean) {
  const inner = await withoutApi();
  return startHost((request, response) => {
    if (request.method === 'DELETE' && isRefused(request.url))
      return reply(response, status, '{"errors":[{"code":"DIGEST_INVALID"}]}');
    void hand(inner.host, request).then(({ status, headers, body }) => {
      reply(response, status, body, headers);
    });
  });
}

test.each([
  ['no tags, as distribution 2', 400, (path: string) => !path.includes('/sha256:')],
  ['no list that a tag names, as Artifact Registry', 400, (path: string) => path.includes('/sha256:LIST')],
  ['a list without its tag', 202, (path: string) => path.includes('/sha256:LIST')],
])('the last referrer goes with its list where a registry deletes %s', async (_, status, isRefused) => {
  let list = '';
  const { host } = await refusingDeletion(status, (path) => isRefused(path.replace(list, 'sha256:LIST')));
  const client = testClient([host]);
  const at = parseReference(`${host}/a:v1`);
  await pushImage(client, at, { image });
  await pushImage(client, withDigest(at, sbom.root.digest), { image: sbom });
  const tag = referrersTag(at, image.root.digest);
  list = (await client.resolve(tag))?.digest ?? '';
  expect(await client.deleteManifest(withDigest(at, sbom.root.digest))).toBe(true);
  expect(await client.resolve(tag)).toBeUndefined();
});

/** One publish to many places, and what is put beside the images. */
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseReference, withDigest } from '../../../../catalog/reference.ts';
import { folder } from '../../../fakes/folder.ts';
import { testClient } from '../../../fakes/host.ts';
import { registry } from '../../../fakes/registry.ts';
import { type SampleRepository, sampleFiles, sampleRepository } from '../../../fakes/sample.ts';
import { portolan, type Ran } from '../../../fakes/terminal.ts';

let sample: SampleRepository;
beforeAll(() => {
  sample = sampleRepository();
});
afterAll(() => sample.remove());

async function target() {
  const { host, seen } = await registry();
  const client = testClient([host]);
  const publish = (commit: string, ...words: readonly string[]): Promise<Ran> => {
    const common = ['--commit', commit, '--catalog', 'v4.20', '--insecure', host, '--out', folder()];
    return portolan(sample.directory, 'publish', ...common, '--format', 'json', ...words);
  };
  const digestOf = async (name: string): Promise<string | undefined> =>
    (await client.resolve(parseReference(`${host}/${name}`)))?.digest;
  return { host, seen, client, publish, digestOf };
}

test('several tags and repositories and the slim image at once, blobs sent once', async () => {
  const { host, seen, publish, digestOf } = await target();
  const ran = await publish(
    'main',
    ...['--to', `${host}/sea/catalog:v4.20`, '--also', `${host}/sea/catalog:latest`],
    ...['--also', `${host}/mirror/catalog:v4.20`, '--slim', `${host}/sea/slim:v4.20`],
  );
  expect(ran.exit, ran.err).toBe(0);
  const { receipt } = JSON.parse(ran.out);
  const { digest } = receipt;
  expect(await digestOf('sea/catalog:v4.20')).toBe(digest);
  expect(await digestOf('sea/catalog:latest')).toBe(digest);
  expect(await digestOf('mirror/catalog:v4.20')).toBe(digest);
  expect(await digestOf('sea/slim:v4.20')).toBe(receipt.slim.digest);
  expect(receipt.slim.digest).not.toBe(digest);
  expect(receipt.also).toEqual([`${host}/sea/catalog:latest`, `${host}/mirror/catalog:v4.20`]);
  const uploads = seen.filter(({ method, url }) => method === 'PUT' && url.includes('/blobs/uploads/'));
  const digests = uploads.map(({ url }) => new URL(url, 'http://x').searchParams.get('digest'));
  expect(new Set(digests).size).toBe(digests.length);
});

test('a second tag of a repository sends nothing by digest that the first has sent', async () => {
  const { host, seen, publish } = await target();
  const tags = ['--to', `${host}/sea/catalog:v4.20`, '--also', `${host}/sea/catalog:latest`];
  for (const commit of ['main', 'addition'])
    expect(await publish(commit, ...tags)).toMatchObject({ exit: 0 });
  const sent = seen.filter(({ method, url }) => method === 'PUT' && url.includes('/manifests/sha256:'));
  expect(sent.length).toBeGreaterThan(0);
  expect(new Set(sent.map(({ url }) => url)).size).toBe(sent.length);
});

test('without a tag the image is there by its digest, and no tag is', async () => {
  const { host, client, publish } = await target();
  const ran = await publish('main', '--to', `${host}/sea/catalog`, '--untagged');
  expect(ran.exit, ran.err).toBe(0);
  const { receipt } = JSON.parse(ran.out);
  expect(receipt.image).toBe(`${host}/sea/catalog`);
  const reference = parseReference(`${host}/sea/catalog:x`);
  expect(await client.resolve(withDigest(reference, receipt.digest))).toBeDefined();
  const tags: string[] = [];
  for await (const tag of client.listTags(reference)) tags.push(tag);
  expect(tags).toEqual([]);
  const nowhere = await publish('main', '--to', `oci:${folder()}`, '--untagged');
  expect(nowhere).toMatchObject({ exit: 2, err: expect.stringContaining('needs a tag') });
});

test('labels, cache and compression are chosen', async () => {
  const { host, client, publish } = await target();
  const name = `${host}/sea/catalog:v4.20`;
  const words = ['--to', name, '--cache', 'none', '--compression', 'zstd', '--label', 'a=b=c'];
  const { receipt } = JSON.parse((await publish('main', ...words)).out);
  expect(receipt).not.toHaveProperty('cacheDigest');
  const { readImage } = await import('../../../../pipeline/oci/registry/push.ts');
  const { manifests } = await readImage(client, parseReference(name));
  const { layers } = JSON.parse(Buffer.from(manifests[0]?.bytes ?? []).toString());
  expect(layers.every(({ mediaType }: { mediaType: string }) => mediaType.endsWith('+zstd'))).toBe(true);
  expect(await publish('main', '--to', name, '--cache', 'big')).toMatchObject({ exit: 2 });
  expect(await publish('main', '--to', name, '--label', 'a')).toMatchObject({ exit: 2 });
});

test('what is in the image and where it comes from, signed, and verified', async () => {
  const { host, client, publish } = await target();
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const at = folder();
  writeFileSync(join(at, 'key'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
  writeFileSync(join(at, 'pub'), publicKey.export({ type: 'spki', format: 'pem' }));
  const name = `${host}/sea/catalog:v4.20`;
  const words = [
    '--to',
    name,
    '--sbom',
    '--sign-key',
    join(at, 'key'),
    '--source',
    'https://example.com/sea',
  ];
  const ran = await publish('main', ...words);
  expect(ran.exit, ran.err).toBe(0);
  const { digest } = JSON.parse(ran.out).receipt;
  const referrers = () => client.listReferrers(parseReference(name), digest);
  expect((await referrers()).map(({ artifactType }) => artifactType).sort()).toEqual([
    'application/vnd.cyclonedx+json',
    'application/vnd.dev.portolan.mirror-plan.v1',
    'application/vnd.dev.portolan.published-commit.v1',
    'application/vnd.dev.sigstore.bundle.v0.3+json',
    'application/vnd.dev.sigstore.bundle.v0.3+json',
  ]);
  const verify = (...how: string[]): Promise<Ran> =>
    portolan(at, 'verify', name, '--insecure', host, '--key', 'pub', ...how);
  expect(await verify()).toMatchObject({
    exit: 0,
    out: expect.stringContaining('signed by key 1: https://slsa.dev/provenance/v1'),
  });
  expect(await verify('--says', 'https://example.com/other')).toMatchObject({ exit: 1 });
  // The same image of a later commit: the documents stay as they are.
  await publish('main', ...words);
  expect(await referrers()).toHaveLength(5);
  // With another key, as after a rotation: it signs what the old one has signed before.
  const next = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  writeFileSync(join(at, 'key'), next.privateKey.export({ type: 'pkcs8', format: 'pem' }));
  writeFileSync(join(at, 'pub'), next.publicKey.export({ type: 'spki', format: 'pem' }));
  expect(await verify()).toMatchObject({ exit: 1 });
  for (const _ of ['once', 'and again']) {
    await publish('main', ...words);
    expect(await referrers()).toHaveLength(7);
  }
  expect(await verify()).toMatchObject({ exit: 0 });
  expect(await portolan(at, 'verify', name, '--insecure', host)).toMatchObject({ exit: 2 });
});

test('what the policy asks for is put beside the image', async () => {
  const { host, client } = await target();
  // The sample remembers what was published by name, and a port may come again.
  const name = `${host}/attested/catalog:v4.20`;
  const policy = sampleFiles()['.github/portolan.yaml'] ?? '';
  const text = `${policy.split('publish:')[0]}publish: {catalogs: {'v*': {image: '${name}', attest: [sbom, provenance]}}}\n`;
  const commit = sample.commit(
    { '.github/portolan.yaml': text },
    { parents: [sample.base], branch: 'attesting' },
  );
  const words = ['publish', '--commit', commit, '--catalog', 'v4.20', '--insecure', host, '--out', folder()];
  const ran = await portolan(sample.directory, ...words, '--format', 'json');
  expect(ran.exit, ran.err).toBe(0);
  const found = await client.listReferrers(parseReference(name), JSON.parse(ran.out).receipt.digest);
  expect(found.map(({ artifactType }) => artifactType).sort()).toEqual([
    'application/vnd.cyclonedx+json',
    'application/vnd.dev.portolan.published-commit.v1',
    'application/vnd.in-toto+json',
  ]);
});

test.each([
  ['and an immutable one, also of further places', '', 2],
  ['alone, where the policy says so', ', immutableTags: false', 0],
])('what the policy publishes gets its tag %s', async (_, written, extra) => {
  const { host, client } = await target();
  const name = `${host}/lasting${extra}/catalog`;
  const policy = sampleFiles()['.github/portolan.yaml'] ?? '';
  const places = `image: '${name}:{catalog}', also: ['${name}:latest']${written}`;
  const text = `${policy.split('publish:')[0]}publish: {catalogs: {'v*': {${places}}}}\n`;
  const branch = `lasting-${extra}`;
  const commit = sample.commit({ '.github/portolan.yaml': text }, { parents: [sample.base], branch });
  const words = ['publish', '--commit', commit, '--catalog', 'v4.20', '--insecure', host, '--out', folder()];
  const ran = await portolan(sample.directory, ...words, '--format', 'json');
  expect(ran.exit, ran.err).toBe(0);
  const { digest } = JSON.parse(ran.out).receipt;
  const digests: Record<string, string | undefined> = {};
  const of = parseReference(`${name}:x`);
  for await (const tag of client.listTags(of))
    digests[tag.replace(/-\d{14}-/, '-TIME-')] = (await client.resolve({ ...of, kind: 'tag', tag }))?.digest;
  const lasting = ['latest', 'v4.20'].map((tag) => `${tag}-TIME-${commit.slice(0, 12)}`);
  const expected = ['latest', 'v4.20', ...lasting.slice(0, extra)].map((tag) => [tag, digest]);
  expect(digests).toEqual(Object.fromEntries(expected));
});

test('old images are deleted as the policy says', async () => {
  const { host, seen, client } = await target();
  const policy = sampleFiles()['.github/portolan.yaml'] ?? '';
  const name = `${host}/kept/catalog`;
  const text = `${policy.split('publish:')[0]}publish: {catalogs: {'v*': {image: '${name}:{catalog}', keep: 2}}}\n`;
  let parent = sample.base;
  const commits: string[] = [];
  const errors: string[] = [];
  for (const file of ['a', 'b', 'c', 'd']) {
    const versions = sampleFiles()['catalogs/v4.20/ferry-operator/catalog.yaml'] ?? '';
    const files = {
      '.github/portolan.yaml': text,
      'catalogs/v4.20/ferry-operator/catalog.yaml': `${versions}---\nschema: olm.note\npackage: ferry-operator\nname: ${file}\n`,
    };
    parent = sample.commit(files, { parents: [parent], branch: 'kept' });
    commits.push(parent.slice(0, 12));
    const words = [
      'publish',
      '--commit',
      parent,
      '--catalog',
      'v4.20',
      '--insecure',
      host,
      '--out',
      folder(),
    ];
    const ran = await portolan(sample.directory, ...words);
    expect(ran.exit, ran.err).toBe(0);
    errors.push(ran.err);
  }
  const tags: string[] = [];
  for await (const tag of client.listTags(parseReference(`${name}:x`))) tags.push(tag.slice(-12));
  expect(tags.sort()).toEqual([...commits.slice(2), 'v4.20'].sort());
  expect(errors.filter((error) => error.includes('deleted the old image'))).toHaveLength(2);
  expect(seen.some(({ method }) => method === 'DELETE')).toBe(true);
});

import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { nodeConfig } from '../../../../catalog/mirror/node/node.ts';
import { parseReference, type Reference } from '../../../../catalog/reference.ts';
import { lookupKey } from '../../../../catalog/references/site.ts';
import { lookUp } from '../../../../pipeline/catalogs/references/look-up.ts';
import { PipelineError } from '../../../../pipeline/error.ts';
import { digestOf } from '../../../../pipeline/oci/digest.ts';
import { OCI_MANIFEST } from '../../../../pipeline/oci/media-types.ts';
import { createRegistryClient, type RegistryClient } from '../../../../pipeline/oci/registry/client.ts';
import { readThroughMirrors } from '../../../../pipeline/oci/registry/mirrored.ts';
import { pushImage } from '../../../../pipeline/oci/registry/push.ts';
import type { Trust } from '../../../../pipeline/oci/signatures/signatures.ts';
import type { Registry } from '../../../../pipeline/ports.ts';
import { attachDocument } from '../../../../pipeline/publish/attest/artifact.ts';
import { BUNDLE_TYPE } from '../../../../pipeline/publish/attest/sign.ts';
import { faultProxy } from '../../../fakes/fault-proxy.ts';
import { reply, startHost, testClient } from '../../../fakes/host.ts';
import { describe as described, type ImageOptions, sampleImage } from '../../../fakes/image.ts';
import { registry, type TestRegistry } from '../../../fakes/registry.ts';

function clientFor({ host }: TestRegistry): RegistryClient {
  return createRegistryClient({ plainHttp: [host], internal: [host], retry: { attempts: 1 } });
}

async function push(client: RegistryClient, name: string, options: ImageOptions): Promise<string> {
  const image = sampleImage(options);
  await pushImage(client, parseReference(name), { image });
  return image.root.digest;
}

test('each reference is asked for once, by HEAD', async () => {
  const far = await registry();
  const client = clientFor(far);
  const digest = await push(client, `${far.host}/org/a:v1`, {});
  const before = far.seen.length;
  const names = ['org/a:v1', 'org/a:v1', `org/a@${digest}`, `org/a:v1@${digest}`];
  const found = await lookUp(
    names.map((name) => parseReference(`${far.host}/${name}`)),
    { registry: client },
  );
  expect([...found]).toEqual([
    [`${far.host}/org/a:v1`, { kind: 'found', digest }],
    [`${far.host}/org/a@${digest}`, { kind: 'found', digest }],
  ]);
  expect(far.seen.slice(before).map(({ method }) => method)).toEqual(['HEAD', 'HEAD']);
});

describe('platforms', () => {
  test.each<[string, ImageOptions, string[]]>([
    ['a list names them', { architectures: ['arm64', 'amd64'] }, ['linux/amd64', 'linux/arm64']],
    [
      'so does one of Docker',
      { architectures: ['amd64', 's390x'], format: 'docker' },
      ['linux/amd64', 'linux/s390x'],
    ],
    ['a single image in its configuration', { architectures: ['ppc64le'] }, ['linux/ppc64le']],
  ])('%s', async (_, options, platforms) => {
    const far = await registry();
    const client = clientFor(far);
    const digest = await push(client, `${far.host}/org/a:v1`, options);
    const reference = parseReference(`${far.host}/org/a:v1`);
    const keys = new Set([lookupKey(reference)]);
    const found = await lookUp([reference], { registry: client, platforms: keys });
    const isList = platforms.length > 1;
    expect([...found.values()]).toEqual([
      { kind: 'found', digest, platforms, ...(isList ? { isList } : {}) },
    ]);
    const absent = parseReference(`${far.host}/org/a:v2`);
    const none = await lookUp([absent], { registry: client, platforms: new Set([lookupKey(absent)]) });
    expect([...none.values()]).toEqual([{ kind: 'absent' }]);
  });
});

test('a registry that is silent is not asked for every image', async () => {
  const asked: string[] = [];
  const client = createRegistryClient({
    internal: ['gone.example'],
    retry: { attempts: 1 },
    resolver: async (name) => {
      asked.push(name);
      throw new Error('no such name');
    },
  });
  const references = Array.from(
    { length: 2000 },
    (_, i): Reference => ({ kind: 'tag', registry: 'gone.example', repository: 'org/a', tag: `v${i}` }),
  );
  const found = await lookUp(references, { registry: client });
  expect([...found.values()].every(({ kind }) => kind === 'unknown')).toBe(true);
  expect(asked.length).toBeLessThan(200);
});

test.each([
  ['whose manifest cannot be read', 200, 'no JSON'],
  ['whose repository is withheld', 451, ''],
  [
    'that says of no platform',
    200,
    JSON.stringify({ schemaVersion: 2, config: described('', Buffer.from('{}')), layers: [] }),
  ],
])('one image %s does not silence its registry', async (_, status, body) => {
  const { host } = await startHost(({ url }, response) => {
    if (url === '/v2/') return reply(response, 200);
    if (url.includes('/blobs/')) return reply(response, 200, '{}');
    const isOdd = url.includes('/odd/');
    reply(response, isOdd ? status : 404, isOdd ? body : '', { 'content-type': OCI_MANIFEST });
  });
  const names = ['odd/a:v1', ...Array.from({ length: 300 }, (__, i) => `org/a:v${i}`)];
  const references = names.map((name) => parseReference(`${host}/${name}`));
  const platforms = new Set(references.map(lookupKey));
  const [odd, ...others] = (await lookUp(references, { registry: testClient([host]), platforms })).values();
  expect(odd).toMatchObject({ kind: 'unknown' });
  expect(others.filter(({ kind }) => kind !== 'absent')).toEqual([]);
});

test('a registry that fails in spite of all tries is not asked for every image', async () => {
  const { host, asked } = await startHost((_request, response) => reply(response, 503));
  const references = Array.from({ length: 1000 }, (_, i) => parseReference(`${host}/org/a:v${i}`));
  const found = await lookUp(references, { registry: testClient([host], { retry: { attempts: 1 } }) });
  expect([...found.values()].every(({ kind }) => kind === 'unknown')).toBe(true);
  expect(asked.length).toBeLessThan(200);
});

test.each([
  ['is asked on', false, 'found'],
  ['is not asked for every image if it fails, too', true, 'unknown'],
])('a registry whose mirror fails %s', async (_, fails, kind) => {
  const down = await startHost((_request, response) => reply(response, 503));
  const far = await startHost(({ url }, response) => {
    if (fails) return reply(response, 503);
    const isOdd = url.includes('/odd/');
    reply(response, isOdd ? 404 : 200, '{}', { 'content-type': OCI_MANIFEST });
  });
  const mirror = { source: far.host, mirrors: [down.host], blocksSource: false };
  const client = testClient([far.host, down.host], { retry: { attempts: 1 } });
  const read = readThroughMirrors(client, {
    config: nodeConfig({ digest: [mirror], tag: [mirror] }),
    mirrors: client,
  });
  const names = ['odd/a:v1', ...Array.from({ length: 1000 }, (__, i) => `org/a:v${i}`)];
  const found = await lookUp(
    names.map((name) => parseReference(`${far.host}/${name}`)),
    { registry: read },
  );
  const [odd, ...others] = found.values();
  expect(odd).toMatchObject({ kind: 'unknown' });
  expect(others.filter((one) => one.kind !== kind)).toEqual([]);
  if (fails) expect(far.asked.length).toBeLessThan(200);
});

describe('where a signature is demanded', () => {
  const trust: Trust = {
    kind: 'keys',
    keys: [generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' }).toString()],
  };
  /** An image with one signature, of which the registry answers requests as the test says. */
  async function lookUpSigned(answer: (url: string) => number | undefined) {
    const far = await registry();
    const direct = clientFor(far);
    const digest = await push(direct, `${far.host}/org/a:v1`, {});
    const manifest = await direct.getManifest(parseReference(`${far.host}/org/a:v1`));
    if (!manifest) throw new Error('the image was not pushed');
    const reference = parseReference(`${far.host}/org/a:v1`);
    const attachment = { artifactType: BUNDLE_TYPE, bytes: Buffer.from('no bundle') };
    await attachDocument(direct, { reference, manifest }, attachment);
    const blob = digestOf(attachment.bytes);
    const proxy = await faultProxy(far.host, ({ url }) => {
      const status = answer(url.replace(blob, 'signature'));
      return status === undefined ? { kind: 'pass' } : { kind: 'answer', status };
    });
    const found = await lookUp([parseReference(`${proxy.host}/org/a:v1`)], {
      registry: testClient([proxy.host], { retry: { attempts: 1 } }),
      signed: () => trust,
    });
    return { digest, found: [...found.values()] };
  }

  test('an image whose signature is lost is there, and unsigned', async () => {
    const { digest, found } = await lookUpSigned((url) => (url.endsWith('/signature') ? 404 : undefined));
    expect(found).toEqual([{ kind: 'found', digest, unsigned: expect.stringContaining('404') }]);
  });

  test.each([[403], [503]])(
    'one is unknown whose signatures the registry refuses with %i',
    async (status) => {
      const { found } = await lookUpSigned((url) => (url.includes('/referrers/') ? status : undefined));
      expect(found).toEqual([{ kind: 'unknown', why: expect.stringContaining(String(status)) }]);
    },
  );

  test.each(['not-found', 'not-allowed', 'unreachable'] as const)(
    'one is unknown where the question of its signatures ends with %s, and the next is asked for',
    async (code) => {
      const far = await registry();
      const client = clientFor(far);
      const references = ['v1', 'v2'].map((tag) => parseReference(`${far.host}/org/a:${tag}`));
      await push(client, `${far.host}/org/a:v1`, {});
      const refusing: Registry = {
        ...client,
        listReferrers: () => Promise.reject(new PipelineError(code, 'no answer')),
      };
      const found = await lookUp(references, { registry: refusing, signed: () => trust });
      expect([...found.values()]).toEqual([{ kind: 'unknown', why: 'no answer' }, { kind: 'absent' }]);
    },
  );
});

test('what may not be asked is not, and what may not be seen is unknown', async () => {
  const far = await registry({
    access: { kind: 'token', accounts: { anna: 'x' } },
  });
  const client = clientFor(far);
  const references = [parseReference(`${far.host}/org/a:v1`), parseReference(`${far.host}/other/a:v1`)];
  const allows = ({ repository }: { repository: string }): boolean => repository.startsWith('org/');
  const [private_, refused] = [...(await lookUp(references, { registry: client, allows })).values()];
  expect(refused).toEqual({ kind: 'not-allowed' });
  expect(private_).toMatchObject({ kind: 'unknown', why: expect.stringContaining('org/a:v1') });
  expect(far.seen.filter(({ url }) => url.includes('other'))).toEqual([]);
});

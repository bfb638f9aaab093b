import { generateKeyPairSync, sign } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type DigestReference, parseReference, withDigest } from '../../../../catalog/reference.ts';
import { pushImage } from '../../../../pipeline/oci/registry/push.ts';
import { signaturesOf } from '../../../../pipeline/oci/signatures/signatures.ts';
import { verifySignatures } from '../../../../pipeline/oci/signatures/verify.ts';
import type { Manifest, Registry } from '../../../../pipeline/ports.ts';
import { type Attachment, attachDocument } from '../../../../pipeline/publish/attest/artifact.ts';
import { PROVENANCE_PREDICATE, provenanceOf } from '../../../../pipeline/publish/attest/provenance.ts';
import { sbomOf } from '../../../../pipeline/publish/attest/sbom.ts';
import { BUNDLE_TYPE, signedStatement } from '../../../../pipeline/publish/attest/sign.ts';
import { testClient } from '../../../fakes/host.ts';
import { describe as described, manifestOf, sampleImage, source } from '../../../fakes/image.ts';
import { registry } from '../../../fakes/registry.ts';
import { sigstore } from '../../../fakes/sigstore.ts';

const DIGEST = `sha256:${'a'.repeat(64)}`;

function statement(digest: string, from = 'https://github.com/acme/catalog'): Uint8Array {
  return provenanceOf({
    receipt: {
      apiVersion: 'portolan/v1alpha1',
      kind: 'PublishReceipt',
      catalog: 'v4.20',
      commit: 'c0ffee',
      image: 'quay.io/acme/catalog:v4.20',
      digest,
      base: DIGEST,
      platforms: ['linux/amd64'],
      packages: 1,
      layers: 2,
    },
    source: from,
    settings: { cache: 'json', compression: 'gzip', labels: {} },
    builder: 'urn:test',
  });
}

/** An image in a registry, and what is needed to sign it. */
async function setUp() {
  const { host, directory } = await registry();
  const client = testClient([host]);
  const image = sampleImage({ architectures: ['amd64', 's390x'] });
  const reference = parseReference(`${host}/acme/catalog:v1`);
  await pushImage(client, reference, { image });
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pem = {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    pub: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  };
  const at = withDigest(reference, image.root.digest);
  const put = (attachment: Attachment, manifest: Manifest = image.root) =>
    attachDocument(client, { reference, manifest }, attachment);
  return { client, directory, image, reference, at, privateKey, ...pem, put };
}

/** A signature as cosign wrote them before there were referrers. */
async function cosignTag(
  { client, at, image }: Awaited<ReturnType<typeof setUp>>,
  payload: Buffer,
  annotations: Readonly<Record<string, string>>,
): Promise<void> {
  const type = 'application/vnd.dev.cosign.simplesigning.v1+json';
  const config = Buffer.from('{}');
  const root = manifestOf('application/vnd.oci.image.manifest.v1+json', {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config: described('application/vnd.oci.image.config.v1+json', config),
    layers: [{ ...described(type, payload), annotations }],
  });
  const tag = {
    kind: 'tag',
    registry: at.registry,
    repository: at.repository,
    tag: `${image.root.digest.replace(':', '-')}.sig`,
  } as const;
  await pushImage(client, tag, { image: { root, manifests: [], blobs: [source(config), source(payload)] } });
}

function simpleSigning(digest: string): Buffer {
  const critical = {
    identity: { 'docker-reference': '' },
    image: { 'docker-manifest-digest': digest },
    type: 'cosign container image signature',
  };
  return Buffer.from(JSON.stringify({ critical, optional: null }));
}

describe('what is in an image', () => {
  test('is a CycloneDX document that is the same every time', async () => {
    const packages = [
      {
        name: 'etcd',
        bundles: [{ name: 'etcd.v1.0.0', version: '1.0.0', image: `quay.io/org/etcd@${DIGEST}` }],
      },
    ];
    const subject = { name: 'quay.io/acme/catalog:v1', digest: DIGEST, base: DIGEST.replaceAll('a', 'b') };
    const { artifactType, bytes } = await sbomOf(subject, packages);
    expect(artifactType).toBe('application/vnd.cyclonedx+json');
    expect((await sbomOf(subject, packages)).bytes).toEqual(bytes);
    const bom = JSON.parse(Buffer.from(bytes).toString());
    expect(bom).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.6' });
    expect(bom.metadata.component).toMatchObject({ type: 'container', version: DIGEST });
    expect(bom.components).toContainEqual(
      expect.objectContaining({
        name: 'etcd',
        components: [
          expect.objectContaining({
            name: 'etcd.v1.0.0',
            version: '1.0.0',
            purl: `pkg:oci/etcd@${encodeURIComponent(DIGEST)}?repository_url=quay.io%2Forg%2Fetcd`,
          }),
        ],
      }),
    );
    expect(bom).not.toHaveProperty('serialNumber');
  });
});

describe('with a key', () => {
  test('a signed provenance is found among the referrers, and counts', async () => {
    const at = await setUp();
    const signed = await signedStatement(statement(at.image.root.digest), PROVENANCE_PREDICATE, {
      kind: 'key',
      key: at.key,
    });
    // Any other one would be cosign's reason to pass over the signature.
    expect(JSON.parse(Buffer.from(signed.bytes).toString()).dsseEnvelope.signatures).toMatchObject([
      { keyid: '' },
    ]);
    await at.put(signed);
    const other = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' }).toString();
    const report = await verifySignatures(at.client, at.at, { kind: 'keys', keys: [other, at.pub] });
    expect(report).toMatchObject({ rejected: [], verified: [{ by: 'key 2', says: PROVENANCE_PREDICATE }] });
    expect(report.verified[0]?.predicate).toMatchObject({
      buildDefinition: { resolvedDependencies: [{ digest: { gitCommit: 'c0ffee' } }, {}] },
    });
    const wrong = await verifySignatures(at.client, at.at, { kind: 'keys', keys: [other] });
    expect(wrong).toMatchObject({ verified: [], rejected: [{ why: 'it was not made with a trusted key' }] });
  });

  test('a signature of another image, a changed statement and noise do not', async () => {
    const at = await setUp();
    const signer = { kind: 'key', key: at.key } as const;
    await at.put(await signedStatement(statement(DIGEST), PROVENANCE_PREDICATE, signer));
    const good = await signedStatement(statement(DIGEST), PROVENANCE_PREDICATE, signer);
    const bundle = JSON.parse(Buffer.from(good.bytes).toString());
    bundle.dsseEnvelope.payload = Buffer.from(statement(at.image.root.digest)).toString('base64');
    await at.put({ ...good, bytes: Buffer.from(JSON.stringify(bundle)) });
    // To the library these are the bytes that were signed.
    bundle.dsseEnvelope.payload = [...Buffer.from(statement(at.image.root.digest))];
    await at.put({ ...good, bytes: Buffer.from(JSON.stringify(bundle)) });
    await at.put({ artifactType: BUNDLE_TYPE, bytes: Buffer.from('no bundle') });
    await at.put({ artifactType: BUNDLE_TYPE, bytes: Buffer.from('{"mediaType":"x"}') });
    const { verified, rejected } = await verifySignatures(at.client, at.at, { kind: 'keys', keys: [at.pub] });
    expect(verified).toEqual([]);
    expect(rejected).toHaveLength(5);
    expect(rejected.map(({ why }) => why)).toEqual(
      expect.arrayContaining([
        'it belongs to another image',
        'it was not made with a trusted key',
        'it has no statement',
      ]),
    );
  });

  test('what cosign keeps under a tag counts, of this image only', async () => {
    const at = await setUp();
    const signature = (payload: Buffer): Record<string, string> => ({
      'dev.cosignproject.cosign/signature': sign('sha256', payload, at.privateKey).toString('base64'),
    });
    const trust = { kind: 'keys', keys: [at.pub] } as const;
    const payload = simpleSigning(at.image.root.digest);
    await cosignTag(at, payload, signature(payload));
    expect(await verifySignatures(at.client, at.at, trust)).toMatchObject({
      verified: [{ by: 'key 1', says: 'signature' }],
    });
    await cosignTag(at, simpleSigning(DIGEST), signature(simpleSigning(DIGEST)));
    expect((await verifySignatures(at.client, at.at, trust)).verified).toEqual([]);
    await cosignTag(at, payload, signature(simpleSigning(DIGEST)));
    expect((await verifySignatures(at.client, at.at, trust)).verified).toEqual([]);
  });

  test.each([
    ['another type', (text: string) => text.replace('cosign container image signature', 'release note')],
    [
      'two digests',
      (text: string) =>
        text.replace('{"docker-manifest', `{"docker-manifest-digest":"${DIGEST}","docker-manifest`),
    ],
    [
      'another case',
      (text: string) => text.replace(/}$/, `,"Critical":{"image":{"docker-manifest-digest":"${DIGEST}"}}}`),
    ],
  ])('99: a payload of cosign with %s does not count', async (_, change) => {
    const at = await setUp();
    const written = simpleSigning(at.image.root.digest).toString();
    const payload = Buffer.from(change(written));
    expect(payload.toString()).not.toBe(written);
    const signature = sign('sha256', payload, at.privateKey).toString('base64');
    await cosignTag(at, payload, { 'dev.cosignproject.cosign/signature': signature });
    const { verified, rejected } = await verifySignatures(at.client, at.at, { kind: 'keys', keys: [at.pub] });
    expect(verified).toEqual([]);
    expect(rejected[0]?.why).toMatch(
      /its type is "release note"|has the key "docker-manifest-digest" twice|unknown field "Critical"/,
    );
  });

  test('what cannot be read does not hide a signature that counts, and is told', async () => {
    const at = await setUp();
    const payload = simpleSigning(at.image.root.digest);
    const signer = { kind: 'key', key: at.key } as const;
    await at.put({ artifactType: BUNDLE_TYPE, bytes: Buffer.from('lost') });
    await at.put({ artifactType: BUNDLE_TYPE, bytes: Buffer.alloc(1024 * 1024 + 1, ' ') });
    await at.put(await signedStatement(statement(at.image.root.digest), PROVENANCE_PREDICATE, signer));
    await cosignTag(at, payload, {});
    for (const lost of [payload, Buffer.from('lost')])
      rmSync(join(at.directory, 'blobs', described('', lost).digest.replace(':', '/')));
    const { verified, rejected } = await verifySignatures(at.client, at.at, { kind: 'keys', keys: [at.pub] });
    expect(verified).toMatchObject([{ by: 'key 1' }]);
    expect(rejected).toEqual(
      expect.arrayContaining([
        { where: expect.stringContaining('the referrer'), why: expect.stringContaining('404') },
        { where: expect.stringContaining('the referrer'), why: expect.stringContaining('1048577 bytes') },
        { where: expect.stringContaining('signature 1 under'), why: expect.stringContaining('404') },
      ]),
    );
  });

  test('junk under the tags of cosign hides nothing among the referrers', async () => {
    const at = await setUp();
    const signer = { kind: 'key', key: at.key } as const;
    await at.put(await signedStatement(statement(at.image.root.digest), PROVENANCE_PREDICATE, signer));
    const tag = at.image.root.digest.replace(':', '-');
    const client: Registry = {
      ...at.client,
      getManifest: async (reference) => {
        const manifest = await at.client.getManifest(reference);
        return reference.kind === 'tag' ? { ...at.image.root, bytes: Buffer.from('junk') } : manifest;
      },
    };
    const { verified, rejected } = await verifySignatures(client, at.at, { kind: 'keys', keys: [at.pub] });
    expect(verified).toHaveLength(1);
    const why = expect.stringContaining('not valid JSON');
    expect(rejected).toEqual(['sig', 'att'].map((end) => ({ where: `the tag ${tag}.${end}`, why })));
  });

  test('signatures are read one after the other', async () => {
    const at = await setUp();
    for (const text of ['one', 'two', 'three'])
      await at.put({ artifactType: BUNDLE_TYPE, bytes: Buffer.from(text) });
    const read: string[] = [];
    const client: Registry = {
      ...at.client,
      getBlob: (from, blob) => {
        read.push(blob.digest);
        return at.client.getBlob(from, blob);
      },
    };
    for await (const _ of signaturesOf(client, at.at)) break;
    expect(read).toHaveLength(1);
  });

  test('a key that is none is told', async () => {
    const at: DigestReference = withDigest(parseReference('quay.io/a:v1'), DIGEST);
    await expect(verifySignatures(testClient([]), at, { kind: 'keys', keys: ['x'] })).rejects.toMatchObject({
      code: 'usage',
    });
    await expect(signedStatement(statement(DIGEST), 'x', { kind: 'key', key: 'x' })).rejects.toMatchObject({
      code: 'usage',
    });
  });
});

describe('without a key', () => {
  const identity = 'https://github.com/acme/catalog/.github/workflows/publish.yaml@refs/heads/main';

  test('the identity and who vouches for it must be the wanted ones', async () => {
    const { root, issuer, signer, close } = await sigstore(identity);
    onTestFinished(close);
    const at = await setUp();
    await at.put(await signedStatement(statement(at.image.root.digest), PROVENANCE_PREDICATE, signer));
    const verify = (wanted: { identity?: string; issuer?: string }) =>
      verifySignatures(at.client, at.at, { kind: 'identity', identity, issuer, root, ...wanted });
    expect(await verify({})).toMatchObject({ rejected: [], verified: [{ by: identity }] });
    expect((await verify({ identity: 'https://github.com/acme/catalog/*' })).verified).toHaveLength(1);
    for (const wrong of [
      { identity: 'https://github.com/acme/cat' },
      { identity: '.*' },
      { identity: 'github.com/acme/catalog' },
      { issuer: 'https://issuer.example' },
      { issuer: '' },
    ]) {
      const { verified, rejected } = await verify(wrong);
      expect(verified).toEqual([]);
      expect(rejected).toHaveLength(1);
    }
    const stranger = await sigstore(identity);
    onTestFinished(stranger.close);
    expect((await verify({ ...stranger })).verified).toEqual([]);
  });
});

test.each([
  ['https://x:hunter2@github.com/acme/catalog.git', 'git+https://github.com/acme/catalog.git'],
  ['https://github.com/acme/catalog', 'git+https://github.com/acme/catalog'],
  ['git@github.com:acme/catalog', 'git+git@github.com:acme/catalog'],
])('75: a statement says that the source is %s without a password', (from, uri) => {
  const { predicate } = JSON.parse(new TextDecoder().decode(statement(DIGEST, from)));
  expect(predicate.buildDefinition.resolvedDependencies[0].uri).toBe(uri);
});

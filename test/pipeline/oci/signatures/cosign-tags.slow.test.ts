/** What cosign 2 stores of an image under tags: signatures (`.sig`) and signed statements (`.att`). */
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { type DigestReference, parseReference, withDigest } from '../../../../catalog/reference.ts';
import { lookUp } from '../../../../pipeline/catalogs/references/look-up.ts';
import { pushImage } from '../../../../pipeline/oci/registry/push.ts';
import { verifySignatures } from '../../../../pipeline/oci/signatures/verify.ts';
import type { Registry } from '../../../../pipeline/ports.ts';
import { attachDocument } from '../../../../pipeline/publish/attest/artifact.ts';
import { signedStatement } from '../../../../pipeline/publish/attest/sign.ts';
import { testClient } from '../../../fakes/host.ts';
import { describe as described, manifestOf, sampleImage, source } from '../../../fakes/image.ts';
import { registry } from '../../../fakes/registry.ts';
import { sigstore } from '../../../fakes/sigstore.ts';

const SCAN = 'https://example.com/scan/v1';
const V1 = 'https://in-toto.io/Statement/v1';
const V01 = 'https://in-toto.io/Statement/v0.1';
const DSSE = 'application/vnd.dsse.envelope.v1+json';
const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const trust = { kind: 'keys', keys: [pemOf(keys.publicKey)] } as const;

function pemOf(key: KeyObject): string {
  return key.export({ type: key.type === 'private' ? 'pkcs8' : 'spki', format: 'pem' }).toString();
}

async function setUp() {
  const { host } = await registry();
  const client = testClient([host]);
  const reference = parseReference(`${host}/acme/catalog:v1`);
  const image = sampleImage();
  await pushImage(client, reference, { image });
  return { client, reference, image, at: withDigest(reference, image.root.digest) };
}

interface Layer {
  readonly mediaType: string;
  readonly bytes: Buffer;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Writes a tag as cosign does: one layer for each signature or statement. */
async function putTag(client: Registry, at: DigestReference, end: string, layers: readonly Layer[]) {
  const config = Buffer.from('{}');
  const root = manifestOf('application/vnd.oci.image.manifest.v1+json', {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config: described('application/vnd.oci.image.config.v1+json', config),
    layers: layers.map(({ mediaType, bytes, annotations = {} }) => ({
      ...described(mediaType, bytes),
      annotations,
    })),
  });
  const tag = `${at.digest.replace(':', '-')}.${end}`;
  const blobs = [source(config), ...layers.map(({ bytes }) => source(bytes))];
  const { registry: host, repository } = at;
  const reference = { kind: 'tag', registry: host, repository, tag } as const;
  await pushImage(client, reference, { image: { root, manifests: [], blobs } });
}

interface Said {
  readonly result?: string;
  readonly type?: unknown;
  readonly digest?: string;
  /** Further keys of the statement. */
  readonly more?: object;
}

function statementOf(at: DigestReference, { result = 'PASSED', type = V01, digest = at.digest, more }: Said) {
  const [algorithm = '', hex = ''] = digest.split(':');
  const subject = [{ digest: { [algorithm]: hex } }];
  const predicate = { result };
  return Buffer.from(JSON.stringify({ _type: type, subject, predicateType: SCAN, predicate, ...more }));
}

const byKey = { kind: 'key', key: pemOf(keys.privateKey) } as const;

/** The bundle that Portolan writes of a signed statement. */
async function bundleOf(at: DigestReference, said: Said, signer: Parameters<typeof signedStatement>[2]) {
  const { bytes } = await signedStatement(statementOf(at, said), SCAN, signer);
  return JSON.parse(Buffer.from(bytes).toString());
}

async function layerOf(at: DigestReference, said: Said): Promise<Layer> {
  const { dsseEnvelope } = await bundleOf(at, said, byKey);
  return { mediaType: DSSE, bytes: Buffer.from(JSON.stringify(dsseEnvelope)) };
}

test('statements under the tag .att count, of this image only', async () => {
  const { client, at } = await setUp();
  const other = { digest: `sha256:${'b'.repeat(64)}` };
  const layers = [
    await layerOf(at, {}),
    await layerOf(at, other),
    { mediaType: DSSE, bytes: Buffer.from('x') },
  ];
  await putTag(client, at, 'att', layers);
  const { verified, rejected } = await verifySignatures(client, at, trust);
  const tag = `${at.digest.replace(':', '-')}.att`;
  expect(verified).toEqual([
    {
      ...{ where: `signature 1 under the tag ${tag}`, by: 'key 1', says: SCAN, isSignature: false },
      predicate: { result: 'PASSED' },
    },
  ]);
  expect(rejected.map(({ why }) => why)).toEqual(['it belongs to another image', 'it has no statement']);
});

test('a statement that names its subject twice, in two cases, does not count', async () => {
  const { client, at } = await setUp();
  const [algorithm = '', hex = ''] = at.digest.split(':');
  const more = { Subject: [{ digest: { [algorithm]: hex } }] };
  await putTag(client, at, 'att', [await layerOf(at, { more })]);
  const { verified, rejected } = await verifySignatures(client, at, trust);
  expect([verified, rejected.map(({ why }) => why)]).toEqual([
    [],
    ['the signed statement has "subject" twice'],
  ]);
});

test('46: a failed check under the tag .att counts more than one that passed among the referrers', async () => {
  const { client, reference, at, image } = await setUp();
  const passed = await signedStatement(statementOf(at, {}), SCAN, byKey);
  await attachDocument(client, { reference, manifest: image.root }, passed);
  const demand = { name: 'scan', from: ['*'], trust, predicateType: SCAN, result: 'default' } as const;
  const scan = async () => {
    const lookups = await lookUp([reference], { registry: client, attested: () => [demand] });
    return [...lookups.values()][0];
  };
  expect(await scan()).toMatchObject({ checks: [{ name: 'scan', kind: 'passed' }] });
  await putTag(client, at, 'att', [await layerOf(at, { result: 'FAILED' })]);
  expect(await scan()).toMatchObject({ checks: [{ name: 'scan', kind: 'missing' }] });
});

test('what a job signed without a key counts under the tag .att, with what the log notes of it', async () => {
  const identity = 'https://github.com/acme/catalog/.github/workflows/scan.yaml@refs/heads/main';
  const { root, issuer, signer, close } = await sigstore(identity);
  onTestFinished(close);
  const { client, at } = await setUp();
  const { dsseEnvelope, verificationMaterial } = await bundleOf(at, {}, signer);
  const [entry] = verificationMaterial.tlogEntries;
  const annotations = {
    'dev.sigstore.cosign/certificate': `-----BEGIN CERTIFICATE-----\n${verificationMaterial.certificate.rawBytes}\n-----END CERTIFICATE-----\n`,
    'dev.sigstore.cosign/bundle': JSON.stringify({
      SignedEntryTimestamp: entry.inclusionPromise.signedEntryTimestamp,
      Payload: {
        body: entry.canonicalizedBody,
        integratedTime: Number(entry.integratedTime),
        logIndex: Number(entry.logIndex),
        logID: Buffer.from(entry.logId.keyId, 'base64').toString('hex'),
      },
    }),
  };
  const bytes = Buffer.from(JSON.stringify(dsseEnvelope));
  await putTag(client, at, 'att', [{ mediaType: DSSE, bytes, annotations }]);
  const wanted = { kind: 'identity', identity, issuer, root } as const;
  expect(await verifySignatures(client, at, wanted)).toMatchObject({
    rejected: [],
    verified: [{ by: identity, says: SCAN }],
  });
  const other = await verifySignatures(client, at, { ...wanted, identity: 'https://github.com/other/*' });
  expect(other).toMatchObject({ verified: [], rejected: [{}] });
});

test.each([
  [V1, 1],
  [V01, 1],
  ['https://in-toto.io/Link/v1', 0],
  ['https://in-toto.io/Statement/v1/', 0],
  [[V1], 0],
  [null, 0],
])('99: of signed statements with the _type %j, %i count', async (type, count) => {
  const { client, reference, at, image } = await setUp();
  const signed = await signedStatement(statementOf(at, { type }), SCAN, byKey);
  await attachDocument(client, { reference, manifest: image.root }, signed);
  await putTag(client, at, 'att', [await layerOf(at, { type })]);
  const { verified, rejected } = await verifySignatures(client, at, trust);
  expect(verified).toHaveLength(2 * count);
  const why = `it is not an in-toto statement: its _type is ${JSON.stringify(type)}`;
  expect(rejected.map((one) => one.why)).toEqual(Array(2 - 2 * count).fill(why));
});

test.each([
  ['ed25519', generateKeyPairSync('ed25519'), null],
  ['RSA', generateKeyPairSync('rsa', { modulusLength: 2048 }), 'sha256'],
  ['P-384', generateKeyPairSync('ec', { namedCurve: 'P-384' }), 'sha256'],
] as const)('a signature under the tag .sig by a key of %s counts', async (_, pair, hash) => {
  const { client, at } = await setUp();
  const critical = {
    identity: { 'docker-reference': '' },
    image: { 'docker-manifest-digest': at.digest },
    type: 'cosign container image signature',
  };
  const bytes = Buffer.from(JSON.stringify({ critical, optional: null }));
  const signature = sign(hash, bytes, pair.privateKey).toString('base64');
  const annotations = { 'dev.cosignproject.cosign/signature': signature };
  const mediaType = 'application/vnd.dev.cosign.simplesigning.v1+json';
  await putTag(client, at, 'sig', [{ mediaType, bytes, annotations }]);
  const report = await verifySignatures(client, at, { kind: 'keys', keys: [pemOf(pair.publicKey)] });
  expect(report).toMatchObject({ rejected: [], verified: [{ by: 'key 1', says: 'signature' }] });
  const wrong = await verifySignatures(client, at, trust);
  expect(wrong).toMatchObject({ verified: [], rejected: [{}] });
});

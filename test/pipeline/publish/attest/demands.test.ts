import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { parseReference } from '../../../../catalog/reference.ts';
import { lookUp } from '../../../../pipeline/catalogs/references/look-up.ts';
import { parseLocation } from '../../../../pipeline/oci/registry/image-location.ts';
import { pushImage } from '../../../../pipeline/oci/registry/push.ts';
import { COSIGN_PREDICATE } from '../../../../pipeline/oci/signatures/verify.ts';
import { readPolicy } from '../../../../pipeline/policy/read-policy.ts';
import { signatureDemands } from '../../../../pipeline/policy/registries.ts';
import { attachDocument } from '../../../../pipeline/publish/attest/artifact.ts';
import { signedStatement } from '../../../../pipeline/publish/attest/sign.ts';
import { openBase } from '../../../../pipeline/publish/base.ts';
import { testClient } from '../../../fakes/host.ts';
import { sampleImage } from '../../../fakes/image.ts';
import { registry } from '../../../fakes/registry.ts';

const HEAD = 'apiVersion: portolan/v1alpha1\nkind: Portolan\n';

/** A registry with a signed image, one that is not, and a policy that demands signatures of one organisation. */
async function setUp() {
  const { host } = await registry();
  const client = testClient([host]);
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  for (const name of ['acme/signed', 'acme/attested', 'acme/unsigned', 'other/unsigned']) {
    const reference = parseReference(`${host}/${name}:v1`);
    const image = sampleImage({ layers: [name] });
    await pushImage(client, reference, { image });
    const type = { 'acme/signed': COSIGN_PREDICATE, 'acme/attested': 'https://example.com/test/v1' }[name];
    if (type === undefined) continue;
    const [algorithm = '', hex = ''] = image.root.digest.split(':');
    const statement = {
      _type: 'https://in-toto.io/Statement/v1',
      subject: [{ digest: { [algorithm]: hex } }],
      predicateType: type,
      predicate: { result: 'FAILED' },
    };
    const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const signed = await signedStatement(Buffer.from(JSON.stringify(statement)), type, { kind: 'key', key });
    await attachDocument(client, { reference, manifest: image.root }, signed);
  }
  const pem = publicKey
    .export({ type: 'spki', format: 'pem' })
    .toString()
    .trim()
    .replaceAll('\n', '\n        ');
  const { policy, findings } = readPolicy(
    Buffer.from(
      `${HEAD}registries:\n  signatures:\n  - from: ['${host}/acme']\n    keys:\n    - |\n        ${pem}\n`,
    ),
  );
  expect(findings).toEqual([]);
  const signed = policy && signatureDemands(policy);
  return { host, client, signed };
}

test('attack 46: images without the signature that the policy demands are told, others are not', async () => {
  const { host, client, signed } = await setUp();
  const names = ['acme/signed', 'acme/attested', 'acme/unsigned', 'other/unsigned'].map(
    (name) => `${host}/${name}:v1`,
  );
  const lookups = await lookUp(names.map(parseReference), { registry: client, signed });
  expect(names.map((name) => lookups.get(name))).toEqual([
    { kind: 'found', digest: expect.any(String) },
    {
      ...{ kind: 'found', digest: expect.any(String) },
      unsigned: 'it has none, but an attestation: https://example.com/test/v1',
    },
    { kind: 'found', digest: expect.any(String), unsigned: 'it has none' },
    { kind: 'found', digest: expect.any(String) },
  ]);
});

test.each(['unsigned', 'attested'])(
  'attack 46: a base image that is only %s is not built on',
  async (name) => {
    const { host, client, signed } = await setUp();
    await expect(openBase(client, parseLocation(`${host}/acme/${name}:v1`), signed)).rejects.toMatchObject({
      code: 'not-allowed',
      message: expect.stringContaining('lacks the signature'),
    });
    expect(await openBase(client, parseLocation(`${host}/acme/signed:v1`), signed)).toBeDefined();
  },
);

test('a demand must say by whom', () => {
  const said = (text: string) => readPolicy(Buffer.from(`${HEAD}${text}`)).findings.length;
  expect(said('registries: {signatures: [{from: [quay.io]}]}\n')).toBeGreaterThan(0);
  expect(said('registries: {signatures: [{from: [quay.io], keys: [x]}]}\n')).toBeGreaterThan(0);
  expect(said('registries: {signatures: [{from: [quay.io], identity: a, issuer: "https://b"}]}\n')).toBe(0);
});

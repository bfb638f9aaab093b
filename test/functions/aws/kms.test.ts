/** A signing key in KMS, by what its API is asked. */
import { generateKeyPairSync, sign, verify } from 'node:crypto';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { kmsSigner } from '../../../functions/aws/kms.ts';
import { attestBy } from '../../../pipeline/publish/attest/attest.ts';
import { reply, startHost } from '../../fakes/host.ts';

beforeEach(() => {
  vi.stubEnv('AWS_REGION', 'us-east-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'id');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'the-secret');
});
afterEach(() => void vi.unstubAllEnvs());

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

/** KMS, of which the first answers may fail. */
async function kms(failures: readonly [number, string][] = []) {
  const left = [...failures];
  const host = await startHost(({ headers, body }, response) => {
    const json = { 'content-type': 'application/x-amz-json-1.1' };
    const [status, type] = left.shift() ?? [];
    if (status !== undefined) return reply(response, status, JSON.stringify({ __type: type }), json);
    if (String(headers['x-amz-target']) === 'TrentService.GetPublicKey') {
      const der = publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
      return reply(response, 200, JSON.stringify({ PublicKey: der }), json);
    }
    expect(JSON.parse(body.toString())).toMatchObject({
      KeyId: 'alias/portolan',
      MessageType: 'DIGEST',
      SigningAlgorithm: 'ECDSA_SHA_256',
    });
    const Signature = sign('sha256', Buffer.from('text'), privateKey).toString('base64');
    reply(response, 200, JSON.stringify({ Signature }), json);
  });
  const signer = kmsSigner('alias/portolan', host.url);
  if (signer.kind !== 'remote') throw new Error('a remote signer');
  return { host, signer };
}

test('the digest is signed with the key, by requests of the role; the public key is asked for once', async () => {
  const { host, signer } = await kms();
  const signature = await signer.sign(Buffer.from('text'));
  const key = await signer.publicKey();
  await signer.publicKey();
  expect(verify('sha256', Buffer.from('text'), key, signature)).toBe(true);
  expect(host.asked).toHaveLength(2);
  for (const { headers } of host.asked)
    expect(headers.authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=id\/\d{8}\/us-east-1\/kms\/aws4_request, /,
    );
});

test('a busy KMS is asked again', async () => {
  const { host, signer } = await kms([
    [500, 'KMSInternalException'],
    [400, 'ThrottlingException'],
  ]);
  await signer.sign(Buffer.from('text'));
  expect(host.asked).toHaveLength(3);
});

test('a role that may not sign is told so once, without a word of its secret', async () => {
  const { host, signer } = await kms([[400, 'AccessDeniedException']]);
  const error = await signer.sign(Buffer.from('text')).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ name: 'PipelineError', code: 'denied', retryable: false });
  expect(String(error)).not.toContain('the-secret');
  expect(host.asked).toHaveLength(1);
});

test('a policy that asks for a KMS key is refused where there is none, with what to do', () => {
  expect(() => attestBy(['kms'], {})).toThrow('this publisher has none');
  expect(attestBy(['kms'], { key: { kind: 'key', key: 'k' } })).toMatchObject({
    provenance: true,
    signer: { key: 'k' },
  });
  const both = attestBy(['keyless', 'kms'], { key: { kind: 'key', key: 'k' }, isAnonymous: true });
  expect(both?.signer).toMatchObject({ kind: 'key' });
  expect(attestBy(['keyless', 'kms'], {})?.signer, 'a job').toEqual({ kind: 'keyless' });
  expect(() => attestBy(['keyless'], { isAnonymous: true })).toThrow('a function without one');
  expect(attestBy(['sbom'], { key: { kind: 'key', key: 'k' } })).toMatchObject({
    signer: undefined,
    provenance: false,
  });
});

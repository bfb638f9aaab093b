/** A key of KMS, as an emulator has it, signs an image; Portolan verifies the signature, and cosign where it is installed. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseReference, withDigest } from '../../catalog/reference.ts';
import { kmsSigner } from '../../functions/aws/kms.ts';
import { pushImage } from '../../pipeline/oci/registry/push.ts';
import { COSIGN_PREDICATE, verifySignatures } from '../../pipeline/oci/signatures/verify.ts';
import { attachDocument } from '../../pipeline/publish/attest/artifact.ts';
import { cosignStatement } from '../../pipeline/publish/attest/provenance.ts';
import { signedStatement } from '../../pipeline/publish/attest/sign.ts';
import { folder } from '../fakes/folder.ts';
import { testClient } from '../fakes/host.ts';
import { sampleImage } from '../fakes/image.ts';
import { ministackForSdk } from '../fakes/ministack.ts';
import { registry } from '../fakes/registry.ts';
import { sigstore } from '../fakes/sigstore.ts';
import { isOnPath, run } from '../fakes/tools.ts';

describe.skipIf(!isOnPath('ministack'))('KMS', () => {
  test('signs what is verified with its public key', async () => {
    const { endpoint } = await ministackForSdk();
    const made = await fetch(endpoint, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-amz-json-1.1',
        'x-amz-target': 'TrentService.CreateKey',
        authorization: 'AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/kms/aws4_request',
      },
      body: JSON.stringify({ KeyUsage: 'SIGN_VERIFY', KeySpec: 'ECC_NIST_P256' }),
    });
    const { KeyMetadata } = (await made.json()) as { KeyMetadata: { KeyId: string } };
    const signer = kmsSigner(KeyMetadata.KeyId, endpoint);
    if (signer.kind !== 'remote') throw new Error('a remote signer');

    const { host } = await registry();
    const client = testClient([host]);
    const image = sampleImage({ architectures: ['amd64', 'arm64'] });
    const reference = parseReference(`${host}/sea/catalog:v4.20`);
    await pushImage(client, reference, { image });
    const statement = cosignStatement(image.root.digest);
    const signed = await signedStatement(statement, COSIGN_PREDICATE, signer);
    await attachDocument(client, { reference, manifest: image.root }, signed);
    const pem = (await signer.publicKey()).export({ type: 'spki', format: 'pem' }).toString();
    const at = withDigest(reference, image.root.digest);
    const { verified } = await verifySignatures(client, at, { kind: 'keys', keys: [pem] });
    expect(verified).toHaveLength(1);

    if (!isOnPath('cosign')) return;
    const directory = folder();
    const [key = '', bundle = '', manifest = '', root = ''] = ['key', 'bundle', 'manifest', 'root'].map(
      (name) => join(directory, name),
    );
    writeFileSync(key, pem);
    writeFileSync(bundle, signed.bytes);
    writeFileSync(manifest, image.root.bytes);
    // Without one it asks Sigstore's own servers, though it needs nothing of them.
    const services = await sigstore('nobody');
    services.close();
    writeFileSync(root, JSON.stringify(services.root));
    const about = ['--key', key, '--insecure-ignore-tlog', '--new-bundle-format', '--trusted-root', root];
    const blob = ['verify-blob-attestation', ...about, '--bundle', bundle, '--type', COSIGN_PREDICATE];
    await run('cosign', ...blob, manifest);
    writeFileSync(manifest, '{}');
    await expect(run('cosign', ...blob, manifest), 'another image').rejects.toThrow();
    // Images with bundles as referrers: cosign from 2.6 on.
    const help = await run('cosign', 'verify', '--help');
    if (!help.includes('--new-bundle-format')) return;
    const words = [...about, '--allow-http-registry'];
    const out = await run('cosign', 'verify', ...words, `${host}/sea/catalog@${image.root.digest}`);
    expect(out.toString()).toContain(image.root.digest);
  });
});

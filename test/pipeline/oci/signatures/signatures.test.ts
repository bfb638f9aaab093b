import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { type ErrorCode, PipelineError } from '../../../../pipeline/error.ts';
import { signaturesOf } from '../../../../pipeline/oci/signatures/signatures.ts';
import type { Descriptor, Registry } from '../../../../pipeline/ports.ts';

const OCI = 'application/vnd.oci.image.manifest.v1+json';
const BUNDLE = 'application/vnd.dev.sigstore.bundle.v0.3+json';
const COSIGN = 'application/vnd.dev.cosign.simplesigning.v1+json';

function digestOf(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}

const image = {
  kind: 'digest',
  registry: 'quay.io',
  repository: 'org/app',
  digest: digestOf('image'),
} as const;
const TAG = `${image.digest.replace(':', '-')}.sig`;

interface Layer {
  readonly text: string | PipelineError;
  readonly size?: number;
  readonly type?: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** A repository whose image has referrers, each of one layer, and layers under cosign's tag. */
function holding({
  referrers = [],
  tagged,
}: {
  readonly referrers?: readonly (Layer & { readonly artifactType?: string })[];
  readonly tagged?: readonly Layer[] | PipelineError;
}): Registry {
  const blobs = new Map<string, string | PipelineError>();
  const manifests = new Map<string, Buffer | PipelineError>();
  const descriptor = ({ text, size, type = BUNDLE, annotations }: Layer): Descriptor => {
    const digest = digestOf(`blob ${text instanceof PipelineError ? text.message : text}`);
    blobs.set(digest, text);
    const bytes = text instanceof PipelineError ? 0 : Buffer.byteLength(text);
    return { mediaType: type, digest, size: size ?? bytes, ...(annotations && { annotations }) };
  };
  const manifest = (layers: readonly Descriptor[]): Buffer => {
    const config = { mediaType: 'application/vnd.oci.empty.v1+json', digest: digestOf('{}'), size: 2 };
    return Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: OCI, config, layers }));
  };
  const listed = referrers.map(({ artifactType = BUNDLE, ...layer }): Descriptor => {
    const bytes = manifest([descriptor(layer)]);
    const digest = digestOf(bytes.toString());
    manifests.set(digest, bytes);
    return { mediaType: OCI, digest, size: bytes.length, artifactType };
  });
  if (tagged) manifests.set(TAG, tagged instanceof PipelineError ? tagged : manifest(tagged.map(descriptor)));
  const there = <T>(found: T | PipelineError): T => {
    if (found instanceof PipelineError) throw found;
    return found;
  };
  return {
    listReferrers: async () => listed,
    getManifest: async (reference) => {
      const found = manifests.get(reference.kind === 'tag' ? reference.tag : reference.digest);
      const bytes = found && there(found);
      return bytes && { mediaType: OCI, digest: digestOf(bytes.toString()), bytes };
    },
    async *getBlob(_, { digest }) {
      yield Buffer.from(there(blobs.get(digest) ?? ''));
    },
  } as Partial<Registry> as Registry;
}

async function found(registry: Registry): Promise<unknown[]> {
  const all: unknown[] = [];
  for await (const one of signaturesOf(registry, image)) all.push(one);
  return all;
}

const BYTES = JSON.stringify({ some: 'bundle' });

test.each([
  [BUNDLE, 1],
  ['application/vnd.dev.sigstore.bundle.v0.12+json', 1],
  ['application/vnd.dev.sigstore.bundle+json;version=0.1', 1],
  ['application/vnd.dev.sigstore.bundle+json;version=0.12', 1],
  ['application/vnd.dev.sigstore.bundle.v1.0+json', 0],
  ['application/vnd.dev.sigstore.bundle.v0.+json', 0],
  ['application/vnd.dev.sigstore.bundle+json;version=0.1;x', 0],
  ['application/vnd.cyclonedx+json', 0],
])('a referrer of the type %s: %i signatures', async (artifactType, count) => {
  const all = await found(holding({ referrers: [{ artifactType, text: BYTES }] }));
  expect(all).toMatchObject(Array(count).fill({ bundle: { some: 'bundle' } }));
});

describe('what cannot be read', () => {
  const failing = (code: ErrorCode, retryable = false): PipelineError =>
    new PipelineError(code, 'it went wrong', { retryable });

  test.each([
    ['not-found', false],
    ['bad-answer', true],
    ['corrupt', true],
    ['too-large', true],
  ] as const)('%s: does not hide the others; the registry has it: %s', async (code, isThere) => {
    const referrers = [{ text: failing(code) }, { text: BYTES }];
    expect(await found(holding({ referrers, tagged: failing(code) }))).toEqual([
      { where: expect.stringContaining('the referrer sha256:'), why: 'it went wrong', isThere },
      { where: expect.stringContaining('the referrer sha256:'), bundle: { some: 'bundle' } },
      { where: `the tag ${TAG}`, why: 'it went wrong', isThere },
    ]);
  });

  test.each([
    ['denied', false],
    ['unreachable', true],
    ['bad-answer', true],
  ] as const)('%s, which may have one that counts, ends it', async (code, retryable) => {
    const registry = holding({ referrers: [{ text: failing(code, retryable) }] });
    await expect(found(registry)).rejects.toMatchObject({ code });
  });

  test('a signature of more than 1 MiB', async () => {
    const size = 1024 * 1024;
    const [read, refused] = await found(
      holding({
        referrers: [
          { text: BYTES, size },
          { text: `${BYTES} `, size: size + 1 },
        ],
      }),
    );
    expect(read).toMatchObject({ bundle: { some: 'bundle' } });
    expect(refused).toMatchObject({ why: expect.stringContaining(`has ${size + 1} bytes`), isThere: true });
  });

  test('more signatures than 256, in either place', async () => {
    const of = (count: number): Layer[] =>
      Array.from({ length: count }, (_, i) => ({ text: JSON.stringify(i), type: COSIGN }));
    expect(await found(holding({ referrers: of(256), tagged: of(256) }))).toHaveLength(512);
    const all = await found(holding({ referrers: of(257), tagged: of(258) }));
    expect(all).toHaveLength(514);
    expect([all[256], all[513]]).toEqual([
      {
        where: '1 more signatures among the referrers',
        why: 'not read, the limit is 256',
        isThere: true,
      },
      {
        where: `2 more signatures among the layers of the tag ${TAG}`,
        why: 'not read, the limit is 256',
        isThere: true,
      },
    ]);
  });
});

test('what cosign wrote under a tag is a bundle of today', async () => {
  const hex = 'c0ffee';
  const body = Buffer.from('{"kind":"hashedrekord","apiVersion":"0.0.1"}').toString('base64');
  const annotations = {
    'dev.cosignproject.cosign/signature': 'c2ln',
    'dev.sigstore.cosign/certificate': '-----BEGIN CERTIFICATE-----\nAA\nEC\n-----END CERTIFICATE-----\n',
    'dev.sigstore.cosign/bundle': JSON.stringify({
      SignedEntryTimestamp: 'c2V0',
      Payload: { body, integratedTime: 7, logIndex: 3, logID: hex },
    }),
  };
  const [, signed, plain, ...more] = await found(
    holding({
      referrers: [{ text: BYTES }],
      tagged: [
        { text: 'payload', type: COSIGN, annotations },
        { text: 'other', type: COSIGN },
        { text: 'an SBOM', type: 'text/spdx' },
      ],
    }),
  );
  expect(more).toEqual([]);
  const messageDigest = {
    algorithm: 'SHA2_256',
    digest: Buffer.from(digestOf('blob payload').slice(7), 'hex').toString('base64'),
  };
  expect(signed).toEqual({
    where: `signature 1 under the tag ${TAG}`,
    payload: Buffer.from('payload'),
    bundle: {
      mediaType: 'application/vnd.dev.sigstore.bundle+json;version=0.1',
      verificationMaterial: {
        x509CertificateChain: { certificates: [{ rawBytes: 'AAEC' }] },
        tlogEntries: [
          {
            logIndex: '3',
            logId: { keyId: Buffer.from(hex, 'hex').toString('base64') },
            kindVersion: { kind: 'hashedrekord', version: '0.0.1' },
            integratedTime: '7',
            inclusionPromise: { signedEntryTimestamp: 'c2V0' },
            canonicalizedBody: body,
          },
        ],
      },
      messageSignature: { messageDigest, signature: 'c2ln' },
    },
  });
  expect(plain).toMatchObject({
    where: `signature 2 under the tag ${TAG}`,
    bundle: {
      verificationMaterial: { publicKey: { hint: '' }, tlogEntries: [] },
      messageSignature: { signature: '' },
    },
  });
});

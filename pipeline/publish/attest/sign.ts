/**
 * Signatures of statements as Sigstore bundles: with a key, or without one for a job that proves by OIDC who it is.
 *
 * @see https://docs.sigstore.dev/about/bundle/
 * @see https://github.com/secure-systems-lab/dsse/blob/master/protocol.md
 */
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { PipelineError } from '../../error.ts';
import { STATEMENT_TYPE } from '../../oci/signatures/verify.ts';
import { type Attachment, PREDICATE_TYPE } from './artifact.ts';
import type { Signer } from './signer.ts';

/** Type of the artifact. */
export const BUNDLE_TYPE = 'application/vnd.dev.sigstore.bundle.v0.3+json';

/** The annotation with who has signed: {@link signerName}. */
export const SIGNED_BY = 'dev.portolan.signed-by';

/** Names who signs: the public key by its digest, or `keyless` for a job. @throws PipelineError as {@link signedStatement} */
export async function signerName(signer: Signer): Promise<string> {
  if (signer.kind === 'keyless') return 'keyless';
  return keyHint(
    signer.kind === 'remote' ? await signer.publicKey() : createPublicKey(privateKey(signer.key)),
  );
}

/**
 * Signs a statement, with a key or with the job's identity.
 *
 * @param predicateType what the statement says, for those who look for it
 * @throws PipelineError `usage` for a key that is not valid, `denied` when nobody vouches for the job
 */
export async function signedStatement(
  statement: Uint8Array,
  predicateType: string,
  signer: Signer,
): Promise<Attachment> {
  const bundle = await bundleBy(statement, signer);
  const annotations = { [PREDICATE_TYPE]: predicateType, [SIGNED_BY]: await signerName(signer) };
  const bytes = new TextEncoder().encode(JSON.stringify(bundle));
  return { artifactType: BUNDLE_TYPE, bytes, annotations };
}

/** A Sigstore bundle of a statement, signed in the signer's way. */
async function bundleBy(statement: Uint8Array, signer: Signer): Promise<unknown> {
  if (signer.kind === 'keyless') return keyless(statement, signer);
  const bytes = preAuthentication(statement);
  if (signer.kind === 'remote') {
    const [publicKey, signature] = await Promise.all([signer.publicKey(), signer.sign(bytes)]);
    return keyBundle(statement, { publicKey, signature });
  }
  const key = privateKey(signer.key);
  // Ed25519 has a hash of its own and takes no other one.
  const signature = sign(key.asymmetricKeyType === 'ed25519' ? null : 'sha256', bytes, key);
  return keyBundle(statement, { publicKey: createPublicKey(key), signature });
}

/** A Sigstore bundle of a statement that was signed with a key. */
function keyBundle(
  statement: Uint8Array,
  { publicKey, signature }: { readonly publicKey: KeyObject; readonly signature: Uint8Array },
): unknown {
  const hint = keyHint(publicKey);
  return {
    mediaType: BUNDLE_TYPE,
    verificationMaterial: { publicKey: { hint }, tlogEntries: [] },
    dsseEnvelope: {
      payload: Buffer.from(statement).toString('base64'),
      payloadType: STATEMENT_TYPE,
      // cosign passes over a signature whose keyid is not the one that it makes up for its key; none fits every key.
      signatures: [{ sig: Buffer.from(signature).toString('base64'), keyid: '' }],
    },
  };
}

/** The public half of a private key, PEM. @throws PipelineError `usage` if the key is not valid */
export function publicKeyOf(pem: string): string {
  return createPublicKey(privateKey(pem)).export({ type: 'spki', format: 'pem' }).toString();
}

/** A key from its text. @throws PipelineError `usage` for a text that is not a private key */
function privateKey(pem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch (cause) {
    throw new PipelineError('usage', 'the signing key is not a private key in PEM format', {
      cause,
      hint: 'create one: openssl ecparam -name prime256v1 -genkey -noout',
    });
  }
}

/** Names a public key: the digest of its DER form. */
function keyHint(key: KeyObject): string {
  return createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('base64');
}

/** The bytes that DSSE signs: type and payload, each with its length. */
function preAuthentication(payload: Uint8Array): Buffer {
  const head = `DSSEv1 ${STATEMENT_TYPE.length} ${STATEMENT_TYPE} ${payload.length} `;
  return Buffer.concat([Buffer.from(head), payload]);
}

/** Signs without a key. What that needs is loaded only here: most publishers have a key, or do not sign. */
async function keyless(
  statement: Uint8Array,
  signer: Extract<Signer, { kind: 'keyless' }>,
): Promise<unknown> {
  const { keylessBundle } = await import('./keyless.ts');
  return keylessBundle(statement, signer);
}

/** Signatures without a key; loaded when one is wanted. */
import { attest } from 'sigstore';
import { PipelineError } from '../../error.ts';
import { STATEMENT_TYPE } from '../../oci/signatures/verify.ts';
import type { Signer } from './signer.ts';

/**
 * Signs a statement with the identity of the job.
 *
 * @returns a Sigstore bundle as JSON
 * @throws PipelineError `denied` for any failure: without a certificate for the job, and where a service does not answer
 */
export async function keylessBundle(
  statement: Uint8Array,
  { token, fulcio, rekor }: Extract<Signer, { kind: 'keyless' }>,
): Promise<unknown> {
  try {
    return await attest(Buffer.from(statement), STATEMENT_TYPE, {
      ...(token === undefined ? {} : { identityToken: token }),
      ...(fulcio === undefined ? {} : { fulcioURL: fulcio }),
      ...(rekor === undefined ? {} : { rekorURL: rekor }),
    });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new PipelineError('denied', `cannot sign without a key: ${why}`, {
      cause,
      hint: 'grant the job the permission id-token: write, or pass a key',
    });
  }
}

/** Sigstore's own verification; loaded when a signature is looked at. */
import { bundleFromJSON } from '@sigstore/bundle';
import { TrustedRoot } from '@sigstore/protobuf-specs';
import { getTrustedRoot } from '@sigstore/tuf';
import {
  type SignedEntity,
  type TrustMaterial,
  toSignedEntity,
  toTrustMaterial,
  Verifier,
} from '@sigstore/verify';
import { PipelineError } from '../../error.ts';
import type { FoundSignature } from './signatures.ts';

/** A signature as the library reads it. @throws Error for a bundle that is none */
export function entityOf({ bundle, payload }: FoundSignature): SignedEntity {
  return toSignedEntity(bundleFromJSON(bundle), payload);
}

/**
 * A verifier that trusts a root.
 *
 * @param root as JSON; that of Sigstore's public instance when undefined
 * @throws PipelineError `usage` for a root that is none, `unreachable` when the public one cannot be had
 */
export async function verifierBy(root: unknown): Promise<Verifier> {
  return new Verifier(root === undefined ? toTrustMaterial(await publicRoot()) : readRoot(root));
}

function readRoot(root: unknown): TrustMaterial {
  try {
    return toTrustMaterial(TrustedRoot.fromJSON(root));
  } catch (cause) {
    throw new PipelineError('usage', 'cannot read the trusted root', { cause });
  }
}

/** The trusted root of Sigstore's public instance. @throws PipelineError `unreachable` */
async function publicRoot(): Promise<TrustedRoot> {
  try {
    return await getTrustedRoot();
  } catch (cause) {
    throw new PipelineError('unreachable', "cannot download the trusted root of Sigstore's public instance", {
      cause,
      retryable: true,
      hint: 'pass a copy: --trusted-root FILE',
    });
  }
}

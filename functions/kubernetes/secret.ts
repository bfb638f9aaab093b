/** Secrets as files: Kubernetes replaces them in place when the Secret changes. */
import { readText } from '../../pipeline/directory.ts';
import { PipelineError } from '../../pipeline/error.ts';
import type { CredentialSource } from '../../pipeline/ports.ts';

/**
 * Gives a function that reads a secret from a file, each time anew.
 *
 * @param path of the file; if undefined, each read fails, so nothing is accepted that a secret would have to prove
 */
export function fileSecret(path: string | undefined): () => Promise<string> {
  return async () => {
    if (path === undefined) throw new PipelineError('usage', 'the environment does not name a secret');
    return readText(path).trim();
  };
}

/** How long credentials are used before they are read again, and between two refusals that have them read; in ms. */
const KEPT = 300_000;
const RENEWED = 60_000;

/**
 * Credentials that are opened again every few minutes, and when a registry refuses them.
 *
 * @param now in ms
 */
export function renewedCredentials(
  open: () => CredentialSource,
  now: () => number = Date.now,
): CredentialSource {
  let source = open();
  let openedAt = now();
  let refusedAt = Number.NEGATIVE_INFINITY;
  const renew = (): void => {
    source = open();
    openedAt = now();
  };
  return {
    credential: async (of) => {
      if (now() - openedAt >= KEPT) renew();
      return source.credential(of);
    },
    refused: async (of, credential) => {
      // What has no right to something is refused each time.
      if (now() - refusedAt < RENEWED) return false;
      refusedAt = now();
      renew();
      const fresh = await source.credential(of);
      return fresh !== undefined && JSON.stringify(fresh) !== JSON.stringify(credential);
    },
  };
}

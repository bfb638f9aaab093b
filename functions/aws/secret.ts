/** Secrets, cached for minutes and never logged. */
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { PipelineError } from '../../pipeline/error.ts';
import { ASKING, cloudError } from '../s3/failure.ts';

/** How long a secret is cached, in ms: a new one is in use after it. */
const KEPT = 300_000;

export interface SecretReader {
  /** @returns undefined when there is no such secret */
  readonly read: () => Promise<string | undefined>;
  /** The next read asks Secrets Manager again. */
  readonly forget: () => void;
}

/** Reads a secret that may not exist. */
export function secretReader(name: string): SecretReader {
  let cached: { readonly text: Promise<string | undefined>; readonly until: number } | undefined;
  const forget = (): void => {
    cached = undefined;
  };
  return {
    read: () => {
      if (!cached || cached.until < Date.now()) {
        const text = read(name);
        cached = { text, until: Date.now() + KEPT };
        // What failed is asked for again.
        text.catch(forget);
      }
      return cached.text;
    },
    forget,
  };
}

/**
 * Gives a function that reads a secret which must exist.
 *
 * @param name of the secret; if undefined, each read fails, so nothing is accepted that a secret would have to prove
 */
export function neededSecret(name: string | undefined): () => Promise<string> {
  const reader = name === undefined ? undefined : secretReader(name);
  return async () => {
    if (!reader) throw new PipelineError('usage', 'the environment does not name a secret');
    const text = await reader.read();
    if (text !== undefined) return text;
    throw new PipelineError('not-found', `the secret ${name} does not exist`);
  };
}

/** The text of a secret in Secrets Manager; undefined if there is no such secret. */
function read(name: string): Promise<string | undefined> {
  return cloudError('the secret', async () => {
    try {
      const { SecretString } = await new SecretsManagerClient(ASKING).send(
        new GetSecretValueCommand({ SecretId: name }),
      );
      // A binary secret has no text, and is refused as an empty one.
      return SecretString ?? '';
    } catch (error) {
      if (error instanceof Error && error.name === 'ResourceNotFoundException') return undefined;
      throw error;
    }
  });
}

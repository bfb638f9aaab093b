/** Secrets, kept for minutes and never logged. */
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { PipelineError } from '../../pipeline/error.ts';
import { ASKING } from './client.ts';
import { cloudError } from './failure.ts';

/** How long a secret is kept, in ms: a new one is in use after it. */
const KEPT = 300_000;

/** @param name of the secret; without one there is no secret, and nothing that needs it is believed */
export function secretReader(name: string | undefined): () => Promise<string> {
  let kept: { readonly text: Promise<string>; readonly until: number } | undefined;
  return () => {
    if (name === undefined) throw new PipelineError('usage', 'the environment does not name a secret');
    if (!kept || kept.until < Date.now()) {
      const text = read(name);
      kept = { text, until: Date.now() + KEPT };
      text.catch(() => {
        kept = undefined;
      });
    }
    return kept.text;
  };
}

function read(name: string): Promise<string> {
  return cloudError('the secret', async () => {
    const { SecretString } = await new SecretsManagerClient(ASKING).send(
      new GetSecretValueCommand({ SecretId: name }),
    );
    return SecretString ?? '';
  });
}

/** Credentials of registries in Secrets Manager: one secret for each host, read again every few minutes. */
import { isObject } from '../../catalog/go/shape.ts';
import { parsedJson } from '../../catalog/json.ts';
import { PipelineError } from '../../pipeline/error.ts';
import type { Credential, CredentialSource } from '../../pipeline/ports.ts';
import { type SecretReader, secretReader } from './secret.ts';

/** Between two reads of a secret because a registry refused it, in ms: one without the right is refused each time. */
const RENEWED = 60_000;

type ReaderOf = (name: string) => SecretReader;

/**
 * Credentials from the secret `PREFIX/HOST`, such as `portolan/registries/quay.io`; a port is written after `_`.
 *
 * @param elsewhere for hosts without a secret
 * @param readerOf reads a secret by its name, undefined when there is none
 * @param now gives the time, in ms
 * @throws PipelineError from its functions: `usage` for a secret that is not a credential
 */
export function secretCredentials(
  prefix: string,
  elsewhere: CredentialSource,
  { readerOf = secretReader, now = Date.now }: { readerOf?: ReaderOf; now?: () => number } = {},
): CredentialSource {
  const renewals = new Map<string, number>();
  const readers = new Map<string, SecretReader>();
  const readerAt = (registry: string): SecretReader => {
    // Names in Secrets Manager have no colons.
    const name = `${prefix}/${registry.replace(':', '_')}`;
    const reader = readers.get(registry) ?? readerOf(name);
    readers.set(registry, reader);
    return reader;
  };
  const fromSecret = async (registry: string): Promise<Credential | undefined> => {
    const text = await readerAt(registry).read();
    return text === undefined ? undefined : credentialOf(text, registry);
  };
  return {
    credential: async (repository) =>
      (await fromSecret(repository.registry)) ?? elsewhere.credential(repository),
    refused: async (repository, credential) => {
      const { registry } = repository;
      if (now() - (renewals.get(registry) ?? Number.NEGATIVE_INFINITY) < RENEWED) return false;
      renewals.set(registry, now());
      readerAt(registry).forget();
      const fresh = await fromSecret(registry);
      if (!fresh) return (await elsewhere.refused?.(repository, credential)) ?? false;
      // Another try helps only with another credential than the refused one.
      return JSON.stringify(fresh) !== JSON.stringify(credential);
    },
  };
}

/**
 * The credential in a secret's text.
 *
 * @throws PipelineError `usage` for a text without one, with nothing of it in the message
 */
function credentialOf(text: string, registry: string): Credential {
  const value = parsedJson(text);
  const { username, password, token } = isObject(value) ? value : {};
  if (typeof username === 'string' && typeof password === 'string')
    return { kind: 'basic', username, password };
  if (typeof token === 'string') return { kind: 'bearer', token };
  throw new PipelineError('usage', `the secret for ${registry} is not a credential`, {
    hint: '{"username": "…", "password": "…"} or {"token": "…"}',
  });
}

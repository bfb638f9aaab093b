/** Options of every command that speaks to registries, and the client that they make. */
import { resolve } from 'node:path';
import { readText } from '../directory.ts';
import type { Policy } from '../policy/policy.ts';
import { repositoryMatcher } from '../policy/registries.ts';
import { type ClientOptions, createRegistryClient, type RegistryClient } from '../registry/client.ts';
import { authfileCredentials, credentialsOnlyFor } from '../registry/credentials.ts';
import { parsePlace } from '../registry/place.ts';
import type { Invocation, Option } from './command.ts';
import type { Terminal } from './terminal.ts';

export const REGISTRY_OPTIONS: Readonly<Record<string, Option>> = {
  authfile: { value: 'FILE', description: 'credentials, as podman and docker write them' },
  'plain-http': { value: 'HOST', description: 'a registry that speaks HTTP without TLS', multiple: true },
  ca: { value: 'FILE', description: 'certificates of a private authority, PEM', multiple: true },
};

/** For commands that ask registries which nobody typed: catalogs name them. */
export const INTERNAL_OPTION: Readonly<Record<string, Option>> = {
  internal: {
    value: 'HOST|RANGE',
    description: 'a host or range of addresses of an internal network that may be asked',
    multiple: true,
  },
};

/**
 * A client for the registries that a command line names.
 *
 * @param named places as they were typed: who types a host means it, be it of an internal network
 * @throws PipelineError `usage`, or `not-found` and `io` for files
 */
export function registryClient(
  invocation: Invocation,
  { directory, environment }: Terminal,
  named: readonly (string | undefined)[],
): RegistryClient {
  return createRegistryClient(clientOptions(invocation, { directory, environment }, named.flatMap(hostOf)));
}

/**
 * A client for the registries that a catalog names. Under a policy it asks only what that allows,
 * and proves who it is only where that says so.
 *
 * @throws PipelineError `not-found` and `io` for files
 */
export function catalogsClient(
  invocation: Invocation,
  terminal: Terminal,
  policy: Policy | undefined,
): RegistryClient {
  const options = clientOptions(invocation, terminal, invocation.list('internal'));
  if (!policy) return createRegistryClient(options);
  const { allow, credentials, internal } = policy.registries;
  return createRegistryClient({
    ...options,
    allows: repositoryMatcher(allow),
    credentials: credentialsOnlyFor(options.credentials, repositoryMatcher(credentials)),
    internal: [...options.internal, ...internal],
  });
}

function clientOptions(
  invocation: Invocation,
  { directory, environment }: Pick<Terminal, 'directory' | 'environment'>,
  internal: readonly string[],
): ClientOptions & Required<Pick<ClientOptions, 'credentials' | 'internal'>> {
  const plainHttp = invocation.list('plain-http');
  const authfile = invocation.text('authfile');
  return {
    credentials: authfileCredentials({
      authfile: authfile === undefined ? undefined : resolve(directory, authfile),
      environment,
    }),
    plainHttp,
    authorities: invocation.list('ca').map((file) => readText(resolve(directory, file))),
    internal: [...plainHttp, ...internal],
    environment,
  };
}

function hostOf(text: string | undefined): string[] {
  if (text === undefined) return [];
  const place = parsePlace(text);
  return place.kind === 'registry' ? [place.reference.registry] : [];
}

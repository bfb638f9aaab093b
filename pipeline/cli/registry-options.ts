/** Options of every command that speaks to registries, and the client that they make. */
import { resolve } from 'node:path';
import { readText } from '../directory.ts';
import { createRegistryClient, type RegistryClient } from '../registry/client.ts';
import { authfileCredentials } from '../registry/credentials.ts';
import { parsePlace } from '../registry/place.ts';
import type { Invocation, Option } from './command.ts';
import type { Terminal } from './terminal.ts';

export const REGISTRY_OPTIONS: Readonly<Record<string, Option>> = {
  authfile: { value: 'FILE', description: 'credentials, as podman and docker write them' },
  'plain-http': { value: 'HOST', description: 'a registry that speaks HTTP without TLS', multiple: true },
  ca: { value: 'FILE', description: 'certificates of a private authority, PEM', multiple: true },
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
  const plainHttp = invocation.list('plain-http');
  const authfile = invocation.text('authfile');
  const credentials = authfileCredentials({
    authfile: authfile === undefined ? undefined : resolve(directory, authfile),
    environment,
  });
  return createRegistryClient({
    credentials,
    plainHttp,
    authorities: invocation.list('ca').map((file) => readText(resolve(directory, file))),
    internal: [...plainHttp, ...named.flatMap(hostOf)],
    environment,
  });
}

function hostOf(text: string | undefined): string[] {
  if (text === undefined) return [];
  const place = parsePlace(text);
  return place.kind === 'registry' ? [place.reference.registry] : [];
}

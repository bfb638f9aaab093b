/** How commands reach registries: the client that their options make. */
import { resolve } from 'node:path';
import { clientUnder } from '../catalogs/references/client.ts';
import { readText } from '../directory.ts';
import { type ClientOptions, createRegistryClient, type RegistryClient } from '../oci/registry/client.ts';
import { authfileCredentials } from '../oci/registry/credentials.ts';
import { parseLocation } from '../oci/registry/image-location.ts';
import type { Policy } from '../policy/policy.ts';
import type { Terminal } from '../terminal.ts';
import type { Invocation } from './command.ts';

/** What a client may ask. */
export interface ClientScope {
  readonly policy?: Policy | undefined;
  /** Places as they were typed: who types a host means it, be it on an internal network. */
  readonly named?: readonly (string | undefined)[];
  /** The same as hosts. */
  readonly hosts?: readonly string[];
  /** Requests at a time to one host at most. */
  readonly concurrency?: number | undefined;
  /** The same for a host that is far away. */
  readonly farthest?: number | undefined;
}

/**
 * A client for registries. Under a policy it asks only what that allows, with credentials only
 * where that names them; without one it asks whatever the caller names.
 *
 * @throws PipelineError `not-found` or `io` for a file of certificates
 */
export function registryClientFor(
  invocation: Invocation,
  { directory, environment }: Terminal,
  { policy, named = [], hosts = [], concurrency, farthest = concurrency }: ClientScope = {},
): RegistryClient {
  const authfile = invocation.text('authfile');
  const file = authfile === undefined ? undefined : resolve(directory, authfile);
  const credentials = authfileCredentials({ authfile: file, environment });
  const plainHttp = invocation.list('insecure');
  const options: ClientOptions = {
    credentials,
    plainHttp,
    internal: [...plainHttp, ...hosts, ...named.flatMap(hostOf), ...invocation.list('internal')],
    authorities: invocation.list('ca').map((path) => readText(resolve(directory, path))),
    environment,
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(farthest === undefined ? {} : { farthest }),
  };
  return policy ? clientUnder(policy, options) : createRegistryClient(options);
}

function hostOf(text: string | undefined): string[] {
  if (text === undefined) return [];
  const place = parseLocation(text);
  return place.kind === 'registry' ? [place.reference.registry] : [];
}

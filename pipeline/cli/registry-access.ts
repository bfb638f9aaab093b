/** How commands reach registries: the client that their options make. */
import { resolve } from 'node:path';
import { mirrorHosts, type NodeConfig } from '../../catalog/mirror/node/node.ts';
import { clientUnder, withMirrors } from '../catalogs/references/client.ts';
import { readText } from '../directory.ts';
import { type ClientOptions, createRegistryClient, type RegistryClient } from '../oci/registry/client.ts';
import { authfileCredentials } from '../oci/registry/credentials.ts';
import { parseLocation } from '../oci/registry/image-location.ts';
import type { Policy } from '../policy/policy.ts';
import { repositoryMatcher } from '../policy/registries.ts';
import type { Terminal } from '../terminal.ts';
import type { Invocation } from './command.ts';
import { mirrorsFor } from './mirror-documents.ts';

/** What a client may ask. */
interface ClientScope {
  readonly policy?: Policy | undefined;
  /** Places as they were typed: who types a host means it, be it on an internal network. */
  readonly named?: readonly (string | undefined)[];
  /** The same as hosts. */
  readonly hosts?: readonly string[];
  /** Requests at a time to one host at most. */
  readonly concurrency?: number | undefined;
  /** The same for a host that is far away. */
  readonly distantConcurrency?: number | undefined;
}

/**
 * A client for registries. Under a policy it asks only what that allows, with credentials only
 * where that names them; without one it asks whatever the caller names.
 *
 * @throws PipelineError `not-found` or `io` for a file of certificates
 */
export function registryClientFor(
  invocation: Invocation,
  terminal: Terminal,
  scope: ClientScope = {},
): RegistryClient {
  const { policy } = scope;
  const options = clientOptions(invocation, terminal, scope);
  const client = policy ? clientUnder(policy, options) : createRegistryClient(options);
  const mirrors = mirrorsFor(invocation, terminal.directory);
  return mirrors ? throughMirrors(client, mirrors, { options, policy }) : client;
}

/** Makes a client for some work, and closes it after. @throws PipelineError as {@link registryClientFor} and the work */
export async function withRegistryClient<T>(
  invocation: Invocation,
  terminal: Terminal,
  scope: ClientScope,
  work: (client: RegistryClient) => Promise<T>,
): Promise<T> {
  const client = registryClientFor(invocation, terminal, scope);
  try {
    return await work(client);
  } finally {
    client.close();
  }
}

/**
 * How hosts are reached, as the options of a command say.
 *
 * @throws PipelineError `not-found` or `io` for a file of certificates
 */
export function clientOptions(
  invocation: Invocation,
  { directory, environment }: Terminal,
  { named = [], hosts = [], concurrency, distantConcurrency = concurrency }: ClientScope = {},
): ClientOptions {
  const authfile = invocation.text('authfile');
  const file = authfile === undefined ? undefined : resolve(directory, authfile);
  const credentials = authfileCredentials({ authfile: file, environment });
  const plainHttp = invocation.list('insecure');
  return {
    credentials,
    plainHttp,
    internal: [...plainHttp, ...hosts, ...named.flatMap(hostOf), ...invocation.list('internal')],
    authorities: invocation.list('ca').map((path) => readText(resolve(directory, path))),
    environment,
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(distantConcurrency === undefined ? {} : { distantConcurrency }),
  };
}

interface Sources {
  /** Those of the client that reads from the mirrors. */
  readonly options: ClientOptions;
  /** Its `registries.allow` says which names may be asked for; without a policy, all may. */
  readonly policy: Policy | undefined;
}

/** A client that reads through mirrors: the policy says which names may be asked for, who calls says where they are. */
function throughMirrors(
  client: RegistryClient,
  config: NodeConfig,
  { options, policy }: Sources,
): RegistryClient {
  const internal = [...(options.internal ?? []), ...mirrorHosts(config)];
  const mirrors = createRegistryClient({ ...options, internal });
  return withMirrors(client, mirrors, {
    config,
    ...(policy && { allows: repositoryMatcher(policy.registries.allow) }),
  });
}

/** The host of a location, as a list for `flatMap`; empty for a place on disk. */
function hostOf(text: string | undefined): string[] {
  if (text === undefined) return [];
  const place = parseLocation(text);
  return place.kind === 'registry' ? [place.reference.registry] : [];
}

/** A client for the references that a pull request brings. */

import { nodeConfig } from '../../../catalog/mirror/node/node.ts';
import { type ClientOptions, createRegistryClient, type RegistryClient } from '../../oci/registry/client.ts';
import { credentialsOnlyFor } from '../../oci/registry/credentials.ts';
import type { Traffic } from '../../oci/registry/http/transport.ts';
import { type MirroredOptions, readThroughMirrors } from '../../oci/registry/mirrored.ts';
import type { Policy } from '../../policy/policy.ts';
import { repositoryMatcher } from '../../policy/registries.ts';

/**
 * A client that keeps to the policy: it contacts only the registries that it allows, with credentials only where it says
 * so, through its mirrors.
 */
export function clientUnder({ registries }: Policy, options: ClientOptions): RegistryClient {
  const { credentials, internal = [] } = options;
  const own = credentials && credentialsOnlyFor(credentials, repositoryMatcher(registries.credentials));
  const limited = (allows: readonly string[]): RegistryClient =>
    createRegistryClient({
      ...options,
      ...(own ? { credentials: own } : {}),
      allows: repositoryMatcher(allows),
      internal: [...internal, ...registries.internal],
    });
  const client = limited(registries.allow);
  const { mirrors } = registries;
  if (mirrors.length === 0) return client;
  return withMirrors(client, limited(mirrors.flatMap((one) => one.mirrors)), {
    config: nodeConfig({ digest: mirrors, tag: mirrors }),
    allows: repositoryMatcher(registries.allow),
  });
}

/** A client that reads through mirrors; closed together with the one that asks them. */
export function withMirrors(
  client: RegistryClient,
  mirrors: RegistryClient,
  options: Omit<MirroredOptions, 'mirrors'>,
): RegistryClient {
  return {
    ...readThroughMirrors(client, { ...options, mirrors }),
    traffic: () => sumOf(client.traffic(), mirrors.traffic()),
    close: () => {
      client.close();
      mirrors.close();
    },
  };
}

/** What two clients have sent and received together, by host. */
function sumOf(a: ReadonlyMap<string, Traffic>, b: ReadonlyMap<string, Traffic>): Map<string, Traffic> {
  const sum = new Map(a);
  for (const [host, { requests, sent, received }] of b) {
    const known = sum.get(host) ?? { requests: 0, sent: 0, received: 0 };
    sum.set(host, {
      requests: known.requests + requests,
      sent: known.sent + sent,
      received: known.received + received,
    });
  }
  return sum;
}

/** Clients of one check, closed together. */
export interface PolicyClients {
  under(policy: Policy): RegistryClient;
  close(): void;
}

/** Registry clients under the rules of policies; `close` closes all of them. */
export function clientsUnder(options: ClientOptions): PolicyClients {
  const clients: RegistryClient[] = [];
  return {
    under: (policy) => {
      const client = clientUnder(policy, options);
      clients.push(client);
      return client;
    },
    close: () => {
      for (const client of clients) client.close();
    },
  };
}

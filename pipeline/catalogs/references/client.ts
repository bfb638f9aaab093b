/** A client for the references that a pull request brings. */

import { type ClientOptions, createRegistryClient, type RegistryClient } from '../../oci/registry/client.ts';
import { credentialsOnlyFor } from '../../oci/registry/credentials.ts';
import type { Policy } from '../../policy/policy.ts';
import { repositoryMatcher } from '../../policy/registries.ts';

/** It asks only what the policy allows, with credentials only where that names them. */
export function clientUnder({ registries }: Policy, options: ClientOptions): RegistryClient {
  const { credentials, internal = [] } = options;
  const own = credentials && credentialsOnlyFor(credentials, repositoryMatcher(registries.credentials));
  return createRegistryClient({
    ...options,
    ...(own ? { credentials: own } : {}),
    allows: repositoryMatcher(registries.allow),
    internal: [...internal, ...registries.internal],
  });
}

/** Clients of one check, closed together. */
export interface PolicyClients {
  under(policy: Policy): RegistryClient;
  close(): void;
}

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

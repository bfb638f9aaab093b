/** Clients of registries: for what policies allow, and for what Portolan publishes. */
import { resolve } from 'node:path';
import { clientsUnder, type PolicyClients } from '../catalogs/references/client.ts';
import { type ClientOptions, createRegistryClient, type RegistryClient } from '../oci/registry/client.ts';
import { authfileCredentials } from '../oci/registry/credentials.ts';
import type { Policy } from '../policy/policy.ts';
import type { RunInputs } from './inputs.ts';

/** Registry clients under the rules of policies; `close` closes all of them. */
export function registriesOf(inputs: RunInputs): PolicyClients {
  return clientsUnder({ ...registryOptions(inputs), plainHttp: inputs.publish.plainHttp });
}

/**
 * A client for what Portolan itself publishes. A registry over plain HTTP may also be in an internal network.
 *
 * @param policy names further internal hosts, if there is one
 */
export function publishingClient(inputs: RunInputs, policy?: Policy): RegistryClient {
  const { plainHttp } = inputs.publish;
  const internal = [...plainHttp, ...(policy?.registries.internal ?? [])];
  return createRegistryClient({ ...registryOptions(inputs), plainHttp, internal });
}

/** How registries are reached: with the credentials of the authfile or of the runner, through its proxies. */
function registryOptions({ authfile, directory, environment }: RunInputs): ClientOptions {
  const file = authfile === undefined ? undefined : resolve(directory, authfile);
  return { credentials: authfileCredentials({ authfile: file, environment }), environment };
}

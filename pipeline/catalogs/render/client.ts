/** The way to registries for commands that read images. */

import { createRegistryClient } from '../../oci/registry/client.ts';
import { authfileCredentials } from '../../oci/registry/credentials.ts';
import type { Registry } from '../../ports.ts';
import type { Terminal } from '../../terminal.ts';

export interface ReachOptions {
  /** Whether the host speaks plain HTTP. */
  readonly plainHttp: boolean;
}

/**
 * A client with the credentials and proxies of whoever runs the program.
 *
 * @param host with its port; whoever types its name may ask it, even when it is on an internal network
 */
export function registryClient(
  { environment }: Terminal,
  host: string,
  { plainHttp }: ReachOptions,
): Registry {
  return createRegistryClient({
    credentials: authfileCredentials({ environment }),
    environment,
    internal: [host],
    plainHttp: plainHttp ? [host] : [],
  });
}

/** The way to registries for commands that read images. */

import { mirrorHosts, type NodeConfig } from '../../../catalog/mirror/node/node.ts';
import { createRegistryClient } from '../../oci/registry/client.ts';
import { authfileCredentials } from '../../oci/registry/credentials.ts';
import { readThroughMirrors } from '../../oci/registry/mirrored.ts';
import type { Registry } from '../../ports.ts';
import type { Terminal } from '../../terminal.ts';

export interface ReachOptions {
  /** Whether the host and its mirrors speak plain HTTP. */
  readonly plainHttp: boolean;
  /** Where images are read whose references name another place. */
  readonly mirrors?: NodeConfig | undefined;
}

/**
 * A client with the credentials and proxies of whoever runs the program.
 *
 * @param host with its port; whoever types its name, or that of a mirror, may ask it, even when it is on an internal
 * network
 */
export function registryClient(
  { environment }: Terminal,
  host: string,
  { plainHttp, mirrors }: ReachOptions,
): Registry {
  const hosts = [host, ...(mirrors ? mirrorHosts(mirrors) : [])];
  const client = createRegistryClient({
    credentials: authfileCredentials({ environment }),
    environment,
    internal: hosts,
    plainHttp: plainHttp ? hosts : [],
  });
  return mirrors ? readThroughMirrors(client, { config: mirrors, mirrors: client }) : client;
}

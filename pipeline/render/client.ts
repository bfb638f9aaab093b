/** The way to registries for commands that read images. */
import type { Terminal } from '../cli/terminal.ts';
import type { Registry } from '../ports.ts';
import { createRegistryClient } from '../registry/client.ts';
import { authfileCredentials } from '../registry/credentials.ts';

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

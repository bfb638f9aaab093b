/** What `bundle validate` needs for images, and nothing that a directory needs. */
import type { CatalogSource } from '../../../catalog/source.ts';
import { withBundle } from '../../catalogs/bundle/open.ts';
import type { OpenBundle } from '../../catalogs/bundle/open-directory.ts';
import { platformsOf } from '../../catalogs/bundle/platforms.ts';
import type { Terminal } from '../../terminal.ts';
import type { Invocation } from '../command.ts';
import { registryClientFor } from '../registry-access.ts';
import { renderingOf } from '../rendering.ts';

interface At {
  readonly invocation: Invocation;
  readonly terminal: Terminal;
}

/** Opens the bundle that an operand names. */
export function withNamedBundle<T>(
  name: string,
  { invocation, terminal }: At,
  use: (bundle: OpenBundle) => Promise<T>,
): Promise<T> {
  return withBundle(name, renderingOf(invocation, terminal), use);
}

/** The platforms of a bundle's images, which their registries are asked for. */
export async function platformsIn(
  source: CatalogSource,
  { invocation, terminal }: At,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const client = registryClientFor(invocation, terminal);
  try {
    return await platformsOf(source, client);
  } finally {
    client.close();
  }
}

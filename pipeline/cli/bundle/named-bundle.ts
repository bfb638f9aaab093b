/** What `bundle validate` needs for images, and nothing that a directory needs. */

import { inspectedBundle } from '../../../catalog/bundle/inspect.ts';
import { type Reference, tryParseReference } from '../../../catalog/reference.ts';
import { lookupKey } from '../../../catalog/references/site.ts';
import { imagesOf } from '../../../catalog/rules/bundle-checks/platform.ts';
import type { CatalogSource } from '../../../catalog/source.ts';
import { withBundle } from '../../catalogs/bundle/open.ts';
import type { OpenBundle } from '../../catalogs/bundle/open-directory.ts';
import { lookUp } from '../../catalogs/references/look-up.ts';
import type { Registry } from '../../ports.ts';
import type { Terminal } from '../../terminal.ts';
import type { Invocation } from '../command.ts';
import { withRegistryClient } from '../registry-access.ts';
import { renderingOf } from '../rendering.ts';

interface CommandContext {
  readonly invocation: Invocation;
  readonly terminal: Terminal;
}

/** Opens the bundle that an operand names. */
export function withNamedBundle<T>(
  name: string,
  { invocation, terminal }: CommandContext,
  use: (bundle: OpenBundle) => Promise<T>,
): Promise<T> {
  return withBundle(name, renderingOf(invocation, terminal), use);
}

/** What registries say of the images of a bundle. */
export interface AskedPlatforms {
  /** By image, as the bundle writes it. */
  readonly platforms: ReadonlyMap<string, readonly string[]>;
  /** Images that are not among them, each with the reason, in a sentence. */
  readonly unknown: readonly string[];
}

/** The platforms of a bundle's images, which their registries are asked for. */
export async function platformsIn(
  source: CatalogSource,
  { invocation, terminal }: CommandContext,
): Promise<AskedPlatforms> {
  return withRegistryClient(invocation, terminal, {}, async (client) => {
    return await platformsOf(source, client);
  });
}

// Asking registries for which platforms the images of a bundle are.

/** Asks registries for which platforms a bundle's images are. */
async function platformsOf(source: CatalogSource, registry: Registry): Promise<AskedPlatforms> {
  const { csv } = await inspectedBundle(source);
  const references = new Map<string, Reference>();
  for (const { image } of csv ? imagesOf(csv) : []) {
    // What is not a reference has a finding of its own.
    const reference = tryParseReference(image);
    if (reference) references.set(image, reference);
  }
  // Of all of them the platforms are wanted, which costs a further request each.
  const platforms = new Set([...references.values()].map(lookupKey));
  const lookups = await lookUp(references.values(), { registry, platforms });
  const known = new Map<string, readonly string[]>();
  const unknown: string[] = [];
  for (const [image, reference] of references) {
    const lookup = lookups.get(lookupKey(reference));
    if (lookup?.kind === 'found' && lookup.platforms) known.set(image, lookup.platforms);
    else unknown.push(`${image}: ${lookup?.kind === 'unknown' ? lookup.why : 'the image does not exist'}`);
  }
  return { platforms: known, unknown };
}

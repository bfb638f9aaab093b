/** A catalog as an operand: a directory, or an index image in a registry, a layout or an archive. */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { directorySource } from '../directory.ts';
import type { OpenCatalog } from '../source/open.ts';
import type { Invocation } from './command.ts';
import type { Terminal } from './terminal.ts';

/**
 * Opens the catalog that a command line names; it must be closed.
 *
 * @throws PipelineError as `openCatalog`
 */
export async function openOperand(
  operand: string,
  invocation: Invocation,
  terminal: Terminal,
): Promise<OpenCatalog> {
  const path = resolve(terminal.directory, operand);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    return { source: directorySource(path), name: operand, close: async () => undefined };
  }
  // Most catalogs are directories: registries and images are loaded for those that are not.
  const { openCatalog } = await import('../source/open.ts');
  const { registryClientFor } = await import('./registry-access.ts');
  const client = registryClientFor(invocation, terminal, { named: [operand] });
  try {
    const opened = await openCatalog(operand, { directory: terminal.directory, registry: () => client });
    const close = async (): Promise<void> => {
      await opened.close();
      client.close();
    };
    return { ...opened, close };
  } catch (error) {
    client.close();
    throw error;
  }
}

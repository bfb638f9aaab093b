/** Catalogs as operands: directories, and index images in registries, layouts and archives. */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { tryParseMinor } from '../../catalog/graph/openshift.ts';
import { type CatalogPlace, catalogPlaces, type ReadCatalog, readCatalogs } from '../catalogs.ts';
import type { OpenCatalog } from '../source/open.ts';
import type { Invocation } from './command.ts';
import type { Terminal } from './terminal.ts';

/**
 * Reads the catalogs that a command line names.
 *
 * @throws PipelineError as `openCatalog`
 */
export async function readOperands(
  operands: readonly string[],
  invocation: Invocation,
  terminal: Terminal,
): Promise<ReadCatalog[]> {
  const { directory } = terminal;
  const images = operands.filter((operand) => !isDirectory(resolve(directory, operand)));
  if (images.length === 0) return readCatalogs(catalogPlaces(operands, directory));
  // Most catalogs are directories: registries and images are loaded for those that are not.
  const { openCatalog } = await import('../source/open.ts');
  const { registryClientFor } = await import('./registry-access.ts');
  const opened: OpenCatalog[] = [];
  const client = registryClientFor(invocation, terminal, { named: images });
  try {
    for (const operand of operands) {
      opened.push(await openCatalog(operand, { directory, registry: () => client }));
    }
    return await readCatalogs(opened.map(placeOf));
  } finally {
    for (const one of opened) await one.close();
    client.close();
  }
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** An index image is called after its tag where that is a version of the platform. */
function placeOf({ name, source, image }: OpenCatalog): CatalogPlace {
  const tag = image?.reference.kind === 'tag' ? image.reference.tag : '';
  return { name: tryParseMinor(tag) ? tag : name, prefix: `${name}/`, source };
}

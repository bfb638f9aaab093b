/** Catalogs as operands: directories, and index images in registries, layouts and archives. */
import { resolve } from 'node:path';
import { tryParseMinor } from '../../catalog/fbc/openshift.ts';
import {
  type CatalogPlace,
  catalogPlaces,
  type ReadCatalog,
  readCatalogs,
} from '../catalogs/read-catalogs.ts';
import type { OpenCatalog } from '../catalogs/source/open.ts';
import { directorySource, isDirectory } from '../directory.ts';
import type { RegistryClient } from '../oci/registry/client.ts';
import type { Terminal } from '../terminal.ts';
import { findingText } from '../text.ts';
import type { Invocation } from './command.ts';

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
  return withOperands(operands, { invocation, terminal }, readCatalogs);
}

/**
 * Opens the catalogs that a command line names, for as long as they are used.
 *
 * @throws PipelineError as `openCatalog`
 */
export async function withOperands<T>(
  operands: readonly string[],
  { invocation, terminal }: { readonly invocation: Invocation; readonly terminal: Terminal },
  use: (places: CatalogPlace[]) => Promise<T>,
): Promise<T> {
  const { directory } = terminal;
  const isFolder = (operand: string): boolean => isDirectory(resolve(directory, operand));
  const opened: OpenCatalog[] = [];
  try {
    for (const operand of operands)
      if (!isFolder(operand)) opened.push(await openOperand(operand, invocation, terminal));
    const images = opened.map(placeOf);
    const taken = images.map(({ name }) => name);
    const folders = catalogPlaces(operands.filter(isFolder), directory, taken);
    // In the order of the operands: each is the next one of its kind.
    return await use(operands.flatMap((operand) => (isFolder(operand) ? folders : images).shift() ?? []));
  } finally {
    for (const one of opened) await one.close();
  }
}

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
  if (isDirectory(path)) {
    return { source: directorySource(path), name: operand, close: async () => undefined };
  }
  // Most catalogs are directories: registries and images are loaded for those that are not.
  const { openCatalog } = await import('../catalogs/source/open.ts');
  const { registryClientFor } = await import('./registry-access.ts');
  let client: RegistryClient | undefined;
  const registry = (): RegistryClient => {
    client ??= registryClientFor(invocation, terminal, { named: [operand] });
    return client;
  };
  try {
    const opened = await openCatalog(operand, { directory: terminal.directory, registry });
    const close = async (): Promise<void> => {
      await opened.close();
      client?.close();
    };
    return { ...opened, close };
  } catch (error) {
    client?.close();
    throw error;
  }
}

/**
 * Prints the errors of what could not be read, and was left out.
 *
 * @returns whether there are any
 */
export function printUnread(
  catalogs: readonly Pick<ReadCatalog, 'unread' | 'prefix'>[],
  terminal: Terminal,
): boolean {
  const errors = catalogs.flatMap(({ unread, prefix }) =>
    unread
      .filter(({ severity }) => severity === 'error')
      .map((finding) => ({
        ...finding,
        location: { ...finding.location, file: `${prefix}${finding.location.file}` },
      })),
  );
  for (const finding of errors) terminal.err(findingText(finding));
  return errors.length > 0;
}

/** An index image is called after its tag where that is a version of the platform. */
function placeOf({ name, source, image }: OpenCatalog): CatalogPlace {
  const tag = image?.reference.kind === 'tag' ? image.reference.tag : '';
  return { name: tryParseMinor(tag) ? tag : name, prefix: `${name}/`, source };
}

/** An ImageSetConfiguration as a command line names it: read, and its catalogs opened. */
import { resolve } from 'node:path';
import { compareFindings } from '../../../catalog/finding.ts';
import type { ImageSet } from '../../../catalog/mirror/image-set.ts';
import { readImageSet } from '../../../catalog/mirror/image-set.ts';
import type { OpenCatalog } from '../../catalogs/source/open.ts';
import { readText } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import type { Terminal } from '../../terminal.ts';
import { findingText } from '../../text.ts';
import type { Invocation } from '../command.ts';
import { openOperand } from '../operands.ts';

export interface OpenImageSet {
  readonly imageSet: ImageSet;
  /** In the order of the configuration. */
  readonly catalogs: readonly OpenCatalog[];
  close(): Promise<void>;
}

/**
 * Reads the configuration and opens its catalogs; `oci://DIR` is an image layout.
 *
 * @throws PipelineError `usage` when it cannot be followed, and as `openOperand`
 */
export async function openImageSet(
  file: string,
  invocation: Invocation,
  terminal: Terminal,
): Promise<OpenImageSet> {
  const content = readText(resolve(terminal.directory, file));
  const { imageSet, findings } = readImageSet(content, file, invocation.flag('skip-unsupported'));
  for (const finding of [...findings].sort(compareFindings)) terminal.err(findingText(finding));
  if (!imageSet) throw new PipelineError('usage', `Portolan cannot follow the configuration in ${file}`);
  const catalogs: OpenCatalog[] = [];
  const close = async (): Promise<void> => {
    for (const one of catalogs) await one.close();
  };
  try {
    for (const { catalog } of imageSet.catalogs) {
      catalogs.push(await openOperand(catalog.replace(/^oci:\/\//, 'oci:'), invocation, terminal));
    }
    return { imageSet, catalogs, close };
  } catch (error) {
    await close();
    throw error;
  }
}

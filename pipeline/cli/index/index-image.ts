/** A catalog that a command makes, printed, written, or built and pushed as an index image. */
import type { Blobs } from '../../../catalog/fbc/model.ts';
import type { RenderFormat } from '../../../catalog/fbc/render.ts';
import { PipelineError } from '../../error.ts';
import { locationFrom, parseLocation } from '../../oci/registry/image-location.ts';
import type { ExitCode, Terminal } from '../../terminal.ts';
import type { Invocation, Option } from '../command.ts';
import { printOrWriteCatalog, RENDER_OPTIONS } from '../rendering.ts';

export const INDEX_OPTIONS: Readonly<Record<string, Option>> = {
  ...RENDER_OPTIONS,
  tag: {
    value: 'REFERENCE',
    description: 'build the index image and push it to this reference, or to oci:DIR:TAG',
  },
  'base-image': {
    value: 'REFERENCE',
    description: 'with --tag: opm image to build on (default: none)',
  },
};

export const TAG_DETAILS: readonly string[] = [
  'With --tag, Portolan builds a reproducible index image, pushes it and prints its reference by digest. Without',
  '--base-image, the image contains no server; OLM v1 does not need one.',
];

/** Prints a catalog, writes it where `--to` says, or pushes its image where `--tag` says. */
export async function deliverIndex(
  read: () => Promise<Blobs | undefined>,
  format: RenderFormat,
  { invocation, terminal }: { readonly invocation: Invocation; readonly terminal: Terminal },
): Promise<ExitCode> {
  const tag = invocation.text('tag');
  if (tag === undefined && invocation.text('base-image') !== undefined)
    throw new PipelineError('usage', '--base-image needs --tag');
  if (tag === undefined) return printOrWriteCatalog(read, format, { invocation, terminal });
  if (invocation.text('to') !== undefined) {
    throw new PipelineError('usage', '--tag and --to cannot be used together');
  }
  const place = locationFrom(terminal.directory, parseLocation(tag));
  if (place.kind === 'registry' && place.reference.kind === 'digest') {
    throw new PipelineError('usage', `--tag must not be a digest: ${JSON.stringify(tag)}`, {
      hint: 'use REPOSITORY:TAG',
    });
  }
  const blobs = await read();
  if (!blobs) return 1;
  const { buildImage } = await import('../publish/build-selection.ts');
  const { from, digest } = await buildImage(blobs, { place, written: tag }, { invocation, terminal });
  await terminal.out(`${place.kind === 'registry' ? from : digest}\n`);
  return 0;
}

/** A catalog that a command makes, printed, written, or built and pushed as an index image. */
import type { Blobs } from '../../catalog/model.ts';
import type { RenderFormat } from '../../catalog/render.ts';
import { PipelineError } from '../error.ts';
import { parsePlace, placeFrom } from '../registry/place.ts';
import type { Invocation, Option } from './command.ts';
import { deliver, RENDER_OPTIONS } from './rendering.ts';
import type { ExitCode, Terminal } from './terminal.ts';

export const INDEX_OPTIONS: Readonly<Record<string, Option>> = {
  ...RENDER_OPTIONS,
  tag: { value: 'REF', description: 'build the index image and push it here (a registry, or oci:DIR:TAG)' },
  'base-image': {
    value: 'REF',
    description: 'with --tag: the image with the server to build on (default: none)',
  },
};

export const TAG_DETAILS: readonly string[] = [
  'With --tag the catalog becomes an index image, built as portolan publish builds one: the same bytes every time. Its',
  'reference by digest is printed. Without a base image it has no server: clusters with OLM v1 need none.',
];

/** Prints a catalog, writes it where `--to` says, or pushes its image where `--tag` says. */
export async function deliverIndex(
  read: () => Promise<Blobs | undefined>,
  format: RenderFormat,
  { invocation, terminal }: { readonly invocation: Invocation; readonly terminal: Terminal },
): Promise<ExitCode> {
  const tag = invocation.text('tag');
  if (tag === undefined) return deliver(read, format, { invocation, terminal });
  if (invocation.text('to') !== undefined) {
    throw new PipelineError('usage', '--tag and --to cannot be given together');
  }
  const place = placeFrom(terminal.directory, parsePlace(tag));
  if (place.kind === 'registry' && place.reference.kind === 'digest') {
    throw new PipelineError('usage', `--tag is ${JSON.stringify(tag)}: a digest cannot be chosen`, {
      hint: 'write REPOSITORY:TAG',
    });
  }
  const blobs = await read();
  if (!blobs) return 1;
  const { buildImage } = await import('./build-selection.ts');
  const { from, digest } = await buildImage(blobs, { place, written: tag }, { invocation, terminal });
  await terminal.out(`${place.kind === 'registry' ? from : digest}\n`);
  return 0;
}

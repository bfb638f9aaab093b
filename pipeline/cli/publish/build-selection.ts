/** The index image of a selected part of a catalog: built reproducibly, and put where a copy finds it. */
import { rmSync } from 'node:fs';
import type { Blobs } from '../../../catalog/fbc/model.ts';
import { renderJson, renderOrder } from '../../../catalog/fbc/render.ts';
import { formatReference } from '../../../catalog/reference.ts';
import { PipelineError } from '../../error.ts';
import { BUILD_DEFAULTS, buildCatalogImage } from '../../oci/image/build.ts';
import { type ImageLocation, locationFrom, parseLocation } from '../../oci/registry/image-location.ts';
import { openBase } from '../../publish/base.ts';
import { sendCatalogImages } from '../../publish/push.ts';
import type { Terminal } from '../../terminal.ts';
import { findingText } from '../../text.ts';
import { temporaryFolder } from '../../write.ts';
import type { Invocation } from '../command.ts';
import { registryClientFor } from '../registry-access.ts';

/** Where an image was put. */
export interface BuiltSelection {
  /** The left side of its line in `mapping.txt`. */
  readonly from: string;
  readonly digest: string;
}

/**
 * Builds the image of a selection and puts it into a place.
 *
 * @throws PipelineError `usage` for a place that a mapping cannot name, and as the build and the registry do
 */
export async function buildSelection(
  blobs: Blobs,
  written: string,
  { invocation, terminal }: { readonly invocation: Invocation; readonly terminal: Terminal },
): Promise<BuiltSelection> {
  return buildImage(
    blobs,
    { place: placeOf(written, terminal.directory), written },
    { invocation, terminal },
  );
}

/**
 * Builds the index image of a catalog, on the base image that the invocation names, and puts it into a place.
 *
 * @throws PipelineError as the build and the registry do
 */
export async function buildImage(
  blobs: Blobs,
  { place, written }: { readonly place: ImageLocation; readonly written: string },
  { invocation, terminal }: { readonly invocation: Invocation; readonly terminal: Terminal },
): Promise<BuiltSelection> {
  const baseName = invocation.text('base-image');
  const client = registryClientFor(invocation, terminal, { named: [written, baseName] });
  const scratch = temporaryFolder('build');
  try {
    const base = baseName === undefined ? undefined : await openBase(client, parseLocation(baseName));
    if (!base) terminal.err('building without a base image: the image has no server\n');
    const text = renderOrder(blobs).map(renderJson).join('');
    const read = async (): Promise<Uint8Array> => new TextEncoder().encode(text);
    const source = { files: async () => [{ path: 'catalog.json', read }] };
    const { built, findings } = await buildCatalogImage(source, base?.image, { ...BUILD_DEFAULTS, scratch });
    for (const finding of findings) terminal.err(findingText(finding));
    if (!built) throw new PipelineError('usage', 'cannot build an image of the selection');
    const sent = await sendCatalogImages(client, [{ image: built.image, place, base, untagged: false }]);
    await sent.tag();
    const { digest } = built.image.manifestList;
    return { digest, from: sourceText(place, digest) };
  } finally {
    client.close();
    rmSync(scratch, { recursive: true, force: true });
  }
}

/**
 * The place that `--build` names, which must be one that a line of mapping.txt can name.
 *
 * @throws PipelineError `usage`
 */
function placeOf(written: string, directory: string): ImageLocation {
  const place = parseLocation(written);
  if (place.kind === 'registry' && place.reference.kind === 'tag') return place;
  if (place.kind === 'oci' && place.tag === undefined) return locationFrom(directory, place);
  throw new PipelineError(
    'usage',
    `--build must be REPOSITORY:TAG or oci:DIR, not ${JSON.stringify(written)}`,
  );
}

/** An image as the source of a line in mapping.txt: a layout by its path, an image in a registry by its digest. */
function sourceText(place: ImageLocation, digest: string): string {
  if (place.kind !== 'registry') return `oci://${place.path}`;
  const { registry, repository } = place.reference;
  return formatReference({ kind: 'digest', registry, repository, digest });
}

/** The base image of an index image, read from wherever it is. */

import { withDigest } from '../../catalog/reference.ts';
import { PipelineError } from '../error.ts';
import type { BaseImage } from '../image/base.ts';
import { readBase } from '../image/base.ts';
import type { Descriptor, Registry } from '../ports.ts';
import { isManifestType } from '../registry/image.ts';
import { openSource, type Source } from '../registry/open.ts';
import { formatPlace, type Place } from '../registry/place.ts';

export interface OpenBase {
  readonly image: BaseImage;
  /** The place and the digest that it named. */
  readonly name: string;
  /** Where its layers are. */
  readonly source: Source;
}

/** Bytes of a configuration at most. */
const LARGEST_CONFIG = 4 * 1024 * 1024;

/**
 * @param client for references
 * @throws PipelineError `not-found`, and as {@link readBase}
 */
export async function openBase(client: Registry, place: Place): Promise<OpenBase> {
  const source = await openSource(place, client);
  const { registry, reference } = source;
  const manifest = await registry.getManifest(reference);
  if (!manifest) throw new PipelineError('not-found', `there is no base image ${formatPlace(place)}`);
  const image = await readBase(manifest, (descriptor) => contentAt(source, descriptor));
  return { image, name: `${formatPlace(place)} (${image.digest})`, source };
}

async function contentAt({ registry, reference }: Source, descriptor: Descriptor): Promise<Uint8Array> {
  if (isManifestType(descriptor.mediaType)) {
    const manifest = await registry.getManifest(withDigest(reference, descriptor.digest));
    if (manifest) return manifest.bytes;
    throw new PipelineError(
      'not-found',
      `the base image names the manifest ${descriptor.digest}, which is not there`,
    );
  }
  if (descriptor.size > LARGEST_CONFIG) {
    throw new PipelineError('too-large', `the base image's configuration has ${descriptor.size} bytes`);
  }
  const chunks: Uint8Array[] = [];
  for await (const chunk of registry.getBlob(reference, descriptor)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

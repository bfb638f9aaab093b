/** Pieces of the images of a release. */

import { digestOf } from '../../pipeline/oci/digest.ts';
import { openCompressor } from '../../pipeline/oci/image/compress.ts';
import { OCI_MANIFEST } from '../../pipeline/oci/media-types.ts';
import type { Manifest } from '../../pipeline/ports.ts';

export const CONFIG = 'application/vnd.oci.image.config.v1+json';
export const LAYER = 'application/vnd.oci.image.layer.v1.tar+gzip';

/** The same bytes on every machine. */
export async function gzipped(bytes: Uint8Array): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  const gzip = await openCompressor('gzip', (part) => parts.push(part.slice()));
  await gzip.write(bytes);
  await gzip.end();
  return Buffer.concat(parts);
}

/** A value as JSON, in bytes. */
export function json(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}

/** A manifest or an index of an image, with its digest. */
export function manifestOf(value: unknown, mediaType: string = OCI_MANIFEST): Manifest {
  const bytes = json(value);
  return { mediaType, digest: digestOf(bytes), bytes };
}

/** What a release publishes, and the pieces that its images are made of. */
import { digestOf } from '../../pipeline/oci/digest.ts';
import { openCompressor } from '../../pipeline/oci/image/compress.ts';
import { OCI_MANIFEST } from '../../pipeline/oci/media-types.ts';
import type { ImageContent } from '../../pipeline/oci/registry/push.ts';
import type { Manifest } from '../../pipeline/ports.ts';

/** What a release publishes beside the image of the command line. */
export interface Artifact {
  /** The folder of its OCI layout. */
  readonly layout: string;
  /** Where it is pushed, below the image's repository. */
  readonly place: string;
  make(release: Release): Promise<ImageContent>;
}

/** A file of a release. */
export interface ReleaseFile {
  readonly name: string;
  text(): string;
}

export interface Release {
  readonly version: string;
  /** Repository of the command line's image, which the artifacts start. */
  readonly image: string;
  readonly digest: string;
}

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

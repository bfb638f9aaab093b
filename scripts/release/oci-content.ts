/** Pieces of an image in memory. */
import { compressor } from '../../pipeline/oci/image/compress.ts';
import { digestOf } from '../../pipeline/oci/registry/digest.ts';
import type { BlobSource, Descriptor, Manifest } from '../../pipeline/ports.ts';

export const TYPES = {
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar+gzip',
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  list: 'application/vnd.oci.image.index.v1+json',
};

/** The same bytes on every machine. */
export async function gzipped(bytes: Uint8Array): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  const gzip = await compressor('gzip', (part) => parts.push(part.slice()));
  await gzip.write(bytes);
  await gzip.end();
  return Buffer.concat(parts);
}

export function json(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}

export function manifestOf(value: unknown, mediaType: string = TYPES.manifest): Manifest {
  const bytes = json(value);
  return { mediaType, digest: digestOf(bytes), bytes };
}

export function describe({ mediaType, digest, bytes }: Manifest): Descriptor {
  return { mediaType, digest, size: bytes.length };
}

export function blob(bytes: Uint8Array): BlobSource {
  return {
    digest: digestOf(bytes),
    size: bytes.length,
    open: async function* (from: number) {
      yield bytes.subarray(from);
    },
  };
}

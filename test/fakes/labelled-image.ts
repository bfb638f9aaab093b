/** Images that are known by their labels: index images, bundles. */
import { packTar } from 'modern-tar';
import { digestOf } from '../../pipeline/oci/digest.ts';
import { OCI_MANIFEST } from '../../pipeline/oci/media-types.ts';
import type { ImageContent } from '../../pipeline/oci/registry/push.ts';
import { describe, manifestOf, source } from './image.ts';

/** @param files content by path, without a slash before it */
export async function labelledImage(
  labels: Readonly<Record<string, string>>,
  files: Readonly<Record<string, string | Uint8Array>>,
): Promise<ImageContent> {
  const entries = Object.entries(files).map(([name, body]) => ({
    header: { name, size: Buffer.byteLength(body) },
    body,
  }));
  const layer = Buffer.from(await packTar(entries));
  const config = Buffer.from(
    JSON.stringify({
      architecture: 'amd64',
      os: 'linux',
      config: { Labels: labels },
      rootfs: { type: 'layers', diff_ids: [digestOf(layer)] },
    }),
  );
  const root = manifestOf(OCI_MANIFEST, {
    schemaVersion: 2,
    mediaType: OCI_MANIFEST,
    config: describe('application/vnd.oci.image.config.v1+json', config),
    layers: [describe('application/vnd.oci.image.layer.v1.tar', layer)],
  });
  return { root, manifests: [], blobs: [source(config), source(layer)] };
}

/** One piece of data under a tag: an artifact with one layer. */
import { formatReference, type TagReference } from '../../catalog/reference.ts';
import { PipelineError } from '../error.ts';
import { bytesBlob, digestOf } from '../oci/digest.ts';
import { OCI_MANIFEST } from '../oci/media-types.ts';
import { parseManifest } from '../oci/registry/image.ts';
import { type ImageContent, pushImage } from '../oci/registry/push.ts';
import { allOf } from '../oci/registry/stream.ts';
import type { Registry } from '../ports.ts';

/** Bytes at most: what lists 100,000 images has half of it. */
const LARGEST = 32 * 1024 * 1024;

/**
 * The bytes under a tag; undefined when there is no such tag, and empty for an image without a layer.
 *
 * @throws PipelineError what the registry answers
 */
export async function readSmallArtifact(
  tag: TagReference,
  registry: Pick<Registry, 'getManifest' | 'getBlob'>,
): Promise<Buffer | undefined> {
  const manifest = await registry.getManifest(tag);
  if (!manifest) return undefined;
  const parsed = parseManifest(manifest);
  const [layer] = parsed.kind === 'image' ? parsed.layers : [];
  if (!layer) return Buffer.alloc(0);
  if (layer.size > LARGEST)
    throw new PipelineError('too-large', `${formatReference(tag)} has ${layer.size} bytes`);
  return Buffer.from(await allOf(registry.getBlob(tag, layer)));
}

/** Makes a tag name the bytes. @throws PipelineError what the registry answers */
export async function putSmallArtifact(
  tag: TagReference,
  { bytes, type }: { readonly bytes: Uint8Array; readonly type: string },
  registry: Registry,
): Promise<void> {
  await pushImage(registry, tag, { image: artifactOf(bytes, type) });
}

/** An artifact of one small file, with an empty configuration. */
function artifactOf(bytes: Uint8Array, type: string): ImageContent {
  const config = bytesBlob(new TextEncoder().encode('{}'));
  const layer = bytesBlob(bytes);
  const manifest = new TextEncoder().encode(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: OCI_MANIFEST,
      artifactType: type,
      config: { mediaType: 'application/vnd.oci.empty.v1+json', digest: config.digest, size: config.size },
      layers: [{ mediaType: type, digest: layer.digest, size: layer.size }],
    }),
  );
  const root = { mediaType: OCI_MANIFEST, digest: digestOf(manifest), bytes: manifest };
  return { root, manifests: [], blobs: [config, layer] };
}

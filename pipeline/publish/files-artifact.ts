/**
 * Files as an artifact about an image, one a layer, named by its title.
 *
 * @see https://github.com/opencontainers/image-spec/blob/main/manifest.md#guidelines-for-artifact-usage
 */

import { digestOf } from '../oci/registry/digest.ts';
import { describe, OCI_MANIFEST } from '../oci/registry/image.ts';
import type { ImageContent } from '../oci/registry/push.ts';
import type { BlobSource, Manifest } from '../ports.ts';

interface ArtifactFiles {
  /** The type of the artifact. */
  readonly type: string;
  readonly annotations?: Readonly<Record<string, string>>;
  /** Texts by name. */
  readonly files: ReadonlyMap<string, string>;
}

/** The annotation that names a layer's file. */
export const TITLE = 'org.opencontainers.image.title';
const EMPTY = 'application/vnd.oci.empty.v1+json';

/** The artifact about an image; the same files make the same bytes. */
export function filesArtifact(subject: Manifest, { type, annotations, files }: ArtifactFiles): ImageContent {
  const config = blobOf(new TextEncoder().encode('{}'));
  const layers = [...files].map(([name, text]) => ({ name, blob: blobOf(new TextEncoder().encode(text)) }));
  const json = {
    schemaVersion: 2,
    mediaType: OCI_MANIFEST,
    artifactType: type,
    config: { mediaType: EMPTY, digest: config.digest, size: config.size },
    layers: layers.map(({ name, blob: { digest, size } }) => ({
      mediaType: mediaTypeOf(name),
      digest,
      size,
      annotations: { [TITLE]: name },
    })),
    subject: describe(subject),
    ...(annotations ? { annotations } : {}),
  };
  const bytes = new TextEncoder().encode(JSON.stringify(json));
  const root: Manifest = { mediaType: OCI_MANIFEST, digest: digestOf(bytes), bytes };
  return { root, manifests: [], blobs: [config, ...layers.map(({ blob }) => blob)] };
}

function blobOf(bytes: Uint8Array): BlobSource {
  const open = async function* (from: number): AsyncGenerator<Uint8Array> {
    yield bytes.subarray(from);
  };
  return { digest: digestOf(bytes), size: bytes.length, open };
}

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  json: 'application/json',
  yaml: 'application/yaml',
  html: 'text/html',
};

function mediaTypeOf(name: string): string {
  return MEDIA_TYPES[name.split('.').at(-1) ?? ''] ?? 'text/plain';
}

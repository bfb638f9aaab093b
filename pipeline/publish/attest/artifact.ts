/**
 * Artifacts about images: a document as a manifest whose subject is the image, so that registries list it among
 * the image's referrers, and the image itself stays what it is.
 *
 * @see https://github.com/opencontainers/image-spec/blob/main/manifest.md#guidelines-for-artifact-usage
 */
import { type Reference, withDigest } from '../../../catalog/reference.ts';
import { bytesBlob, digestOf } from '../../oci/digest.ts';
import { OCI_MANIFEST } from '../../oci/media-types.ts';
import { type ImageContent, type PushReport, pushImage } from '../../oci/registry/push.ts';
import type { Descriptor, Manifest, Registry } from '../../ports.ts';

/** A document about an image. */
export interface Attachment {
  /** Its type for searches: a media type. */
  readonly artifactType: string;
  readonly bytes: Uint8Array;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Type of the artifact with the content of an image. */
export const SBOM_TYPE = 'application/vnd.cyclonedx+json';

/** The annotation with the subject of a signed statement. */
export const PREDICATE_TYPE = 'dev.sigstore.bundle.predicateType';

/** The configuration that an artifact does not need, as the image specification has it. */
const EMPTY_TYPE = 'application/vnd.oci.empty.v1+json';
const EMPTY = new TextEncoder().encode('{}');

/** The artifact as a registry takes it: it follows from the subject and the document alone. */
function artifactOf(
  subject: Pick<Manifest, 'mediaType' | 'digest' | 'bytes'>,
  { artifactType, bytes, annotations }: Attachment,
): ImageContent {
  const text = JSON.stringify({
    schemaVersion: 2,
    mediaType: OCI_MANIFEST,
    artifactType,
    config: descriptorFor(EMPTY_TYPE, EMPTY),
    layers: [descriptorFor(artifactType, bytes)],
    subject: { mediaType: subject.mediaType, digest: subject.digest, size: subject.bytes.length },
    ...(annotations ? { annotations } : {}),
  });
  const manifest = new TextEncoder().encode(text);
  return {
    root: { mediaType: OCI_MANIFEST, digest: digestOf(manifest), bytes: manifest },
    manifests: [],
    blobs: [bytesBlob(EMPTY), bytesBlob(bytes)],
  };
}

/** How a manifest refers to bytes. */
function descriptorFor(mediaType: string, bytes: Uint8Array): Descriptor {
  return { mediaType, digest: digestOf(bytes), size: bytes.length };
}

/** Puts a document beside an image. */
export function attachDocument(
  registry: Registry,
  image: { readonly reference: Reference; readonly manifest: Manifest },
  attachment: Attachment,
): Promise<PushReport> {
  const content = artifactOf(image.manifest, attachment);
  return pushImage(registry, withDigest(image.reference, content.root.digest), { image: content });
}

/** Payloads of OpenShift releases. */
import { gzipSync } from 'node:zlib';
import { TAR_END, tarHeader, tarPadding } from '../../catalog/fbc/cache/tar.ts';
import { bytesBlob, digestOf } from '../../pipeline/oci/digest.ts';
import { OCI_INDEX, OCI_MANIFEST } from '../../pipeline/oci/media-types.ts';
import type { ImageContent } from '../../pipeline/oci/registry/push.ts';

const LAYER = 'application/vnd.oci.image.layer.v1.tar+gzip';
const json = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));

function layerOf(files: Readonly<Record<string, string>>) {
  const entries = Object.entries(files).flatMap(([name, text]) => {
    const content = new TextEncoder().encode(text);
    const header = tarHeader({ name, kind: 'file', mode: 0o644, size: content.length });
    return [header, content, new Uint8Array(tarPadding(content.length))];
  });
  return bytesBlob(gzipSync(Buffer.concat([...entries, TAR_END])));
}

/** A payload as `oc adm release new` builds it: the manifests are in the last layer. No real one is at hand. */
export function payload(
  references: string,
  architectures: readonly string[] = ['amd64'],
  more: Readonly<Record<string, string>> = {},
): ImageContent {
  const images = architectures.map((architecture) => {
    const blobs = [
      layerOf({ 'usr/bin/cluster-version-operator': architecture }),
      layerOf({ 'release-manifests/image-references': references, ...more }),
      bytesBlob(json({ architecture, os: 'linux' })),
    ] as const;
    const [base, manifests, config] = blobs;
    const describe = ({ digest, size }: { digest: string; size: number }, mediaType: string) => ({
      mediaType,
      digest,
      size,
    });
    const bytes = json({
      schemaVersion: 2,
      mediaType: OCI_MANIFEST,
      config: describe(config, 'application/vnd.oci.image.config.v1+json'),
      layers: [describe(base, LAYER), describe(manifests, LAYER)],
    });
    return { architecture, blobs, root: { mediaType: OCI_MANIFEST, digest: digestOf(bytes), bytes } };
  });
  const [first] = images;
  if (!first) throw new TypeError('no architecture');
  if (images.length === 1) return { root: first.root, manifests: [], blobs: [...first.blobs] };
  const bytes = json({
    schemaVersion: 2,
    mediaType: OCI_INDEX,
    manifests: images.map(({ architecture, root }) => ({
      mediaType: OCI_MANIFEST,
      digest: root.digest,
      size: root.bytes.length,
      platform: { os: 'linux', architecture },
    })),
  });
  return {
    root: { mediaType: OCI_INDEX, digest: digestOf(bytes), bytes },
    manifests: images.map(({ root }) => root),
    blobs: images.flatMap(({ blobs }) => blobs),
  };
}

export function imageStream(images: Readonly<Record<string, string>>, version = '4.20.3'): string {
  const tags = Object.entries(images).map(([name, reference]) => ({
    name,
    from: { kind: 'DockerImage', name: reference },
  }));
  return JSON.stringify({ kind: 'ImageStream', metadata: { name: version }, spec: { tags } });
}

/** An image like Node's, for two platforms: a user, and a layer with a folder. */
import { gzipSync } from 'node:zlib';
import { packTar } from 'modern-tar';
import { parseReference } from '../../catalog/reference.ts';
import { bytesBlob, digestOf } from '../../pipeline/oci/digest.ts';
import { pushImage } from '../../pipeline/oci/registry/push.ts';
import type { Manifest } from '../../pipeline/ports.ts';
import { testClient } from './host.ts';

const OCI = 'application/vnd.oci.image';

/** Pushes it. @returns its reference, by digest */
export async function nodeBase(host: string): Promise<string> {
  const tar = await packTar([
    { header: { name: 'home/node/', type: 'directory', size: 0, mtime: new Date(0) } },
  ]);
  const layer = bytesBlob(gzipSync(tar));
  const diffId = digestOf(tar);
  const blobs = [layer];
  const manifests = ['amd64', 'arm64', 's390x'].map((architecture) => {
    const config = bytesBlob(
      json({
        ...{ architecture, os: 'linux', config: { Env: ['PATH=/usr/local/bin:/bin'], Cmd: ['node'] } },
        rootfs: { type: 'layers', diff_ids: [diffId] },
      }),
    );
    blobs.push(config);
    return {
      platform: { architecture, os: 'linux' },
      manifest: manifestOf({
        ...{ schemaVersion: 2, mediaType: `${OCI}.manifest.v1+json` },
        config: { mediaType: `${OCI}.config.v1+json`, digest: config.digest, size: config.size },
        layers: [{ mediaType: `${OCI}.layer.v1.tar+gzip`, digest: layer.digest, size: layer.size }],
      }),
    };
  });
  const root = manifestOf({
    ...{ schemaVersion: 2, mediaType: `${OCI}.index.v1+json` },
    manifests: manifests.map(({ platform, manifest: { mediaType, digest, bytes } }) => ({
      ...{ mediaType, digest, size: bytes.length, platform },
    })),
  });
  const reference = `${host}/node:24-slim`;
  const image = { root, manifests: manifests.map(({ manifest }) => manifest), blobs };
  await pushImage(testClient([host]), parseReference(reference), { image });
  return `${host}/node@${root.digest}`;
}

function json(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}

function manifestOf(value: { readonly mediaType: string; readonly [key: string]: unknown }): Manifest {
  const bytes = json(value);
  return { mediaType: value.mediaType, digest: digestOf(bytes), bytes };
}

/** A base image like opm's: a list of two platforms and an attestation, two layers each. */

import { digestOf } from '../../pipeline/oci/digest.ts';
import type { Descriptor, Manifest } from '../../pipeline/ports.ts';

export interface FakeBase {
  readonly list: Manifest;
  readonly content: ReadonlyMap<string, Uint8Array>;
}

const TYPES = {
  oci: {
    list: 'application/vnd.oci.image.index.v1+json',
    manifest: 'application/vnd.oci.image.manifest.v1+json',
    config: 'application/vnd.oci.image.config.v1+json',
    layer: 'application/vnd.oci.image.layer.v1.tar+gzip',
  },
  docker: {
    list: 'application/vnd.docker.distribution.manifest.list.v2+json',
    manifest: 'application/vnd.docker.distribution.manifest.v2+json',
    config: 'application/vnd.docker.container.image.v1+json',
    layer: 'application/vnd.docker.image.rootfs.diff.tar.gzip',
  },
};

export function fakeBase(
  family: 'oci' | 'docker',
  labels: Readonly<Record<string, string>> = {},
  algorithm = 'sha256',
): FakeBase {
  const content = new Map<string, Uint8Array>();
  const types = TYPES[family];
  const put = (mediaType: string, bytes: Uint8Array): Descriptor => {
    const digest = digestOf(bytes, algorithm);
    content.set(digest, bytes);
    return { mediaType, digest, size: bytes.length };
  };
  const json = (mediaType: string, value: unknown): Descriptor =>
    put(mediaType, Buffer.from(JSON.stringify(value)));
  const image = (architecture: string): unknown => {
    const layers = ['opm', 'probe'].map((name) => put(types.layer, Buffer.from(`${architecture} ${name}`)));
    const config = json(types.config, {
      architecture,
      os: 'linux',
      created: '2026-01-02T03:04:05Z',
      author: 'kept',
      config: { User: '1001', Env: ['PATH=/bin'], Entrypoint: ['/bin/opm'], Cmd: ['help'], Labels: labels },
      rootfs: { type: 'layers', diff_ids: layers.map(({ digest }) => digest) },
      history: [{ created_by: 'kept' }],
    });
    const manifest = json(types.manifest, { schemaVersion: 2, mediaType: types.manifest, config, layers });
    return { ...manifest, platform: { architecture, os: 'linux' } };
  };
  const attestation = json(types.manifest, { schemaVersion: 2, note: 'an attestation' });
  const manifests = [
    image('amd64'),
    image('arm64'),
    { ...attestation, platform: { architecture: 'unknown', os: 'unknown' } },
  ];
  const list = json(types.list, { schemaVersion: 2, mediaType: types.list, manifests });
  return { list: { ...list, bytes: content.get(list.digest) ?? new Uint8Array() }, content };
}

export function reader({ content }: FakeBase): (descriptor: Descriptor) => Promise<Uint8Array> {
  return async ({ digest }) => content.get(digest) ?? new Uint8Array();
}

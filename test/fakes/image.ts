/** Small real images: layers that are gzipped tar files, configs that name them. */
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { digestOf } from '../../pipeline/oci/digest.ts';
import { DOCKER_LIST, DOCKER_MANIFEST, OCI_INDEX, OCI_MANIFEST } from '../../pipeline/oci/media-types.ts';
import type { ImageContent } from '../../pipeline/oci/registry/push.ts';
import type { BlobSource, Descriptor, Manifest } from '../../pipeline/ports.ts';

export interface ImageOptions {
  /** More than one makes a list. */
  readonly architectures?: readonly string[];
  /** Content of one file a layer. */
  readonly layers?: readonly (string | Buffer)[];
  readonly format?: 'oci' | 'docker';
  readonly annotations?: Readonly<Record<string, string>>;
  /** How layers are compressed; gzip when left out. */
  readonly pack?: (tar: Buffer) => Buffer;
}

const TYPES = {
  oci: {
    manifest: OCI_MANIFEST,
    list: OCI_INDEX,
    config: 'application/vnd.oci.image.config.v1+json',
    layer: 'application/vnd.oci.image.layer.v1.tar+gzip',
  },
  docker: {
    manifest: DOCKER_MANIFEST,
    list: DOCKER_LIST,
    config: 'application/vnd.docker.container.image.v1+json',
    layer: 'application/vnd.docker.image.rootfs.diff.tar.gzip',
  },
} as const;

/** An image, or a list of images that share their layers. */
export function sampleImage(options: ImageOptions = {}): ImageContent {
  const { architectures = ['amd64'], layers = ['hello'], format = 'oci', annotations } = options;
  const types = TYPES[format];
  const tars = layers.map((content, i) => tar(`file-${i}`, Buffer.from(content)));
  const packed = tars.map(options.pack ?? ((bytes) => gzipSync(bytes, { level: 1 })));
  const blobs: BlobSource[] = packed.map(source);
  const children = architectures.map((architecture) => {
    const config = json({
      architecture,
      os: 'linux',
      config: {},
      rootfs: { type: 'layers', diff_ids: tars.map((bytes) => digestOf(bytes)) },
    });
    blobs.push(source(config));
    return manifestOf(types.manifest, {
      schemaVersion: 2,
      mediaType: types.manifest,
      config: describe(types.config, config),
      layers: packed.map((bytes) => describe(types.layer, bytes)),
      ...(annotations ? { annotations } : {}),
    });
  });
  const [only] = children;
  if (children.length === 1 && only) return { root: only, manifests: [], blobs };
  const manifests = children.map(({ mediaType, bytes }, i) => ({
    ...describe(mediaType, Buffer.from(bytes)),
    platform: { architecture: architectures[i], os: 'linux' },
  }));
  const root = manifestOf(types.list, { schemaVersion: 2, mediaType: types.list, manifests });
  return { root, manifests: children, blobs };
}

/** An artifact about another manifest, with an empty config. */
export function sampleReferrer(subject: Manifest, artifactType: string, note = ''): ImageContent {
  const empty = Buffer.from('{}');
  const type = 'application/vnd.oci.empty.v1+json';
  const root = manifestOf(OCI_MANIFEST, {
    schemaVersion: 2,
    mediaType: OCI_MANIFEST,
    artifactType,
    config: describe(type, empty),
    layers: [describe(type, empty)],
    subject: describe(subject.mediaType, Buffer.from(subject.bytes)),
    annotations: { note },
  });
  return { root, manifests: [], blobs: [source(empty)] };
}

export function manifestOf(mediaType: string, value: unknown): Manifest {
  const bytes = json(value);
  return { mediaType, digest: digestOf(bytes), bytes };
}

export function describe(mediaType: string, bytes: Buffer): Descriptor {
  return { mediaType, digest: digestOf(bytes), size: bytes.length };
}

/** Bytes as a blob to be put. */
export function source(bytes: Buffer): BlobSource {
  return {
    digest: digestOf(bytes),
    size: bytes.length,
    async *open(from) {
      for (let at = from; at < bytes.length; at += 64 * 1024) yield bytes.subarray(at, at + 64 * 1024);
    },
  };
}

/** Bytes that look random and are the same every time. */
export function noise(size: number, seed = 'noise'): Buffer {
  const parts: Buffer[] = [];
  for (let i = 0; i * 64 < size; i++) parts.push(createHash('sha512').update(`${seed}${i}`).digest());
  return Buffer.concat(parts).subarray(0, size);
}

export async function bytesOf(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function json(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

/** A tar file of one file. */
export function tar(name: string, content: Buffer): Buffer {
  const header = Buffer.alloc(512);
  header.write(name, 0);
  header.write('0000644\x000000000\x000000000\x00', 100);
  header.write(`${content.length.toString(8).padStart(11, '0')}\x0000000000000\x00        0`, 124);
  header.write('ustar\x0000', 257);
  header.write(
    `${header
      .reduce((sum, byte) => sum + byte, 0)
      .toString(8)
      .padStart(6, '0')}\x00 `,
    148,
  );
  const padding = Buffer.alloc((512 - (content.length % 512)) % 512);
  return Buffer.concat([header, content, padding, Buffer.alloc(1024)]);
}

/**
 * `docker-archive`: what `docker save` writes and `docker load` reads. One image for one
 * platform: its config, its layers as plain tar files, and `manifest.json` that names them.
 *
 * @see https://github.com/moby/docker-image-spec/blob/main/spec.md#combined-image-json--filesystem-changeset-format
 */

import { createHash } from 'node:crypto';
import { isTexts } from '../../../../catalog/go/shape.ts';
import { parseJson } from '../../../../catalog/json.ts';
import {
  formatReference,
  type Reference,
  repositoryName,
  type TagReference,
  tryParseReference,
} from '../../../../catalog/reference.ts';
import { PipelineError } from '../../../error.ts';
import type { Descriptor, Manifest, Registry } from '../../../ports.ts';
import { checkedBytes, digestOf } from '../../digest.ts';
import { decompressed } from '../../image/decompress.ts';
import { DOCKER_MANIFEST } from '../../media-types.ts';
import { type ImageManifest, parseManifest } from '../image.ts';
import type { BlobReader } from '../layout/blobs.ts';
import { createView, type LayoutView, manifestReader } from '../layout/contents.ts';
import type { Entry } from '../layout/entries.ts';
import { fileError } from '../layout/files.ts';
import type { Layout } from '../layout/layout.ts';
import { layoutRegistry } from '../layout/registry.ts';
import { allOf, streamOf } from '../stream.ts';
import { type ArchiveFile, openArchive } from './file.ts';
import { type ArchiveWriter, replaceByTar, stagingLayout } from './oci.ts';
import type { TarEntry, TarSource } from './tar.ts';

const CONFIG_TYPE = 'application/vnd.docker.container.image.v1+json';
const LAYER_TYPE = 'application/vnd.docker.image.rootfs.diff.tar';
const GZIPPED_LAYER_TYPE = `${LAYER_TYPE}.gzip`;

/** Reads an archive's images by their tags, each in the repository that its tag names, with its registry. */
interface DockerArchive extends LayoutView {
  close(): Promise<void>;
}

/** Opens an archive of `docker save`. @throws PipelineError `corrupt` if it is not an archive of Docker */
export async function openDockerArchive(path: string): Promise<DockerArchive> {
  const archive = await openArchive(path);
  try {
    const files = new Map<string, TarEntry | Buffer>();
    const entries: Entry[] = [];
    for (const image of await readImages(archive)) {
      const manifest = await manifestOf(archive, image, files);
      const descriptor = { mediaType: DOCKER_MANIFEST, digest: manifest.digest, size: manifest.bytes.length };
      for (const tag of image.tags) {
        entries.push({
          descriptor,
          repository: repositoryName(tag),
          tag: tag.kind === 'tag' ? tag.tag : undefined,
          raw: {},
        });
      }
      // Also without its tags: an image may have none.
      entries.push({ descriptor, repository: '', tag: undefined, raw: {} });
    }
    const blobs = memberBlobs(archive, files);
    const index = { entries, rest: {} };
    return { ...createView(blobs, manifestReader(blobs), async () => index), close: archive.close };
  } catch (error) {
    await archive.close();
    throw error;
  }
}

interface SavedImage {
  /** Names of members of the archive. */
  readonly config: string;
  readonly layers: readonly string[];
  readonly tags: readonly Reference[];
}

/** The images that a `docker save` archive lists. @throws PipelineError `corrupt` */
async function readImages(archive: ArchiveFile): Promise<SavedImage[]> {
  const bad = (): PipelineError =>
    new PipelineError('corrupt', `${archive.path} is not a docker save archive`);
  const bytes = await archive.readSmall('manifest.json');
  if (bytes === undefined) throw bad();
  let json: unknown;
  try {
    json = parseJson(bytes);
  } catch {
    throw bad();
  }
  if (!Array.isArray(json)) throw bad();
  return json.map((item: unknown) => {
    const { Config: config, Layers: layers, RepoTags: tags } = Object(item) as Record<string, unknown>;
    if (typeof config !== 'string' || !isTexts(layers)) throw bad();
    const texts = isTexts(tags) ? tags : [];
    return { config, layers, tags: texts.flatMap((text) => tryParseReference(text) ?? []) };
  });
}

/** Layers of an image at most; what runs images takes 127. Each is read, also one that is named twice. */
const MOST_LAYERS = 1000;

/** The manifest that the image would have in a registry, with its layers as they are in the archive. */
async function manifestOf(
  archive: ArchiveFile,
  image: SavedImage,
  files: Map<string, TarEntry | Buffer>,
): Promise<Manifest> {
  const config = await member(archive, image.config, files);
  const layers: object[] = [];
  if (image.layers.length > MOST_LAYERS) {
    const why = `has ${image.layers.length} layers, the limit is ${MOST_LAYERS}`;
    throw new PipelineError('too-large', `an image in ${archive.path} ${why}`);
  }
  for (const name of image.layers) {
    const { digest, size, isGzipped } = await member(archive, name, files);
    layers.push({ mediaType: isGzipped ? GZIPPED_LAYER_TYPE : LAYER_TYPE, size, digest });
  }
  const json = {
    schemaVersion: 2,
    mediaType: DOCKER_MANIFEST,
    config: { mediaType: CONFIG_TYPE, size: config.size, digest: config.digest },
    layers,
  };
  const bytes = Buffer.from(JSON.stringify(json));
  const digest = digestOf(bytes);
  files.set(digest, bytes);
  return { mediaType: DOCKER_MANIFEST, digest, bytes };
}

interface Member {
  readonly digest: string;
  readonly size: number;
  readonly isGzipped: boolean;
}

/** Members that were read, or are being read: a file that several images name is read once. */
const members = new WeakMap<TarEntry, Promise<Member>>();

/** A file of the archive. Its digest is noted in `files`, because blobs are asked for by digest. */
async function member(
  archive: ArchiveFile,
  name: string,
  files: Map<string, TarEntry | Buffer>,
): Promise<Member> {
  const entry = archive.find(name);
  if (entry === undefined)
    throw new PipelineError('corrupt', `${archive.path} references ${name} but does not contain it`);
  const found = members.get(entry) ?? readMember(archive, entry);
  members.set(entry, found);
  files.set((await found).digest, entry);
  return found;
}

/**
 * The digest and kind of a file of the archive: it is read whole, as its name says nothing of its content.
 */
async function readMember(archive: ArchiveFile, entry: TarEntry): Promise<Member> {
  const hash = createHash('sha256');
  let head: Uint8Array | undefined;
  for await (const chunk of archive.read(entry)) {
    head ??= chunk;
    hash.update(chunk);
  }
  const digest = `sha256:${hash.digest('hex')}`;
  // These two bytes begin every file of gzip.
  return { digest, size: entry.size, isGzipped: head?.[0] === 0x1f && head[1] === 0x8b };
}

/** Reads blobs by digest from members of the archive, and the manifests that are in none. */
function memberBlobs(archive: ArchiveFile, files: ReadonlyMap<string, TarEntry | Buffer>): BlobReader {
  return {
    size: async (digest) => {
      const file = files.get(digest);
      return Buffer.isBuffer(file) ? file.length : file?.size;
    },
    async *read(digest, start = 0, end = Infinity) {
      const file = files.get(digest);
      if (file === undefined) throw new PipelineError('not-found', `${archive.path} has no blob ${digest}`);
      if (Buffer.isBuffer(file)) yield file.subarray(start, Math.min(end, file.length));
      else yield* archive.read(file, start, Math.min(end, file.size));
    },
  };
}

/**
 * Writes the one image that is put into it.
 *
 * @param name the tag to write into the archive, where it shall have one
 */
export async function createDockerArchive(
  path: string,
  name: TagReference | undefined,
): Promise<ArchiveWriter> {
  const { layout, discard } = await stagingLayout(path);
  const registry: Registry = layoutRegistry(layout);
  let root: Manifest | undefined;
  return {
    registry: {
      ...registry,
      putManifest: async (to, manifest) => {
        await registry.putManifest(to, manifest);
        root = manifest;
      },
    },
    finish: async () => {
      if (root === undefined) throw new PipelineError('usage', `no image was given for ${path}`);
      await replaceByTar(path, await imageSources(layout, root, name));
      await discard();
    },
    discard,
  };
}

/** The members of a `docker save` archive for one image. */
async function imageSources(
  layout: Layout,
  root: Manifest,
  name: Reference | undefined,
): Promise<TarSource[]> {
  const image = parseManifest(root);
  if (image.kind === 'list') {
    throw new PipelineError(
      'usage',
      'a docker-archive contains an image for one platform, not a manifest list',
      {
        hint: 'select one platform, or write an oci-archive',
      },
    );
  }
  const config = await allOf(
    checkedBytes(layout.blobs.read(image.config.digest), image.config, 'the configuration of the image'),
  );
  const layers = await plainLayers(layout, image, config);
  const configName = `${image.config.digest.replace(/^.*:/, '')}.json`;
  const tag = name === undefined ? [] : [formatReference(name)];
  const names = layers.map(({ name: layer }) => layer);
  const manifest = Buffer.from(`${JSON.stringify([{ Config: configName, RepoTags: tag, Layers: names }])}\n`);
  // A member is written once, however often the image repeats the layer.
  const unique = new Map(layers.map((layer) => [layer.name, layer]));
  return [...unique.values(), bytesSource(configName, config), bytesSource('manifest.json', manifest)];
}

/** Bytes as a member of an archive. */
function bytesSource(name: string, bytes: Buffer): TarSource {
  return { name, size: bytes.length, open: () => streamOf(bytes) };
}

/** The layers unpacked to tar files, whose digests the config holds. */
async function plainLayers(layout: Layout, image: ImageManifest, config: Buffer): Promise<TarSource[]> {
  const ids = diffIds(config);
  if (ids.length !== image.layers.length) {
    throw new PipelineError(
      'corrupt',
      `the config lists ${ids.length} layers, the manifest ${image.layers.length}`,
    );
  }
  const sources: TarSource[] = [];
  for (const [i, layer] of image.layers.entries()) {
    const id = ids[i] ?? '';
    // A layer that is not compressed has this digest already. A repeated layer is there from the first time.
    const size = (await layout.blobs.size(id)) ?? (await unpack(layout, layer, id));
    sources.push({ name: `${id.replace(/^.*:/, '')}.tar`, size, open: () => layout.blobs.read(id) });
  }
  return sources;
}

/**
 * The digests of the unpacked layers, as a configuration lists them.
 *
 * @throws PipelineError `corrupt` for one that lists none
 */
function diffIds(config: Buffer): readonly string[] {
  let ids: unknown;
  try {
    ids = Object(Object(parseJson(config)).rootfs).diff_ids;
  } catch {
    ids = undefined;
  }
  if (!isTexts(ids)) throw new PipelineError('corrupt', 'the config of the image does not list its layers');
  return ids;
}

/** Stores a layer unpacked, under the digest `id` that it must have then. @returns its size in bytes, unpacked */
async function unpack(layout: Layout, layer: Descriptor, id: string): Promise<number> {
  const { path, handle } = await layout.blobs.temporary();
  const hash = createHash('sha256');
  let size = 0;
  try {
    for await (const chunk of decompressed(layout.blobs.read(layer.digest))) {
      hash.update(chunk);
      size += chunk.length;
      await handle.writeFile(chunk);
    }
  } catch (error) {
    throw error instanceof PipelineError
      ? error
      : fileError(`cannot unpack the layer ${layer.digest}`, error);
  } finally {
    await handle.close();
  }
  const found = `sha256:${hash.digest('hex')}`;
  if (found !== id)
    throw new PipelineError('corrupt', `the layer ${layer.digest} unpacks to ${found}, not ${id}`);
  await layout.blobs.adopt(path, id);
  return size;
}

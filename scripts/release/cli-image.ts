/** The command line as a container image: a layer with the package on top of a Node image, for each of its platforms. */
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { packTar, type TarEntry } from 'modern-tar';
import { bytesBlob, digestOf } from '../../pipeline/oci/digest.ts';
import { OCI_INDEX, OCI_MANIFEST } from '../../pipeline/oci/media-types.ts';
import { descriptorOf, isElsewhere } from '../../pipeline/oci/registry/image.ts';
import { blobOf, type ImageContent } from '../../pipeline/oci/registry/push.ts';
import type { BlobSource, Descriptor, Manifest } from '../../pipeline/ports.ts';
import type { OpenBase } from '../../pipeline/publish/base.ts';
import { CONFIG, gzipped, json, LAYER, manifestOf } from './artifact.ts';

/** Nothing in the image says when it was built: the same content is the same image. */
const NO_TIME = '1970-01-01T00:00:00Z';
/** The user `node` of Node's images. */
const USER = '1000:1000';

interface CliImage {
  /** A directory whose content goes to the image's root. */
  readonly stage: string;
  /** The program within the image. */
  readonly entrypoint: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  /** Architectures to take from the base. */
  readonly architectures: readonly string[];
}

/**
 * Builds the image.
 *
 * @throws Error for an architecture that the base lacks
 */
export async function cliImage(base: OpenBase, cli: CliImage): Promise<ImageContent> {
  const tar = await packTar(entriesOf(cli.stage));
  const layer = bytesBlob(await gzipped(tar));
  const diffId = digestOf(tar);
  const manifests: Manifest[] = [];
  const blobs: BlobSource[] = [layer];
  const listed: Descriptor[] = [];
  for (const architecture of cli.architectures) {
    const below = base.image.platforms.find(
      ({ platform }) => platform.os === 'linux' && platform.architecture === architecture,
    );
    if (!below) throw new Error(`${base.name} has no image for linux/${architecture}`);
    const config = bytesBlob(json(configOf(below.config, { ...cli, diffId })));
    const manifest = manifestOf({
      schemaVersion: 2,
      mediaType: OCI_MANIFEST,
      config: { mediaType: CONFIG, digest: config.digest, size: config.size },
      layers: [...below.layers, { mediaType: LAYER, digest: layer.digest, size: layer.size }],
    });
    manifests.push(manifest);
    listed.push({ ...descriptorOf(manifest), platform: below.platform });
    const { registry, reference } = base.source;
    blobs.push(config);
    for (const own of below.layers) if (!isElsewhere(own)) blobs.push(blobOf(registry, reference, own));
  }
  const root = manifestOf({ schemaVersion: 2, mediaType: OCI_INDEX, manifests: listed }, OCI_INDEX);
  return { root, manifests, blobs: [...new Map(blobs.map((one) => [one.digest, one])).values()] };
}

/** Everything below a directory, in the order of names, owned by root and without a time. */
function entriesOf(stage: string, folder = ''): TarEntry[] {
  return readdirSync(join(stage, folder))
    .sort()
    .flatMap((name): TarEntry[] => {
      const path = join(folder, name);
      const file = join(stage, path);
      const facts = lstatSync(file);
      const common = { name: path, mtime: new Date(0), uid: 0, gid: 0, size: 0 };
      if (facts.isDirectory()) {
        const header = { ...common, name: `${common.name}/`, type: 'directory' as const, mode: 0o755 };
        return [{ header }, ...entriesOf(stage, path)];
      }
      if (facts.isSymbolicLink()) {
        return [{ header: { ...common, type: 'symlink', mode: 0o777, linkname: readlinkSync(file) } }];
      }
      const body = readFileSync(file);
      const mode = facts.mode & 0o100 ? 0o755 : 0o644;
      return [{ header: { ...common, type: 'file', mode, size: body.length }, body }];
    });
}

/** The configuration of the base's image with the program, its labels and the layer on top. It does not run as root. */
function configOf(
  below: Readonly<Record<string, unknown>>,
  { entrypoint, labels, diffId }: CliImage & { readonly diffId: string },
): unknown {
  const { config, rootfs, history } = below as {
    config?: Record<string, unknown>;
    rootfs?: { diff_ids?: readonly string[] };
    history?: readonly unknown[];
  };
  const inherited = Object(config?.['Labels']) as Record<string, string>;
  return {
    ...below,
    created: NO_TIME,
    config: {
      ...config,
      Entrypoint: entrypoint,
      Cmd: ['--help'],
      User: USER,
      Labels: { ...inherited, ...labels },
    },
    rootfs: { type: 'layers', diff_ids: [...(rootfs?.diff_ids ?? []), diffId] },
    history: [...(history ?? []), { created: NO_TIME, created_by: 'portolan release' }],
  };
}

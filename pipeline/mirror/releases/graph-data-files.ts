/** Graph data: the public repository's files, from a directory, an archive or a web server. */
import { rmSync, statSync } from 'node:fs';
import { TAR_END, type TarEntry, tarHeader, tarPadding } from '../../../catalog/fbc/cache/tar.ts';
import { compareText } from '../../../catalog/go/text.ts';
import {
  checkGraphData,
  GraphDataError,
  type GraphDataFiles,
  isGraphData,
} from '../../../catalog/mirror/release/update-graph.ts';
import { directorySource, fileError, isDirectory, readFileBytes } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import { bytesBlob, digestOf } from '../../oci/digest.ts';
import type { BaseImage } from '../../oci/image/base.ts';
import { openCompressor } from '../../oci/image/compress.ts';
import { type CatalogImage, type Layer, layeredConfig, layeredImage } from '../../oci/image/image.ts';
import { readTree } from '../../oci/image/tree.ts';
import { temporaryFolder } from '../../write.ts';
import type { RepositoryPorts } from '../charts/repository.ts';

/** Where update services get graph data. */
export const GRAPH_DATA = 'https://api.openshift.com/api/upgrades_info/graph-data';

/** Bytes of an archive at most; that of 2026 has less than 1 MB. */
const LARGEST = 64 * 2 ** 20;
/** Bytes of an archive unpacked, and of each layer and file; and its entries. */
const LIMITS = { bytes: 512 * 2 ** 20, layerBytes: 512 * 2 ** 20, fileBytes: 16 * 2 ** 20, entries: 100_000 };

/**
 * Reads the files of graph data.
 *
 * @param path a directory, an archive (`.tar`, `.tar.gz`), or a URL of an archive
 * @throws PipelineError `usage` for what is not graph data, `not-found`, `too-large`, and as the download
 */
export async function readGraphData(
  path: string,
  { download }: Pick<RepositoryPorts, 'download'>,
): Promise<GraphDataFiles> {
  const files = isDirectory(path) ? await filesIn(path) : await filesOf(await archiveAt(path, download));
  try {
    checkGraphData(files);
  } catch (error) {
    throw graphDataError(error, path);
  }
  return files;
}

/** Errors in graph data as errors of usage. */
export function graphDataError(error: unknown, place: string): unknown {
  if (!(error instanceof GraphDataError)) return error;
  return new PipelineError('usage', `${place}: ${error.message}`, { cause: error });
}

/** The bytes of an archive, from a web server or a file. @throws PipelineError `too-large` */
async function archiveAt(place: string, download: RepositoryPorts['download']): Promise<Uint8Array> {
  if (/^https?:\/\//.test(place)) return download(new URL(place), `the graph data at ${place}`, LARGEST);
  if (sizeOf(place) > LARGEST) throw new PipelineError('too-large', `${place} is larger than 64 MiB`);
  return readFileBytes(place);
}

/** The size of a file, in bytes. @throws PipelineError `not-found`, `io` */
function sizeOf(path: string): number {
  try {
    return statSync(path).size;
  } catch (error) {
    throw fileError(error, path);
  }
}

/** The files of graph data in a directory; others there are not read. */
async function filesIn(place: string): Promise<GraphDataFiles> {
  const files = new Map<string, string>();
  for (const file of await directorySource(place).files()) {
    if (!isGraphData(file.path)) continue;
    if (file.unreadable !== undefined)
      throw new PipelineError('usage', `${place}/${file.path}: ${file.unreadable}`);
    files.set(file.path, new TextDecoder().decode(await file.read()));
  }
  return files;
}

/** The files of an archive, also of one with a folder around them. */
async function filesOf(archive: Uint8Array): Promise<GraphDataFiles> {
  const scratch = temporaryFolder('graph-data');
  try {
    const inner = (path: string): string => (isGraphData(path) ? path : path.slice(path.indexOf('/') + 1));
    const tree = await readTree([only(archive)], {
      scratch,
      limits: LIMITS,
      wanted: (path) => isGraphData(inner(path)),
    });
    try {
      const files = new Map<string, string>();
      for (const [path, entry] of tree.entries) {
        if (entry.kind !== 'file' || !isGraphData(inner(path))) continue;
        files.set(inner(path), new TextDecoder().decode(tree.read(entry)));
      }
      return files;
    } finally {
      tree.close();
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Bytes as a stream of one piece. */
async function* only(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

// The image with which the OpenShift Update Service gets graph data: a layer with the data above a base image, whose shell
// copies it to where the service reads it.
//
// @see https://docs.redhat.com/en/documentation/openshift_container_platform/4.20/html/disconnected_environments/updating-a-cluster-in-a-disconnected-environment

/** The base image that the documentation of the service names. */
export const GRAPH_BASE = 'registry.access.redhat.com/ubi9/ubi:latest';

/** The image in mirrors, as oc-mirror calls it. */
export const GRAPH_IMAGE = 'openshift/graph-image:latest';

/** Where the image has the data. */
const DATA = 'var/lib/cincinnati-graph-data';
/** Where the service mounts the folder that the image fills. */
const MOUNTED = '/var/lib/cincinnati/graph-data';

/**
 * Builds the image: the same data on the same base is the same image.
 *
 * @param architectures those that are wanted of the base; `multi` stands for all
 * @throws PipelineError `usage` for a base without them
 */
export async function graphImage(
  files: GraphDataFiles,
  base: BaseImage,
  architectures: readonly string[],
): Promise<CatalogImage> {
  const isWanted = ({ os, architecture }: BaseImage['platforms'][number]['platform']): boolean =>
    os === 'linux' && (architectures.includes('multi') || architectures.includes(architecture));
  const platforms = base.platforms.filter(({ platform }) => isWanted(platform));
  if (platforms.length === 0)
    throw new PipelineError(
      'usage',
      `the base image of the update graph is not for ${architectures.join(', ')}`,
    );
  return layeredImage({ ...base, platforms }, [await layerOf(files)], {
    platforms: [],
    configOf: (config, layered) =>
      layeredConfig(config, layered, {
        Entrypoint: ['/bin/bash', '-c', `exec cp -rp /${DATA}/* ${MOUNTED}`],
        Cmd: [],
      }),
  });
}

/** The layer that has the files of graph data where the update service looks for them. */
async function layerOf(files: GraphDataFiles): Promise<Layer> {
  const sorted = [...files].sort(([a], [b]) => compareText(a, b));
  const folders = new Set(['var', 'var/lib', DATA, ...sorted.flatMap(([path]) => folderOf(path))]);
  const archive = Buffer.concat([
    ...[...folders].map((name) => tarHeader(entryOf(`${name}/`, 'directory', 0))),
    ...sorted.flatMap(([path, text]) => {
      const content = new TextEncoder().encode(text);
      const header = tarHeader(entryOf(`${DATA}/${path}`, 'file', content.length));
      return [header, content, new Uint8Array(tarPadding(content.length))];
    }),
    TAR_END,
  ]);
  const pieces: Uint8Array[] = [];
  const compress = await openCompressor('gzip', (bytes) => pieces.push(bytes));
  await compress.write(archive);
  await compress.end();
  const blob = bytesBlob(Buffer.concat(pieces));
  const { digest, size } = blob;
  return { facts: { diffId: digestOf(archive), digest, size, codec: 'gzip' }, blob, folder: `/${DATA}` };
}

/** The folder of a file in the image; none for a file at the top. */
function folderOf(path: string): string[] {
  const slash = path.lastIndexOf('/');
  return slash < 0 ? [] : [`${DATA}/${path.slice(0, slash)}`];
}

/** An entry of the layer, with the same owner and mode wherever it is built. */
function entryOf(name: string, kind: TarEntry['kind'], size: number): TarEntry {
  return { name, kind, mode: kind === 'directory' ? 0o755 : 0o644, size, uid: 0, gid: 0 };
}

/**
 * The image with which the OpenShift Update Service gets graph data: a layer with the data above a base image, whose shell
 * copies it to where the service reads it.
 *
 * @see https://docs.redhat.com/en/documentation/openshift_container_platform/4.20/html/disconnected_environments/updating-a-cluster-in-a-disconnected-environment
 */
import { gzipSync } from 'node:zlib';
import { TAR_END, type TarEntry, tarHeader, tarPadding } from '../../../catalog/fbc/cache/tar.ts';
import { compareText } from '../../../catalog/go/text.ts';
import type { GraphDataFiles } from '../../../catalog/mirror/release/update-graph.ts';
import { PipelineError } from '../../error.ts';
import type { BaseImage } from '../../oci/image/base.ts';
import { layeredConfig } from '../../oci/image/config.ts';
import { bytesBlob, digestOf } from '../../oci/image/content.ts';
import { type CatalogImage, type Layer, layeredImage } from '../../oci/image/image.ts';

/** The base image that the documentation of the service names. */
export const GRAPH_BASE = 'registry.access.redhat.com/ubi9/ubi:latest';

/** The image in mirrors, as oc-mirror calls it. */
export const GRAPH_IMAGE = 'openshift/graph-image:latest';

const DATA = 'var/lib/cincinnati-graph-data';
/** Where the service mounts the folder that the image fills. */
const MOUNTED = '/var/lib/cincinnati/graph-data';

/**
 * Builds the image: the same data on the same base is the same image.
 *
 * @param architectures those that are wanted of the base; `multi` stands for all
 * @throws PipelineError `usage` for a base without them
 */
export function graphImage(
  files: GraphDataFiles,
  base: BaseImage,
  architectures: readonly string[],
): CatalogImage {
  const isWanted = ({ os, architecture }: BaseImage['platforms'][number]['platform']): boolean =>
    os === 'linux' && (architectures.includes('multi') || architectures.includes(architecture));
  const platforms = base.platforms.filter(({ platform }) => isWanted(platform));
  if (platforms.length === 0)
    throw new PipelineError(
      'usage',
      `the base image of the update graph is not for ${architectures.join(', ')}`,
    );
  return layeredImage({ ...base, platforms }, [layerOf(files)], {
    platforms: [],
    configOf: (config, layered) =>
      layeredConfig(config, layered, {
        Entrypoint: ['/bin/bash', '-c', `exec cp -rp /${DATA}/* ${MOUNTED}`],
        Cmd: [],
      }),
  });
}

function layerOf(files: GraphDataFiles): Layer {
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
  const blob = bytesBlob(gzipSync(archive));
  const { digest, size } = blob;
  return { facts: { diffId: digestOf(archive), digest, size, codec: 'gzip' }, blob, folder: `/${DATA}` };
}

function folderOf(path: string): string[] {
  const slash = path.lastIndexOf('/');
  return slash < 0 ? [] : [`${DATA}/${path.slice(0, slash)}`];
}

function entryOf(name: string, kind: TarEntry['kind'], size: number): TarEntry {
  return { name, kind, mode: kind === 'directory' ? 0o755 : 0o644, size, uid: 0, gid: 0 };
}

/**
 * Tekton's tasks as a bundle: an image with a layer for each task, named by its annotations.
 *
 * @see https://github.com/tektoncd/pipeline/blob/main/docs/tekton-bundle-contracts.md
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { packTar } from 'modern-tar';
import { bytesBlob, digestOf } from '../../pipeline/oci/digest.ts';
import { OCI_MANIFEST } from '../../pipeline/oci/media-types.ts';
import type { ImageContent } from '../../pipeline/oci/registry/push.ts';
import { type Artifact, CONFIG, gzipped, json, LAYER, manifestOf } from './artifact.ts';

const TASKS = 'deploy/tekton';

export const tektonTasks: Artifact = {
  layout: 'tekton',
  place: 'tekton',
  make: ({ version, image, digest }) => tektonBundle(version, `${image}:${version}@${digest}`),
};

/** @param image the command line's, by digest */
async function tektonBundle(version: string, image: string): Promise<ImageContent> {
  const layers = [];
  const diffIds: string[] = [];
  for (const file of readdirSync(TASKS).sort()) {
    const text = readFileSync(join(TASKS, file), 'utf8')
      .replaceAll('{version}', version)
      .replaceAll('{image}', image);
    const { apiVersion, kind, metadata } = load(text) as {
      readonly apiVersion: string;
      readonly kind: string;
      readonly metadata: { readonly name: string };
    };
    const body = new TextEncoder().encode(text);
    const header = {
      name: metadata.name,
      type: 'file',
      mode: 0o600,
      mtime: new Date(0),
      size: body.length,
    } as const;
    const tar = await packTar([{ header, body }]);
    diffIds.push(digestOf(tar));
    layers.push({
      blob: bytesBlob(await gzipped(tar)),
      annotations: {
        'dev.tekton.image.apiVersion': apiVersion.split('/').at(-1),
        'dev.tekton.image.kind': kind.toLowerCase(),
        'dev.tekton.image.name': metadata.name,
      },
    });
  }
  const config = bytesBlob(json({ architecture: '', os: '', rootfs: { type: 'layers', diff_ids: diffIds } }));
  const root = manifestOf({
    schemaVersion: 2,
    mediaType: OCI_MANIFEST,
    config: { mediaType: CONFIG, digest: config.digest, size: config.size },
    layers: layers.map(({ blob: { digest, size }, annotations }) => ({
      ...{ mediaType: LAYER, digest, size, annotations },
    })),
  });
  return { root, manifests: [], blobs: [config, ...layers.map((layer) => layer.blob)] };
}

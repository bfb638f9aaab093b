/**
 * The Helm chart as an artifact: its package as the only layer, and what `Chart.yaml` says as the configuration.
 *
 * @see https://helm.sh/docs/topics/registries/#oci-feature-deprecation-and-behavior-changes-with-v380
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { load } from 'js-yaml';
import { packTar, type TarEntry } from 'modern-tar';
import { bytesBlob } from '../../pipeline/oci/digest.ts';
import { OCI_MANIFEST } from '../../pipeline/oci/media-types.ts';
import type { ImageContent } from '../../pipeline/oci/registry/push.ts';
import { type Artifact, gzipped, json, manifestOf, type Release } from './artifact.ts';

const FOLDER = 'functions/kubernetes/chart';

export const helmChart: Artifact = { layout: 'chart', place: 'chart/portolan', make: chartArtifact };

/** The chart under the release's version, with the release's image as its default. */
async function chartArtifact({ version, image, digest }: Release): Promise<ImageContent> {
  const chart = {
    ...(load(readFileSync(join(FOLDER, 'Chart.yaml'), 'utf8')) as object),
    version,
    appVersion: version,
  };
  const changed = new Map([
    ['Chart.yaml', `${JSON.stringify(chart)}\n`],
    ['values.yaml', withImage(readFileSync(join(FOLDER, 'values.yaml'), 'utf8'), image, digest)],
  ]);
  const layer = bytesBlob(await gzipped(await packTar(filesOf(changed))));
  const config = bytesBlob(json(chart));
  const root = manifestOf({
    schemaVersion: 2,
    mediaType: OCI_MANIFEST,
    config: {
      ...{ mediaType: 'application/vnd.cncf.helm.config.v1+json' },
      ...{ digest: config.digest, size: config.size },
    },
    layers: [
      {
        ...{ mediaType: 'application/vnd.cncf.helm.chart.content.v1.tar+gzip' },
        ...{ digest: layer.digest, size: layer.size },
      },
    ],
  });
  return { root, manifests: [], blobs: [config, layer] };
}

/** The chart's values with the release's image as the default. @throws Error unless they have the lines for it */
function withImage(values: string, image: string, digest: string): string {
  // The other lines stay, with their comments.
  const text = values
    .replace(/^ {2}repository: ''$/m, `  repository: ${image}`)
    .replace(/^ {2}digest: ''$/m, `  digest: ${digest}`);
  const { image: read } = load(text) as {
    readonly image: { readonly repository: string; readonly digest: string };
  };
  if (read.repository !== image || read.digest !== digest) {
    throw new Error(`${FOLDER}/values.yaml must have the lines repository: '' and digest: '' of the image`);
  }
  return text;
}

/** The files of the chart in a folder of its name, as `helm package` has them: without times, in the order of their paths. */
function filesOf(changed: ReadonlyMap<string, string>): TarEntry[] {
  return readdirSync(FOLDER, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(FOLDER, join(parentPath, name)))
    .sort()
    .map((path): TarEntry => {
      const body = new TextEncoder().encode(changed.get(path) ?? readFileSync(join(FOLDER, path), 'utf8'));
      const header = { name: `portolan/${path}`, type: 'file', mode: 0o644, mtime: new Date(0) } as const;
      return { header: { ...header, size: body.length }, body };
    });
}

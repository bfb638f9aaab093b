/**
 * The image of a bundle: one layer on nothing, with the annotations as its labels. The
 * same files are the same digest, whenever and wherever it is made.
 */
import { inspectedBundle, PREFIX } from '../../../catalog/bundle/inspect.ts';
import { DIRECTORY_MODE, FILE_MODE } from '../../../catalog/fbc/cache/layout.ts';
import { TAR_END, tarHeader, tarPadding } from '../../../catalog/fbc/cache/tar.ts';
import { compareText } from '../../../catalog/go/text.ts';
import type { CatalogSource } from '../../../catalog/source.ts';
import { PipelineError } from '../../error.ts';
import { bytesBlob, digestOf } from '../../oci/digest.ts';
import { openCompressor } from '../../oci/image/compress.ts';
import { CONFIG_TYPES, GZIP_TYPES, MANIFEST_TYPES } from '../../oci/image/image.ts';
import type { ImageContent } from '../../oci/registry/push.ts';

/** The media types of an image: of the OCI, or of Docker, which OpenShift before 4.20 needs for bundles. */
export const MEDIA_TYPES = ['oci', 'docker'] as const;
type MediaType = (typeof MEDIA_TYPES)[number];

/** An image has no build time: the same files make the same image. */
const NO_TIME = '1970-01-01T00:00:00Z';

/** An image's configuration must name a platform. Bundles are data, which OLM reads on every platform. */
const PLATFORM = { os: 'linux', architecture: 'amd64' };

/** Most bytes of files that are put into a bundle's image: a cluster takes a hundredth of it. */
const MOST_BYTES = 256 * 1024 * 1024;

/**
 * The image of a bundle: one layer with its files, and its annotations as labels.
 *
 * @throws PipelineError `usage` for a bundle whose metadata cannot be read, `too-large`
 */
export async function bundleImage(source: CatalogSource, types: MediaType = 'oci'): Promise<ImageContent> {
  const archive = await archiveOf(source);
  const layer = await gzipped(archive);
  const config = json({
    created: NO_TIME,
    ...PLATFORM,
    config: { Labels: await labelsOf(source) },
    rootfs: { type: 'layers', diff_ids: [digestOf(archive)] },
    history: [{ created: NO_TIME, created_by: 'portolan /manifests /metadata' }],
  });
  const bytes = json({
    schemaVersion: 2,
    mediaType: MANIFEST_TYPES[types],
    config: { mediaType: CONFIG_TYPES[types], digest: digestOf(config), size: config.length },
    layers: [{ mediaType: GZIP_TYPES[types], digest: digestOf(layer), size: layer.length }],
  });
  return {
    root: { mediaType: MANIFEST_TYPES[types], digest: digestOf(bytes), bytes },
    manifests: [],
    blobs: [bytesBlob(config), bytesBlob(layer)],
  };
}

/** A value as JSON, in bytes. */
function json(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}

/** The annotations of the bundle as labels, in byte order: the same annotations give the same image. */
async function labelsOf(source: CatalogSource): Promise<Readonly<Record<string, string>>> {
  const { annotations } = await inspectedBundle(source);
  const labels = Object.entries(annotations?.values ?? {})
    .filter((entry): entry is [string, string] => typeof entry[1] === 'string')
    .sort(([a], [b]) => compareText(a, b));
  if (labels.some(([key]) => key === `${PREFIX}package.v1`)) return Object.fromEntries(labels);
  throw new PipelineError(
    'usage',
    'metadata/ does not name the package, and an image without that label is not a bundle',
    {
      hint: 'create metadata/annotations.yaml with portolan bundle generate',
    },
  );
}

/**
 * A tar archive of `manifests/`, `metadata/` and `tests/`, in byte order and without times and owners: the same files
 * give the same bytes.
 */
async function archiveOf(source: CatalogSource): Promise<Uint8Array> {
  const files = (await source.files()).filter(({ path }) => /^(?:manifests|metadata|tests)\//.test(path));
  // Every folder above a file, once: the text before each slash of a path.
  const folders = new Set<string>();
  for (const { path } of files)
    for (const { index } of path.matchAll(/\//g)) folders.add(path.slice(0, index));
  const parts: Uint8Array[] = [...folders]
    .sort(compareText)
    .map((name) => tarHeader({ name, kind: 'directory', mode: DIRECTORY_MODE, size: 0 }));
  let size = 0;
  for (const file of [...files].sort((a, b) => compareText(a.path, b.path))) {
    if (file.unreadable !== undefined) throw new PipelineError('usage', `${file.path}: ${file.unreadable}`);
    const bytes = await file.read();
    size += bytes.length;
    if (size > MOST_BYTES) {
      throw new PipelineError('too-large', `the bundle has more than ${MOST_BYTES} bytes`);
    }
    parts.push(tarHeader({ name: file.path, kind: 'file', mode: FILE_MODE, size: bytes.length }));
    parts.push(bytes, new Uint8Array(tarPadding(bytes.length)));
  }
  return Buffer.concat([...parts, TAR_END]);
}

/** The bytes compressed as layers of catalogs are: the same on every machine, so a bundle keeps its digest. */
async function gzipped(bytes: Uint8Array): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  const gzip = await openCompressor('gzip', (part) => parts.push(Uint8Array.from(part)));
  await gzip.write(bytes);
  await gzip.end();
  return Buffer.concat(parts);
}

/** The payload of an OpenShift release: the images that it is made of, read from its layers. */
import {
  type ReleaseContent,
  readImageReferences,
} from '../../../catalog/mirror/release/image-references.ts';
import { type DigestReference, type Reference, withDigest } from '../../../catalog/reference.ts';
import { PipelineError } from '../../error.ts';
import { readTree } from '../../oci/image/tree.ts';
import { type ImageManifest, parseManifest } from '../../oci/registry/image.ts';
import type { Registry } from '../../ports.ts';

export interface Payload extends ReleaseContent {
  /** The payload by digest. */
  readonly reference: DigestReference;
}

const IMAGE_REFERENCES = 'release-manifests/image-references';
/** Payloads have a few hundred files in one layer, and the files of an operating system below it. */
const LIMITS = { bytes: 2 ** 31, layerBytes: 2 ** 31, fileBytes: 16 * 2 ** 20, entries: 500_000 };

/**
 * Reads the payload of a release. One for several architectures is read for each of them.
 *
 * @param scratch an existing directory
 * @throws PipelineError `not-found`, `usage` for an image that is not a release, and as the registry
 */
export async function readPayload(
  reference: Reference,
  registry: Registry,
  scratch: string,
): Promise<Payload> {
  const manifest = await registry.getManifest(reference);
  const name = `${reference.registry}/${reference.repository}`;
  if (!manifest) throw new PipelineError('not-found', `there is no such release in ${name}`);
  const digested = withDigest(reference, manifest.digest);
  const parsed = parseManifest(manifest);
  const parts =
    parsed.kind === 'image' ? [parsed] : await imagesOf(parsed.manifests, { reference, registry });
  const contents: ReleaseContent[] = [];
  for (const part of parts) contents.push(await contentOf(part, { name, reference, registry, scratch }));
  const [first] = contents;
  if (!first) throw new PipelineError('usage', `the release in ${name} is for no architecture`);
  const images = new Map(
    contents.flatMap((one) => one.images.map((image) => [JSON.stringify(image), image])),
  );
  return { version: first.version, images: [...images.values()], reference: digested };
}

async function imagesOf(
  manifests: readonly { readonly digest: string }[],
  { reference, registry }: { readonly reference: Reference; readonly registry: Registry },
): Promise<ImageManifest[]> {
  const images: ImageManifest[] = [];
  for (const { digest } of manifests) {
    const manifest = await registry.getManifest(withDigest(reference, digest));
    if (!manifest) throw new PipelineError('not-found', `the release has no image ${digest}`);
    const parsed = parseManifest(manifest);
    if (parsed.kind === 'image') images.push(parsed);
  }
  return images;
}

interface PayloadPlace {
  readonly name: string;
  readonly reference: Reference;
  readonly registry: Registry;
  readonly scratch: string;
}

/** The file is in one of the topmost layers: those below are not read. */
async function contentOf(
  { layers }: ImageManifest,
  { name, reference, registry, scratch }: PayloadPlace,
): Promise<ReleaseContent> {
  for (const layer of [...layers].reverse()) {
    const wanted = (path: string): boolean => path === IMAGE_REFERENCES;
    const tree = await readTree([registry.getBlob(reference, layer)], { scratch, wanted, limits: LIMITS });
    try {
      const entry = tree.entries.get(IMAGE_REFERENCES);
      if (entry?.kind !== 'file') continue;
      const content = readImageReferences(new TextDecoder().decode(tree.read(entry)));
      if (typeof content !== 'string') return content;
      throw new PipelineError('usage', `${IMAGE_REFERENCES} of the release in ${name} ${content}`);
    } finally {
      tree.close();
    }
  }
  throw new PipelineError(
    'usage',
    `the image in ${name} is not an OpenShift release: it has no ${IMAGE_REFERENCES}`,
  );
}

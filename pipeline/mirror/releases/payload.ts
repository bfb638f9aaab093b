/** The payload of an OpenShift release: what it says of itself, read from its layers. */
import {
  type ReleaseContent,
  readImageReferences,
  readPreviousVersions,
  readVirtualImages,
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

export interface PayloadPorts {
  readonly registry: Registry;
  /** An existing directory. */
  readonly scratch: string;
}

/** Files of a release, as `oc adm release new` writes them. */
const MANIFESTS = 'release-manifests/';
const IMAGE_REFERENCES = `${MANIFESTS}image-references`;
const METADATA = `${MANIFESTS}release-metadata`;
const BOOT_IMAGES = `${MANIFESTS}0000_50_installer_coreos-bootimages.yaml`;
/** Payloads have a few hundred files in one layer, and the files of an operating system below it. */
const LIMITS = { bytes: 2 ** 31, layerBytes: 2 ** 31, fileBytes: 16 * 2 ** 20, entries: 500_000 };

/**
 * Reads the payload of a release. One for several architectures is read for each of them.
 *
 * @param virtual architectures of which the boot images of OpenShift Virtualization belong to the release
 * @throws PipelineError `not-found`, `usage` for an image that is not a release, and as the registry
 */
export async function readPayload(
  reference: Reference,
  ports: PayloadPorts,
  virtual: readonly string[] = [],
): Promise<Payload> {
  const { digest, parts } = await openPayload(reference, ports);
  const name = nameOf(reference);
  const contents: ReleaseContent[] = [];
  for (const part of parts) {
    const files = await filesOf(part, reference, ports);
    const read = readImageReferences(textOf(files, IMAGE_REFERENCES, name));
    if (typeof read === 'string') throw notRelease(name, `${IMAGE_REFERENCES} ${read}`);
    const boot = virtual.length > 0 ? readVirtualImages(textOf(files, BOOT_IMAGES, name), virtual) : [];
    if (typeof boot === 'string') throw notRelease(name, `${BOOT_IMAGES} ${boot}`);
    contents.push({ ...read, images: [...read.images, ...boot] });
  }
  const [first] = contents;
  if (!first) throw new PipelineError('usage', `the release in ${name} is for no architecture`);
  const images = new Map(
    contents.flatMap((one) => one.images.map((image) => [JSON.stringify(image), image])),
  );
  return { version: first.version, images: [...images.values()], reference: withDigest(reference, digest) };
}

/** The versions that update to a release, as its payload says. @throws PipelineError as {@link readPayload} */
export async function readPrevious(reference: Reference, ports: PayloadPorts): Promise<readonly string[]> {
  const [part] = (await openPayload(reference, ports)).parts;
  const name = nameOf(reference);
  if (!part) throw new PipelineError('usage', `the release in ${name} is for no architecture`);
  const previous = readPreviousVersions(textOf(await filesOf(part, reference, ports), METADATA, name));
  if (typeof previous === 'string') throw notRelease(name, `${METADATA} ${previous}`);
  return previous;
}

/** The repository of a release, for messages. */
function nameOf({ registry, repository }: Reference): string {
  return `${registry}/${repository}`;
}

/** The error for an image that is not a release, or whose files cannot be read. */
function notRelease(name: string, why: string): PipelineError {
  return new PipelineError('usage', `the release in ${name}: ${why}`);
}

interface OpenPayload {
  readonly digest: string;
  /** An image for each architecture. */
  readonly parts: readonly ImageManifest[];
}

/** The images of a payload: several where it is for several architectures. */
async function openPayload(reference: Reference, { registry }: PayloadPorts): Promise<OpenPayload> {
  const manifest = await registry.getManifest(reference);
  if (!manifest) throw new PipelineError('not-found', `there is no such release in ${nameOf(reference)}`);
  const parsed = parseManifest(manifest);
  const parts =
    parsed.kind === 'image' ? [parsed] : await imagesOf(parsed.manifests, { reference, registry });
  return { digest: manifest.digest, parts };
}

/** The manifests of images; other artifacts are left out. */
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

/** The manifests of a release. They are in one of the topmost layers: those below are not read. */
async function filesOf(
  { layers }: ImageManifest,
  reference: Reference,
  { registry, scratch }: PayloadPorts,
): Promise<ReadonlyMap<string, string>> {
  const names = [IMAGE_REFERENCES, METADATA, BOOT_IMAGES];
  const files = new Map<string, string>();
  // From the top: what a layer has counts before what is below it.
  for (const layer of [...layers].reverse()) {
    const wanted = (path: string): boolean => names.includes(path);
    const tree = await readTree([registry.getBlob(reference, layer)], { scratch, wanted, limits: LIMITS });
    try {
      for (const name of names) {
        const entry = tree.entries.get(name);
        if (entry?.kind === 'file' && !files.has(name))
          files.set(name, new TextDecoder().decode(tree.read(entry)));
      }
    } finally {
      tree.close();
    }
    if (files.has(IMAGE_REFERENCES)) break;
  }
  return files;
}

/** A file of a release. @throws PipelineError `usage` for an image without it */
function textOf(files: ReadonlyMap<string, string>, path: string, name: string): string {
  const text = files.get(path);
  if (text !== undefined) return text;
  // Every release has this file, so an image without it is something else.
  const what = path === IMAGE_REFERENCES ? 'is not an OpenShift release: it has' : 'has';
  throw new PipelineError('usage', `the image in ${name} ${what} no ${path}`);
}

/** An image opened for reading: its labels, and its files when they are asked for. */
import { mkdtempSync, rmSync } from 'node:fs';
import { arch, tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatReference, type Reference, withDigest } from '../../catalog/reference.ts';
import { isObject } from '../../catalog/shape.ts';
import { fileError } from '../directory.ts';
import { PipelineError } from '../error.ts';
import { type ImageTree, readTree } from '../image/tree.ts';
import type { Descriptor, Registry } from '../ports.ts';
import { type ImageManifest, type ManifestList, parseManifest } from '../registry/image.ts';
import { openSource } from '../registry/open.ts';
import { parsePlace } from '../registry/place.ts';

export interface OpenImage {
  readonly labels: ReadonlyMap<string, string>;
  /** Calls `use` with the image's files, of which the content of the wanted ones can be read. */
  readonly unpack: <T>(wanted: (path: string) => boolean, use: (tree: ImageTree) => Promise<T>) => Promise<T>;
}

/**
 * @param name a reference, or `oci:DIR:TAG` and the like
 * @param registryOf the way to the registry of a host
 * @throws PipelineError `not-found` when there is no such image, and what a registry may throw
 */
export async function withImage<T>(
  name: string,
  registryOf: (host: string) => Registry,
  use: (image: OpenImage) => Promise<T>,
): Promise<T> {
  const place = parsePlace(name);
  const host = place.kind === 'registry' ? place.reference.registry : '';
  const { registry, reference, close } = await openSource(place, registryOf(host));
  try {
    const manifest = await platformManifest(registry, reference, name);
    const labels = await labelsOf(registry, reference, manifest.config);
    const unpack: OpenImage['unpack'] = (wanted, useTree) =>
      unpacked(
        manifest.layers.map((layer) => registry.getBlob(reference, layer)),
        wanted,
        useTree,
      );
    return await use({ labels, unpack });
  } finally {
    await close();
  }
}

/** Go's names of what Node calls otherwise. */
const ARCHITECTURES: ReadonlyMap<string, string> = new Map([
  ['x64', 'amd64'],
  ['ppc64', 'ppc64le'],
]);

/** The manifest for Linux on this machine's architecture; of a list without one, the first for Linux. */
async function platformManifest(
  registry: Registry,
  reference: Reference,
  name: string,
): Promise<ImageManifest> {
  const parsed = await manifestAt(registry, reference, name);
  if (parsed.kind === 'image') return parsed;
  const own = ARCHITECTURES.get(arch()) ?? arch();
  const linux = parsed.manifests.filter(({ platform }) => platform?.os === 'linux');
  const chosen = linux.find(({ platform }) => platform?.architecture === own) ?? linux[0];
  const image = chosen && (await manifestAt(registry, withDigest(reference, chosen.digest), name));
  if (image?.kind === 'image') return image;
  throw new PipelineError('bad-answer', `${name} is a list without an image for Linux`);
}

async function manifestAt(
  registry: Registry,
  reference: Reference,
  name: string,
): Promise<ImageManifest | ManifestList> {
  const manifest = await registry.getManifest(reference);
  if (manifest) return parseManifest(manifest);
  const written = reference.registry === '' ? name : formatReference(reference);
  throw new PipelineError('not-found', `there is no image ${written}`);
}

/** Most bytes of an image's configuration. */
const LARGEST_CONFIG = 8 * 1024 * 1024;

async function labelsOf(
  registry: Registry,
  reference: Reference,
  config: Descriptor,
): Promise<Map<string, string>> {
  if (config.size > LARGEST_CONFIG) {
    throw new PipelineError('too-large', `the image's configuration has ${config.size} bytes`);
  }
  const chunks: Uint8Array[] = [];
  for await (const chunk of registry.getBlob(reference, config)) chunks.push(chunk);
  const json = parsedObject(Buffer.concat(chunks));
  const inner = isObject(json['config']) ? json['config'] : {};
  const labels = isObject(inner['Labels']) ? inner['Labels'] : {};
  return new Map(
    Object.entries(labels).flatMap(([key, value]) => (typeof value === 'string' ? [[key, value]] : [])),
  );
}

function parsedObject(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const json: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return isObject(json) ? json : {};
  } catch (error) {
    throw new PipelineError('bad-answer', "the image's configuration is no JSON", { cause: error });
  }
}

async function unpacked<T>(
  layers: readonly AsyncIterable<Uint8Array>[],
  wanted: (path: string) => boolean,
  use: (tree: ImageTree) => Promise<T>,
): Promise<T> {
  const scratch = scratchFolder();
  try {
    const tree = await readTree(layers, { scratch, wanted });
    try {
      return await use(tree);
    } finally {
      tree.close();
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function scratchFolder(): string {
  try {
    return mkdtempSync(join(tmpdir(), 'portolan-'));
  } catch (error) {
    throw fileError(error, tmpdir());
  }
}

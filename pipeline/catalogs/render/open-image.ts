/** An image opened for reading: its labels, and its files when they are asked for. */
import { rmSync } from 'node:fs';
import { arch, tmpdir } from 'node:os';
import { isObject } from '../../../catalog/go/shape.ts';
import { parseJson } from '../../../catalog/json.ts';
import { formatReference, type Reference, withDigest } from '../../../catalog/reference.ts';
import { withFileErrors } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import { MADE_BY } from '../../oci/image/base.ts';
import {
  type ImageTree,
  readTree,
  TREE_LIMITS,
  type TreeLimits,
  type TreeOptions,
} from '../../oci/image/tree.ts';
import { type ImageManifest, type ManifestList, parseManifest } from '../../oci/registry/image.ts';
import { locationFrom, parseLocation } from '../../oci/registry/image-location.ts';
import { openSource, type Source } from '../../oci/registry/open.ts';
import { allOf } from '../../oci/registry/stream.ts';
import type { Descriptor, Registry } from '../../ports.ts';
import { temporaryFolder } from '../../write.ts';
import type { Rendering } from './load.ts';

export interface OpenImage {
  readonly labels: ReadonlyMap<string, string>;
  /** Bytes of all layers, as they are sent. */
  readonly size: number;
  /** Of what the reference names: the manifest list where there is one. */
  readonly digest: string;
  /** Whether its configuration names a program to run. */
  readonly hasServer: boolean;
  /**
   * Calls `use` with the image's files, of which the content of the wanted ones can be read.
   */
  readonly unpack: <T>(
    wanted: (path: string) => boolean,
    use: (tree: ImageTree) => Promise<T>,
    options?: UnpackOptions,
  ) => Promise<T>;
  /**
   * The files below a folder (without a slash before it; empty for all), until the tree is closed.
   * Layers that the image's history places elsewhere are not fetched, unless `allLayers`.
   */
  readonly unpackFolder: (folder: string, allLayers?: boolean) => Promise<ImageTree>;
}

interface UnpackOptions {
  /** The only folder that is needed, without a slash before it; all when left out. Layers that cannot hold it are not fetched. */
  readonly within?: string;
  /** What layers may ask of the machine; those of an index image when left out. */
  readonly limits?: TreeLimits;
}

/**
 * Opens an image for as long as something is done with it.
 *
 * @param name a reference, or `oci:DIR:TAG` and the like
 * @throws PipelineError `not-found` when there is no such image, and what a registry may throw
 */
export async function withImage<T>(
  name: string,
  { directory, registry: registryOf }: Pick<Rendering, 'directory' | 'registry'>,
  use: (image: OpenImage) => Promise<T>,
): Promise<T> {
  const place = locationFrom(directory, parseLocation(name));
  const host = place.kind === 'registry' ? place.reference.registry : '';
  const source = await openSource(place, await registryOf(host));
  try {
    return await use(await openImage(source, name));
  } finally {
    await source.close();
  }
}

/** Opens an image whose place is open. @throws PipelineError as {@link withImage} */
export async function openImage(
  { registry, reference }: Pick<Source, 'registry' | 'reference'>,
  name: string,
): Promise<OpenImage> {
  const root = await manifestAt(registry, reference, name);
  const manifest = await platformManifest(root.parsed, { registry, reference, name });
  const config = await configOf(registry, reference, manifest.config);
  const fetches = manifest.layers.map(
    (layer): Fetch => ({
      size: layer.size,
      open: () => registry.getBlob(reference, layer),
    }),
  );
  const layersIn = (folder: string): Fetch[] => {
    const holds = layersFor(config['history'], fetches.length, `/${folder}`);
    return fetches.filter((_, i) => holds[i]);
  };
  return {
    labels: labelsIn(config),
    digest: root.digest,
    hasServer: startsProgram(config),
    size: manifest.layers.reduce((sum, layer) => sum + layer.size, 0),
    unpack: (wanted, use, { within = '', limits = TREE_LIMITS } = {}) =>
      withUnpacked(readAhead(layersIn(within)), { wanted, limits }, use),
    unpackFolder: (folder, allLayers = false) =>
      treeOf(readAhead(allLayers ? fetches : layersIn(folder)), {
        wanted: (path) => folder === '' || path === folder || path.startsWith(`${folder}/`),
      }),
  };
}

/** Go's names of what Node calls otherwise. */
const ARCHITECTURES: ReadonlyMap<string, string> = new Map([
  ['x64', 'amd64'],
  ['ppc64', 'ppc64le'],
]);

/**
 * The manifest for Linux on this machine's architecture. Of a list without one: the first that names no platform, which
 * containers/image takes for any, or else the first for Linux.
 */
async function platformManifest(
  parsed: ImageManifest | ManifestList,
  { registry, reference, name }: Pick<Source, 'registry' | 'reference'> & { readonly name: string },
): Promise<ImageManifest> {
  if (parsed.kind === 'image') return parsed;
  const own = ARCHITECTURES.get(arch()) ?? arch();
  const linux = parsed.manifests.filter(({ platform }) => platform?.os === 'linux');
  const ofOwn = linux.filter(({ platform }) => platform?.architecture === own);
  const chosen =
    // A variant may need more than this machine has: containers/image takes the one without.
    ofOwn.find(({ platform }) => platform?.variant === undefined) ??
    ofOwn[0] ??
    parsed.manifests.find(
      ({ platform, artifactType }) => platform === undefined && artifactType === undefined,
    ) ??
    linux[0];
  const image = chosen && (await manifestAt(registry, withDigest(reference, chosen.digest), name)).parsed;
  if (image?.kind === 'image') return image;
  throw new PipelineError('bad-answer', `${name} is a manifest list without an image for Linux`);
}

/** The manifest that a reference names, parsed. @throws PipelineError `not-found`, `bad-answer` */
async function manifestAt(
  registry: Registry,
  reference: Reference,
  name: string,
): Promise<{ readonly digest: string; readonly parsed: ImageManifest | ManifestList }> {
  const manifest = await registry.getManifest(reference);
  if (manifest) return { digest: manifest.digest, parsed: parseManifest(manifest) };
  // A layout has no registry: the image is named as somebody wrote it.
  const written = reference.registry === '' ? name : formatReference(reference);
  throw new PipelineError('not-found', `image ${written} not found`);
}

/** Most bytes of an image's configuration. */
const LARGEST_CONFIG = 8 * 1024 * 1024;

/** The configuration of an image. @throws PipelineError `too-large`, `bad-answer` */
async function configOf(
  registry: Registry,
  reference: Reference,
  config: Descriptor,
): Promise<Readonly<Record<string, unknown>>> {
  if (config.size > LARGEST_CONFIG) {
    throw new PipelineError('too-large', `the image's configuration has ${config.size} bytes`);
  }
  return parsedObject(await allOf(registry.getBlob(reference, config)));
}

/** The labels in an image's configuration. */
function labelsIn(config: Readonly<Record<string, unknown>>): Map<string, string> {
  const inner = isObject(config['config']) ? config['config'] : {};
  const labels = isObject(inner['Labels']) ? inner['Labels'] : {};
  return new Map(
    Object.entries(labels).flatMap(([key, value]) => (typeof value === 'string' ? [[key, value]] : [])),
  );
}

/** Whether a container of an image has something to start. */
function startsProgram(config: Readonly<Record<string, unknown>>): boolean {
  const inner = isObject(config['config']) ? config['config'] : {};
  return [inner['Entrypoint'], inner['Cmd']].some((words) => Array.isArray(words) && words.length > 0);
}

/**
 * A JSON object; an empty one for other JSON. The specification lets a configuration be of any type, so one that is not an
 * object has no fields; one that is not JSON is broken.
 */
function parsedObject(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const json: unknown = parseJson(bytes);
    return isObject(json) ? json : {};
  } catch (error) {
    throw new PipelineError('bad-answer', "the image's configuration is not valid JSON", { cause: error });
  }
}

/** Unpacks layers for as long as their files are used. */
async function withUnpacked<T>(
  layers: readonly AsyncIterable<Uint8Array>[],
  options: Omit<TreeOptions, 'scratch'>,
  use: (tree: ImageTree) => Promise<T>,
): Promise<T> {
  const tree = await treeOf(layers, options);
  try {
    return await use(tree);
  } finally {
    tree.close();
  }
}

/** A tree that removes its folder when it is closed. */
async function treeOf(
  layers: readonly AsyncIterable<Uint8Array>[],
  options: Omit<TreeOptions, 'scratch'>,
): Promise<ImageTree> {
  const scratch = scratchFolder();
  const remove = (): void => rmSync(scratch, { recursive: true, force: true });
  try {
    const tree = await readTree(layers, { scratch, ...options });
    const close = (): void => {
      tree.close();
      remove();
    };
    return { ...tree, close };
  } catch (error) {
    remove();
    throw error;
  }
}

/** A new temporary folder for the files of layers. @throws PipelineError `io` */
function scratchFolder(): string {
  return withFileErrors(tmpdir(), () => temporaryFolder('files'));
}

interface Fetch {
  /** In bytes. */
  readonly size: number;
  open(): AsyncIterable<Uint8Array>;
}

/** Streams that are fetched ahead of the one that is read. */
const AHEAD = 8;
/** Bytes of a stream that is fetched ahead, at most: it stays in memory until its turn. */
const SMALL = 4 * 1024 * 1024;

/** The streams in their order. While one is read, the next small ones are fetched. */
function readAhead(fetches: readonly Fetch[]): readonly AsyncIterable<Uint8Array>[] {
  const started = new Map<number, Promise<readonly Uint8Array[]>>();
  const start = (i: number): void => {
    const fetch = fetches[i];
    if (!fetch || fetch.size > SMALL || started.has(i)) return;
    const chunks = collect(fetch);
    // A failure is thrown to who reads the stream. When an earlier stream fails, nobody does, and an unhandled
    // rejection would end the program.
    chunks.catch(() => undefined);
    started.set(i, chunks);
  };
  const read = async function* (fetch: Fetch, i: number): AsyncGenerator<Uint8Array> {
    for (let next = i; next < i + AHEAD; next++) start(next);
    const chunks = started.get(i);
    if (!chunks) {
      yield* fetch.open();
      return;
    }
    yield* await chunks;
    started.delete(i);
  };
  return fetches.map((fetch, i) => read(fetch, i));
}

/** The whole content of a small layer in memory, so that it is fetched while others are unpacked. */
async function collect(fetch: Fetch): Promise<readonly Uint8Array[]> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of fetch.open()) chunks.push(chunk);
  return chunks;
}

// Which layers of an index image can hold its catalog: what the image's history says of each
// layer tells those apart that only bring a server or a cache.
//
// The history is the builder's word, not a proof. What it does not clearly place elsewhere is
// read.
//
// @see https://github.com/opencontainers/image-spec/blob/main/config.md

/**
 * For each layer, the lowest first, whether it may hold something below a folder.
 *
 * @param history of the image's configuration, as it stands there
 * @param count how many layers the image has
 * @param folder with a slash before it, such as `/configs`
 */
export function layersFor(history: unknown, count: number, folder: string): readonly boolean[] {
  if (folder === '/') return new Array<boolean>(count).fill(true);
  const steps = stepsOf(history, count);
  // The lowest of Portolan's layers takes away what its base has of a catalog, so those below its own hold none. Those
  // above its own are of another build, and count as everywhere.
  const lowest = steps.findIndex(isOurs);
  return steps.map((step, at) => {
    // Portolan writes the folder of its layer behind its name.
    if (isOurs(step)) return overlap(step.split(' ', 2)[1] ?? '', folder);
    if (at < lowest) return false;
    const destination = copiedTo(step);
    return destination === undefined || overlap(destination, folder);
  });
}

/** Whether Portolan made a layer. */
function isOurs(step: string): boolean {
  return step.startsWith(`${MADE_BY} /`);
}

/** What made each layer; the empty string where the history does not say. */
function stepsOf(history: unknown, count: number): readonly string[] {
  const made = (Array.isArray(history) ? history : [])
    .filter((step) => !isObject(step) || step['empty_layer'] !== true)
    .map((step) => (isObject(step) && typeof step['created_by'] === 'string' ? step['created_by'] : ''));
  if (made.length === count) return made;
  // The history of a base may have gaps, so the steps do not tell which layer is whose. Steps at the end are those of
  // the top layers all the same; only Portolan's own are trusted there, and only if all of its steps are at the end.
  const top = made.slice(made.findLastIndex((step) => !isOurs(step)) + 1).slice(-count);
  const own = made.filter(isOurs).length > top.length ? [] : top;
  return [...new Array<string>(count - own.length).fill(''), ...own];
}

/**
 * Where a COPY or ADD of a Dockerfile puts things; undefined when it is not such a step, or not clear: quotes, lists, escapes
 * and variables are not followed.
 */
function copiedTo(step: string): string | undefined {
  const said = step
    .trimEnd()
    .replace(/ # buildkit$/, '')
    .trimEnd();
  const [, words = ''] = /^(?:\/bin\/sh -c #\(nop\) +)?(?:COPY|ADD) ([^[\]"'\\]*)$/.exec(said) ?? [];
  const destination = words.slice(words.lastIndexOf(' ') + 1);
  return /^\/[^$]*$/.test(destination) && !destination.includes('..') ? destination : undefined;
}

/** Whether one of two folders is the other, or above it. */
function overlap(a: string, b: string): boolean {
  // With a slash at its end, `/configs` is not above `/configs-old`.
  const withSlashes = (path: string): string =>
    ['', ...path.split('/').filter((part) => part !== ''), ''].join('/');
  const one = withSlashes(a);
  const other = withSlashes(b);
  return one.startsWith(other) || other.startsWith(one);
}

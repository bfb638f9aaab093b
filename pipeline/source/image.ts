/**
 * An index image as the source of a catalog. Only the layers that can hold the catalog are
 * fetched: the server, and the cache, which is most of an image, stay where they are.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Reference, withDigest } from '../../catalog/reference.ts';
import { isObject } from '../../catalog/shape.ts';
import type { CatalogSource, SourceFile } from '../../catalog/source.ts';
import { fileError } from '../directory.ts';
import { PipelineError } from '../error.ts';
import { CONFIGS_LABEL } from '../image/base.ts';
import { type ImageEntry, type ImageTree, readTree } from '../image/tree.ts';
import type { Descriptor, Manifest } from '../ports.ts';
import { type ImageManifest, parseManifest } from '../registry/image.ts';
import type { Source } from '../registry/open.ts';
import { allOf } from '../registry/stream.ts';
import { readAhead } from './ahead.ts';
import { layersFor } from './history.ts';

export interface ImageCatalog {
  readonly source: CatalogSource;
  /** Of what the reference names: the manifest list where there is one. */
  readonly digest: string;
  /** Removes what was unpacked. */
  close(): void;
}

export interface ImageCatalogOptions {
  /** What the image is called, for messages. */
  readonly name: string;
  /** Whether layers are fetched too which the image's history places elsewhere. */
  readonly allLayers?: boolean;
}

/** Bytes of a configuration at most. */
const LARGEST_CONFIG = 4 * 1024 * 1024;
const DATABASE_LABEL = 'operators.operatorframework.io.index.database.v1';

/**
 * @throws PipelineError `not-found`, `usage` for an image that is no index image, `corrupt`,
 *   `too-large`, `io`, and whatever the registry answers
 */
export async function openImageCatalog(
  from: Pick<Source, 'registry' | 'reference'>,
  { name, allLayers = false }: ImageCatalogOptions,
): Promise<ImageCatalog> {
  const { registry, reference } = from;
  const root = await manifestOf(from, reference, name);
  const image = await imageOf(from, root, name);
  const config = await configOf(from, image.config, name);
  const folder = catalogFolder(config, name);
  const holds = allLayers
    ? image.layers.map(() => true)
    : layersFor(config['history'], image.layers.length, `/${folder}`);
  const wanted = image.layers.filter((_, i) => holds[i]);
  const streams = readAhead(
    wanted.map((layer) => ({ size: layer.size, open: () => registry.getBlob(reference, layer) })),
  );
  const scratch = scratchFolder();
  const below = (path: string): boolean => folder === '' || path === folder || path.startsWith(`${folder}/`);
  try {
    const tree = await readTree(streams, { scratch, wanted: below });
    const close = (): void => {
      tree.close();
      rmSync(scratch, { recursive: true, force: true });
    };
    return { source: treeSource(tree, folder), digest: root.digest, close };
  } catch (error) {
    rmSync(scratch, { recursive: true, force: true });
    throw error;
  }
}

type From = Pick<Source, 'registry' | 'reference'>;

async function manifestOf({ registry }: From, reference: Reference, name: string): Promise<Manifest> {
  const manifest = await registry.getManifest(reference);
  if (manifest) return manifest;
  throw new PipelineError('not-found', `there is no image ${name}`);
}

/** The image itself, or the one of a list for the platform that most nodes have: the catalog is the same in all. */
async function imageOf(from: From, root: Manifest, name: string): Promise<ImageManifest> {
  const parsed = parseManifest(root);
  if (parsed.kind === 'image') return parsed;
  const runnable = parsed.manifests.filter(({ platform }) => platform?.os !== 'unknown');
  const usual = runnable.find(
    ({ platform }) => platform?.os === 'linux' && platform.architecture === 'amd64',
  );
  const chosen = usual ?? runnable[0];
  if (!chosen) throw new PipelineError('usage', `${name} is a list of no images`);
  const manifest = await manifestOf(from, withDigest(from.reference, chosen.digest), name);
  const image = parseManifest(manifest);
  if (image.kind === 'image') return image;
  throw new PipelineError('bad-answer', `${name} is a list of lists`);
}

async function configOf(
  { registry, reference }: From,
  config: Descriptor,
  name: string,
): Promise<Readonly<Record<string, unknown>>> {
  if (config.size > LARGEST_CONFIG) {
    throw new PipelineError('too-large', `the configuration of ${name} has ${config.size} bytes`);
  }
  const bytes = await allOf(registry.getBlob(reference, config));
  try {
    const json: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    if (isObject(json)) return json;
  } catch {}
  throw new PipelineError('bad-answer', `the configuration of ${name} is no JSON object`);
}

/** Where the image says that its catalog is, without slashes around it. */
function catalogFolder(config: Readonly<Record<string, unknown>>, name: string): string {
  const inner = isObject(config['config']) ? config['config'] : {};
  const labels = isObject(inner['Labels']) ? inner['Labels'] : {};
  const folder = Object.hasOwn(labels, CONFIGS_LABEL) ? labels[CONFIGS_LABEL] : undefined;
  if (typeof folder === 'string') {
    const parts = folder.split('/').filter((part) => part !== '' && part !== '.');
    if (!parts.includes('..')) return parts.join('/');
    throw new PipelineError('usage', `${name} says that its catalog is in ${JSON.stringify(folder)}`);
  }
  const isDatabase = Object.hasOwn(labels, DATABASE_LABEL);
  throw new PipelineError(
    'usage',
    isDatabase
      ? `${name} holds its catalog as a database, which nothing supports any more`
      : `${name} is no index image: it has no label ${CONFIGS_LABEL}`,
    isDatabase ? { hint: 'migrate it with an opm before 1.61: opm migrate' } : {},
  );
}

function scratchFolder(): string {
  try {
    return mkdtempSync(join(tmpdir(), 'portolan-image-'));
  } catch (error) {
    throw fileError(error, tmpdir());
  }
}

function treeSource(tree: ImageTree, folder: string): CatalogSource {
  const start = folder === '' ? 0 : folder.length + 1;
  const files = [...tree.entries].flatMap(([path, entry]): SourceFile[] => {
    if (entry.kind === 'directory' || path.length < start) return [];
    const found = entry.kind === 'link' ? followed(tree, path) : entry;
    const unreadable = found?.kind === 'file' ? undefined : 'a link to no file of the catalog';
    return [
      {
        path: path.slice(start),
        ...(unreadable === undefined ? {} : { unreadable }),
        read: () => (found ? tree.read(found) : new Uint8Array()),
      },
    ];
  });
  return { files: () => Promise.resolve(files) };
}

/** Links that lead to links, at most. */
const MOST_LINKS = 40;

/** What a link leads to, as far as it stays among what was unpacked. */
function followed(tree: ImageTree, start: string): ImageEntry | undefined {
  let path = start;
  for (let i = 0; i < MOST_LINKS; i++) {
    const entry = tree.entries.get(path);
    if (entry?.kind !== 'link') return entry;
    const target = entry.target ?? '';
    path = new URL(target, `file:///${path.split('/').map(encodeURIComponent).join('/')}`).pathname;
  }
  return undefined;
}

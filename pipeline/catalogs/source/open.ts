/** A catalog by what somebody typed: a directory, an index image in a registry, a layout or an archive. */
import { type Stats, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Reference } from '../../../catalog/reference.ts';
import type { CatalogSource } from '../../../catalog/source.ts';
import { directorySource, readFileBytes, withFileErrors } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import { CONFIGS_LABEL } from '../../oci/image/base.ts';
import type { ImageTree } from '../../oci/image/tree.ts';
import {
  formatLocation,
  type ImageLocation,
  imagePlace,
  locationFrom,
} from '../../oci/registry/image-location.ts';
import { openSource } from '../../oci/registry/open.ts';
import type { Registry } from '../../ports.ts';
import { formOfFile, formOfImage } from '../forms.ts';
import {
  CATALOG_BYTES,
  fileIn,
  folderInImage,
  holdsFolder,
  treeSource,
  unknownImage,
} from '../render/image.ts';
import { type OpenImage, openImage } from '../render/open-image.ts';

export interface OpenCatalog {
  readonly source: CatalogSource;
  /** What it is called, for messages. */
  readonly name: string;
  /** For catalogs out of images: the reference within its registry, the digest that it named, and whether it can serve. */
  readonly image?: { readonly reference: Reference; readonly digest: string; readonly hasServer: boolean };
  /** Must be called when nothing more is read. */
  close(): Promise<void>;
}

interface OpenOptions {
  /** The directory that relative paths start from. */
  readonly directory: string;
  /** Called for images only, with the host of their registry if they are in one. */
  readonly registry: (host: string | undefined) => Registry;
  /** Whether layers are fetched too which the image's history places elsewhere. */
  readonly allLayers?: boolean;
}

/**
 * Opens a catalog: `DIR`, `FILE.db` (a database of SQLite), `REGISTRY/REPOSITORY[:TAG|@DIGEST]`, `oci:DIR[:TAG]`,
 * `oci-archive:FILE` or `docker-archive:FILE`.
 *
 * @throws PipelineError `not-found`, `usage`, `io`, and as `openImage` and `catalogFilesOf`
 */
export async function openCatalog(text: string, options: OpenOptions): Promise<OpenCatalog> {
  const path = resolve(options.directory, text);
  const form = statOf(path)?.isFile() ? formOfFile(path) : undefined;
  if (form) {
    const source = await form.source(readFileBytes(path), text);
    return { source, name: text, close: async () => undefined };
  }
  const place = catalogPlace(text, options.directory);
  if (place === undefined) {
    return { source: directorySource(path), name: text, close: async () => undefined };
  }
  return openPlace(place, options);
}

/** Opens the catalog of an index image. @throws PipelineError as `openImage` and `catalogFilesOf` */
async function openPlace(
  place: ImageLocation,
  { directory, registry, allLayers = false }: OpenOptions,
): Promise<OpenCatalog> {
  const name = formatLocation(place);
  const opened = await openSource(
    locationFrom(directory, place),
    registry(place.kind === 'registry' ? place.reference.registry : undefined),
  );
  try {
    const image = await openImage(opened, name);
    const files = await catalogFilesOf(image, { name, allLayers });
    return {
      source: files.source,
      name,
      image: { reference: opened.reference, digest: image.digest, hasServer: image.hasServer },
      close: async () => {
        files.close();
        await opened.close();
      },
    };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/**
 * What was typed as a place of images; undefined when it is a directory.
 *
 * @throws PipelineError `not-found` or `usage` when it is neither
 */
function catalogPlace(text: string, directory: string): ImageLocation | undefined {
  const path = resolve(directory, text);
  const found = statOf(path);
  if (found?.isDirectory()) return undefined;
  if (found) throw new PipelineError('usage', `${text} is a file; use its directory`);
  return imagePlace(text);
}

/** What is at a path; undefined for nothing. @throws PipelineError `io`, such as for who may not look there */
function statOf(path: string): Stats | undefined {
  return withFileErrors(path, () => statSync(path, { throwIfNoEntry: false }));
}

// The catalog of an index image. Only the layers that can hold it are fetched: the server, and the cache,
// which is most of an image, stay where they are.

/** The catalog's files; the tree must be closed. */
interface CatalogTree {
  readonly files: ImageTree;
  /** Where the catalog is in them, without a slash before it. */
  readonly folder: string;
}

/** The files of a catalog until they are closed. */
interface CatalogFiles {
  readonly source: CatalogSource;
  readonly close: () => void;
}

/**
 * The catalog of an index image, whether it holds files or another form.
 *
 * @throws PipelineError as {@link catalogTree}, and as `CatalogForm.source`
 */
async function catalogFilesOf(
  image: OpenImage,
  options: { readonly name: string; readonly allLayers: boolean },
): Promise<CatalogFiles> {
  const other = formOfImage(image.labels);
  if (other) {
    const bytes = await fileIn(options.name, image, other);
    return { source: await other.form.source(bytes, options.name), close: () => undefined };
  }
  const { files, folder } = await catalogTree(image, options);
  try {
    return { source: treeSource(files, folder, CATALOG_BYTES), close: () => files.close() };
  } catch (error) {
    files.close();
    throw error;
  }
}

/**
 * Unpacks the catalog of an index image.
 *
 * @param options.name what the image is called, for messages
 * @param options.allLayers whether layers are fetched too which the image's history places elsewhere
 * @throws PipelineError `usage` for an image that is none, `not-found` when its label names no folder
 */
async function catalogTree(
  { labels, unpackFolder }: OpenImage,
  { name, allLayers }: { readonly name: string; readonly allLayers: boolean },
): Promise<CatalogTree> {
  const configs = labels.get(CONFIGS_LABEL);
  if (configs === undefined) throw unknownImage(name, labels);
  const folder = folderInImage(configs);
  const files = await unpackFolder(folder, allLayers);
  if (holdsFolder(files, folder)) return { files, folder };
  files.close();
  throw new PipelineError('not-found', `${name} has no directory /${folder}, which its label declares`);
}

/** Images as blobs, by what their labels say that they hold. */
import { posix } from 'node:path';
import { readBundle } from '../../../catalog/bundle/registry-bundle.ts';
import { renderBundle } from '../../../catalog/bundle/render.ts';
import { IGNORE_FILE } from '../../../catalog/fbc/ignore.ts';
import { DEFAULT_LIMITS, type Loaded, load } from '../../../catalog/fbc/load.ts';
import type { Bundle } from '../../../catalog/fbc/model.ts';
import type { CatalogSource, SourceFile } from '../../../catalog/source.ts';
import { PipelineError } from '../../error.ts';
import { CONFIGS_LABEL } from '../../oci/image/base.ts';
import { type ImageEntry, type ImageTree, TREE_LIMITS, type TreeLimits } from '../../oci/image/tree.ts';
import type { CatalogForm } from '../catalog-form.ts';
import { formOfImage } from '../forms.ts';
import { loadBundle, migratedIfAsked, migrateLevel, type Rendering } from './load.ts';
import { type OpenImage, withImage } from './open-image.ts';

/** The label by which an image is known to be a bundle. */
const PACKAGE_LABEL = 'operators.operatorframework.io.bundle.package.v1';

/**
 * Renders an index image or a bundle image.
 *
 * @param name a reference, or `oci:DIR:TAG` and the like
 * @throws PipelineError `not-found`, or `usage` for an image that holds nothing to render
 */
export async function renderImage(name: string, options: Rendering): Promise<Loaded> {
  return withImage(name, options, async (image) => {
    const other = formOfImage(image.labels);
    const configs = image.labels.get(CONFIGS_LABEL);
    if (other || configs !== undefined) {
      if (options.only === 'bundles')
        throw new PipelineError('usage', `${name} is an index image, not a bundle`);
      // An image with both is read by its other form, as opm reads it.
      const loaded =
        other === undefined
          ? await readIndexImage(name, image, {
              configs: configs ?? '',
              // Bundles are migrated when all are read: `each` would see them before that.
              each: options.migrates ? undefined : options.each,
              parses: options.parses,
            })
          : await other.form.load(await fileIn(name, image, other), name);
      return migratedIfAsked(loaded, options);
    }
    if (!image.labels.has(PACKAGE_LABEL)) throw unknownImage(name, image.labels);
    if (options.only === 'catalogs')
      throw new PipelineError('usage', `${name} is a bundle, not an index image`);
    return unpackBundle(image, (source) => loadBundle(source, options, { image: name }));
  });
}

/** A bundle's image: its blob, and the ClusterServiceVersion that it was made from. */
interface BundleImage {
  readonly bundle: Bundle;
  readonly csv: Readonly<Record<string, unknown>>;
}

/**
 * Renders the image of a bundle.
 *
 * @throws PipelineError `not-found`, or `usage` for an image that is not a bundle or a broken one
 */
export async function renderBundleImage(name: string, options: Rendering): Promise<BundleImage> {
  return withImage(name, options, async (image) => {
    // opm reads an image with both labels as an index image.
    if (image.labels.has(CONFIGS_LABEL))
      throw new PipelineError('usage', `${name} is an index image, not a bundle`);
    if (!image.labels.has(PACKAGE_LABEL))
      throw new PipelineError('usage', `${name} is not a bundle: it has no label ${PACKAGE_LABEL}`);
    return unpackBundle(image, async (source) => {
      const read = await readBundle(source);
      const level = migrateLevel(options.migrates ?? false);
      const rendered = read.bundle && renderBundle(read.bundle, { image: name, migrateLevel: level });
      const [finding] = [...read.findings, ...(rendered?.findings ?? [])];
      if (read.bundle && rendered?.blob) return { bundle: rendered.blob, csv: read.bundle.csv.value };
      const { file = '', line = 1 } = finding?.location ?? {};
      throw new PipelineError('usage', `${name}: ${file}:${line}: ${finding?.message ?? 'no bundle'}`);
    });
  });
}

/**
 * What is larger was made to exhaust whoever reads it: Kubernetes takes objects of 1.5 MiB, and OLM v0 unpacks a bundle into
 * a ConfigMap of 1 MiB, compressed. The text of a manifest and what is made of it take several times as much memory.
 */
const BUNDLE_LIMITS: TreeLimits = {
  bytes: 256 * 2 ** 20,
  layerBytes: 256 * 2 ** 20,
  fileBytes: 8 * 2 ** 20,
  entries: 100_000,
};

/** Bytes of all manifests of a bundle at most. */
const MANIFEST_BYTES = 32 * 2 ** 20;

/**
 * Calls `use` with the files of a bundle's image.
 *
 * @throws PipelineError `too-large`, before anything is fetched where the manifest says so
 */
export async function unpackBundle<T>(
  { unpack, size }: Pick<OpenImage, 'unpack' | 'size'>,
  use: (source: CatalogSource) => Promise<T>,
): Promise<T> {
  if (size > BUNDLE_LIMITS.bytes) {
    const message = `the layers of the bundle have ${size} bytes, the limit is ${BUNDLE_LIMITS.bytes}`;
    throw new PipelineError('too-large', message);
  }
  return unpack(
    (path) => /^(?:manifests|metadata)\//.test(path),
    (tree) => use(treeSource(tree, '', MANIFEST_BYTES)),
    { limits: BUNDLE_LIMITS },
  );
}

/** How the catalog of an index image is read; the last two as in `Rendering`. */
interface IndexReading {
  /** The folder that the image's label names. */
  readonly configs: string;
  readonly each: Rendering['each'];
  readonly parses: Rendering['parses'];
}

/** A source with only the files whose content `parses` accepts, and with ignore files. */
function partOf(source: CatalogSource, parses: (content: Uint8Array) => boolean): CatalogSource {
  return {
    files: async () => {
      const kept: SourceFile[] = [];
      for (const file of await source.files()) {
        const isAlways = file.unreadable !== undefined || posix.basename(file.path) === IGNORE_FILE;
        if (isAlways || parses(await file.read())) kept.push(file);
      }
      return kept;
    },
  };
}

/**
 * Reads the catalog in an unpacked index image.
 *
 * @throws PipelineError `not-found` if the labelled directory is not there
 */
function readIndexImage(
  name: string,
  { unpack }: OpenImage,
  { configs, each, parses }: IndexReading,
): Promise<Loaded> {
  const folder = folderInImage(configs);
  const isWanted = (path: string): boolean =>
    folder === '' || path.startsWith(`${folder}/`) || path === folder;
  const read = (tree: ImageTree): Promise<Loaded> => {
    if (!holdsFolder(tree, folder)) {
      throw new PipelineError('not-found', `${name} has no directory /${folder}, which its label declares`);
    }
    const source = treeSource(tree, folder, CATALOG_BYTES);
    return load(parses ? partOf(source, parses) : source, DEFAULT_LIMITS, each);
  };
  return unpack(isWanted, read, { within: folder });
}

/**
 * The bytes of the file that an index image's label names.
 *
 * @param path what the label says
 * @throws PipelineError `not-found`; `usage` for a file whose newest content is in one beside it; and as {@link withImage}
 */
export function fileIn(
  name: string,
  { unpack }: Pick<OpenImage, 'unpack'>,
  { form, path }: { readonly form: CatalogForm; readonly path: string },
): Promise<Uint8Array> {
  const wanted = posix.join('/', path).slice(1);
  return unpack(
    () => true,
    async (tree) => {
      const file = fileAt(tree, wanted);
      if (!file)
        throw new PipelineError('not-found', `${name} has no file /${wanted}, which its label declares`);
      const beside = form.changesBeside((ending) => {
        const entry = fileAt(tree, file.path + ending)?.entry;
        return entry ? tree.read({ ...entry, size: Math.min(entry.size, HEAD_BYTES) }) : new Uint8Array();
      });
      if (beside === undefined) return tree.read(file.entry);
      throw new PipelineError(
        'usage',
        `${name}: /${file.path} is not complete: /${file.path}${beside} has changes of it`,
        { hint: 'merge them into the database before you build the image' },
      );
    },
    // A database is read where it is, not as text.
    { limits: { ...TREE_LIMITS, fileBytes: 512 * 2 ** 20 } },
  );
}

/** Bytes by which files are told apart. */
const HEAD_BYTES = 16;

/** The path in an image of the folder that its label names, without a slash before or behind it: `configs` for `/configs/`. */
export function folderInImage(label: string): string {
  // Joined to the root, a label cannot lead out of the image.
  return posix.join('/', label).slice(1).replace(/\/$/, '');
}

/** Whether a folder is there; archives need not name folders. */
export function holdsFolder(tree: ImageTree, folder: string): boolean {
  if (folder === '' || tree.entries.get(folder)?.kind === 'directory') return true;
  return [...tree.entries.keys()].some((path) => path.startsWith(`${folder}/`));
}

/** The error for an image that is neither an index image nor a bundle. */
export function unknownImage(name: string, labels: ReadonlyMap<string, string>): PipelineError {
  const found = [...labels].map(([key, value]) => `${key}=${value}`).join(', ');
  return new PipelineError(
    'usage',
    `${name} is neither an index image nor a bundle: ${found === '' ? 'it has no labels' : `its labels are ${found}`}`,
  );
}

// A folder of an image as the source of a catalog or a bundle.

/** Links in an image may go round in circles. */
const MOST_LINKS = 40;

/** Bytes of all files of a catalog at most: the largest public one has a quarter of it. */
export const CATALOG_BYTES: number = 2 * 2 ** 30;

/**
 * Links are followed within the image, to files only.
 *
 * @param folder path in the image, without a slash before it; empty for all of the image
 * @param most bytes of its files at most; many links may lead to one file, which is read for each
 * @throws PipelineError `too-large`
 */
export function treeSource(tree: ImageTree, folder: string, most: number): CatalogSource {
  const prefix = folder === '' ? '' : `${folder}/`;
  const files: SourceFile[] = [];
  let size = 0;
  for (const [path, entry] of tree.entries) {
    if (!path.startsWith(prefix) || entry.kind === 'directory') continue;
    const content = fileAt(tree, path)?.entry;
    size += content?.size ?? 0;
    if (size > most)
      throw new PipelineError(
        'too-large',
        `the files of the image are larger than Portolan reads: the limit is ${most / 2 ** 20} MiB together`,
      );
    files.push({
      path: path.slice(prefix.length),
      ...(content
        ? {}
        : { unreadable: `a link to ${JSON.stringify(entry.target)}, which is not a file of the image` }),
      read: () => (content ? tree.read(content) : new Uint8Array()),
      ...(content ? { readPieces: () => tree.pieces(content) } : {}),
    });
  }
  return { files: () => Promise.resolve(files) };
}

/** The file at a path, or behind the links there; undefined if they lead to none, or in a circle. */
function fileAt(
  tree: Pick<ImageTree, 'entries'>,
  path: string,
): { readonly path: string; readonly entry: ImageEntry } | undefined {
  let at = path;
  for (let links = 0; links < MOST_LINKS; links++) {
    const entry = tree.entries.get(at);
    if (entry?.kind !== 'link') return entry?.kind === 'file' ? { path: at, entry } : undefined;
    const target = entry.target ?? '';
    const base = target.startsWith('/') ? '' : posix.dirname(at);
    // Joined to the root, a path cannot lead out of it.
    at = posix.join('/', base, target).slice(1);
  }
  return undefined;
}

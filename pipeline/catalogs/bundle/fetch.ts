/** Bundle images of catalogs as directories `PACKAGE/VERSION`, each digest fetched once. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Bundle } from '../../../catalog/fbc/model.ts';
import type { CatalogSource } from '../../../catalog/source.ts';
import { formatVersion } from '../../../catalog/version/version.ts';
import { refuseLinkOut, withFileErrors } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import { readRegular } from '../../file-pieces.ts';
import { unpackBundle } from '../render/image.ts';
import type { Rendering } from '../render/load.ts';
import { withImage } from '../render/open-image.ts';

interface Fetched {
  readonly fetched: number;
  /** What was there already. */
  readonly kept: number;
  readonly failed: readonly { readonly bundle: Bundle; readonly why: string }[];
}

/** Images at a time. */
const AT_A_TIME = 8;

/** The file in a bundle's directory that names the image it is from. */
const MARK = '.image';

/**
 * Fetches bundles, each into its folder. A bundle that a registry does not give is listed in `failed`, and the others
 * are fetched all the same; a disk that cannot be written would fail for all of them, so that ends it.
 *
 * @throws PipelineError `io`
 */
export async function fetchBundles(
  bundles: readonly Bundle[],
  root: string,
  access: Pick<Rendering, 'directory' | 'registry'>,
): Promise<Fetched> {
  const failed: { bundle: Bundle; why: string }[] = [];
  let [fetched, kept] = [0, 0];
  // One iterator for all workers: each takes the next bundle from it.
  const queue = bundles.values();
  const worker = async (): Promise<void> => {
    for (const bundle of queue) {
      try {
        if (await fetchBundle(bundle, root, access)) fetched++;
        else kept++;
      } catch (error) {
        if (!(error instanceof PipelineError) || error.code === 'io') throw error;
        failed.push({ bundle, why: error.message });
      }
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, worker));
  return { fetched, kept, failed };
}

/**
 * Fetches a bundle's image into a directory, unless it is there already. The mark is written last, so a folder that was
 * not finished is fetched again.
 *
 * @returns whether it was fetched
 */
async function fetchBundle(
  bundle: Bundle,
  root: string,
  access: Pick<Rendering, 'directory' | 'registry'>,
): Promise<boolean> {
  const folder = join(
    root,
    safeName(bundle.package),
    safeName(bundle.version ? formatVersion(bundle.version) : bundle.name),
  );
  const mark = join(folder, MARK);
  const isThere = existsSync(mark) && readRegular(mark).toString('utf8') === bundle.image;
  // A tag may name another image by now.
  if (isThere && bundle.image.includes('@')) return false;
  // Catalogs name images in registries: without the scheme, a name could also be read as a path of this machine.
  await withImage(`docker://${bundle.image}`, access, (image) =>
    unpackBundle(image, (source) => writeBundle(source, folder)),
  );
  write(mark, bundle.image);
  return true;
}

/** A name as a folder. It comes from a catalog that anybody may have written. */
function safeName(name: string): string {
  if (/^[A-Za-z0-9][\w.+-]*$/.test(name)) return name;
  throw new PipelineError('usage', `${JSON.stringify(name)} is not a valid folder name`);
}

/** Only what stands in the two folders themselves is of the bundle. */
const OF_BUNDLE = /^(?:manifests|metadata)\/[^/\0]+$/;

/** Replaces a folder by the files of a bundle. What cannot be read, such as a link to a directory, opm does not read either. */
async function writeBundle(source: CatalogSource, folder: string): Promise<void> {
  refuseLinkOut(folder);
  rmSync(folder, { recursive: true, force: true });
  for (const part of ['manifests', 'metadata']) make(join(folder, part));
  for (const file of await source.files()) {
    if (OF_BUNDLE.test(file.path) && file.unreadable === undefined)
      write(join(folder, file.path), await file.read());
  }
}

/** Makes a folder with those above it. @throws PipelineError `io` */
function make(path: string): void {
  withFileErrors(path, () => mkdirSync(path, { recursive: true }));
}

/** Writes a file. @throws PipelineError `io`, which ends the whole fetch */
function write(path: string, content: string | Uint8Array): void {
  withFileErrors(path, () => writeFileSync(path, content));
}

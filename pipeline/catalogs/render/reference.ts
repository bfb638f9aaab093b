/**
 * What stands behind a reference, as blobs: a directory or an image, with a catalog or a bundle.
 *
 * @see https://github.com/operator-framework/operator-registry/blob/master/alpha/action/render.go
 */
import { lstatSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Loaded } from '../../../catalog/fbc/load.ts';
import { directorySource, isDirectory, readFileBytes } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import { loadBundle, loadCatalog, migratedIfAsked, type Rendering } from './load.ts';

/**
 * Reads a directory or a database that exists, and an image otherwise.
 *
 * @throws PipelineError `not-found` or `usage` when there is nothing that could be rendered
 */
export async function renderReference(reference: string, options: Rendering): Promise<Loaded> {
  if (reference === '') throw new PipelineError('usage', 'a reference is empty');
  const path = resolve(options.directory, reference);
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) {
    // Only who names an image loads registries and images.
    const { renderImage } = await import('./image.ts');
    return renderImage(reference, options);
  }
  if (!found.isDirectory()) return renderFile(reference, path, options);
  const bundle = isBundle(path);
  if (options.only === 'bundles')
    throw new PipelineError('usage', `${reference} is a directory, not an image`);
  if (bundle && options.only === 'catalogs') {
    throw new PipelineError('usage', `${reference} is a bundle, not a catalog`);
  }
  const { imageTemplate } = options;
  if (bundle) return loadBundle(directorySource(path), options, imageTemplate ? { imageTemplate } : {});
  return loadCatalog(directorySource(path), options);
}

/** The directory with a catalog that a reference names; undefined for anything else. */
export function catalogDirectory(
  reference: string,
  { directory, only }: Pick<Rendering, 'directory' | 'only'>,
): string | undefined {
  const path = resolve(directory, reference);
  const isCatalog = reference !== '' && only !== 'bundles' && isDirectory(path) && !isBundle(path);
  return isCatalog ? path : undefined;
}

/** A file that is a catalog by itself. */
async function renderFile(reference: string, path: string, options: Rendering): Promise<Loaded> {
  const { formOfFile } = await import('../forms.ts');
  const form = formOfFile(path);
  if (!form) throw new PipelineError('usage', `${reference} is neither a directory nor a database`);
  if (options.only === 'bundles')
    throw new PipelineError('usage', `${reference} is a ${form.noun}, not an image`);
  return migratedIfAsked(await form.load(readFileBytes(path), reference), options);
}

/** opm takes a directory for a bundle by the two directories in it. */
function isBundle(path: string): boolean {
  const isFolder = (name: string): boolean =>
    lstatSync(join(path, name), { throwIfNoEntry: false })?.isDirectory() ?? false;
  // By `lstat`: a link to a directory does not count.
  return isFolder('manifests') && isFolder('metadata');
}

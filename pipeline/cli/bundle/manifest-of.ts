/** Manifests that people name on the command line. One that is too large is an error: to leave it out would pass it. */
import { join } from 'node:path';
import { type ManifestFile, readManifestFile, TOO_LARGE } from '../../../catalog/bundle/manifest.ts';
import { readBundleFile } from '../../../catalog/bundle/read.ts';
import { LARGEST_DOCUMENT, type SourceFile } from '../../../catalog/source.ts';
import { readFileBytes } from '../../directory.ts';
import { PipelineError } from '../../error.ts';

/**
 * A file of a folder of manifests.
 *
 * @returns undefined for a link, a pipe, and a large file that is not a manifest by its name, such as a picture
 * @throws PipelineError `too-large`
 */
export async function manifestOf(file: SourceFile, folder: string): Promise<ManifestFile | undefined> {
  const read = await readBundleFile(file);
  if (typeof read !== 'string') return read;
  if (read !== TOO_LARGE || !/\.(?:ya?ml|json)$/.test(file.path)) return undefined;
  throw tooLarge(join(folder, file.path));
}

/** A file that is named itself. @throws PipelineError `not-found`, `io`, `too-large` */
export function namedManifest(path: string): ManifestFile {
  const bytes = readFileBytes(path);
  if (bytes.length > LARGEST_DOCUMENT) throw tooLarge(path);
  return readManifestFile(path, bytes);
}

/** The error for a manifest that is too large to be read. */
function tooLarge(path: string): PipelineError {
  return new PipelineError('too-large', `${path} is ${TOO_LARGE}`);
}

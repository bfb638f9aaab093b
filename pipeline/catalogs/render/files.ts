/** Blobs as files: all in one, or a folder for each package. */
import { existsSync, mkdirSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, posix } from 'node:path';
import type { Blobs } from '../../../catalog/fbc/model.ts';
import { type RenderFormat, renderGroups } from '../../../catalog/fbc/render.ts';
import { entriesIn, refuseLinkOut, withFileErrors } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import { writeFiles } from '../../write.ts';
import { textOf } from '../write-blobs.ts';

/**
 * Writes `PACKAGE/catalog.json` (or `.yaml`) for each package and `catalog.json` for what belongs
 * to none into a directory that is empty, or made.
 *
 * @param read the catalog, once the directory is known to be usable: reading may take long
 * @returns how many files were written; undefined, and nothing is written, if `read` gives nothing
 * @throws PipelineError `usage` when the directory is not empty, or a package's name leads out of it
 */
export async function writePackages(
  directory: string,
  format: RenderFormat,
  read: () => Promise<Blobs | undefined>,
): Promise<number | undefined> {
  checkEmpty(directory);
  const blobs = await read();
  if (!blobs) return undefined;
  const files = packageFiles(blobs, format);
  writeAll(directory, files);
  return files.length;
}

/**
 * Writes files into a directory that is empty, or made.
 *
 * @param files texts by paths that stay within the directory
 * @throws PipelineError `usage` when the directory is not empty, `io`
 */
export function writeNewFolder(directory: string, files: ReadonlyMap<string, string>): void {
  checkEmpty(directory);
  writeAll(directory, [...files]);
}

/** Writes files below a directory, which may be one that is not there yet. */
function writeAll(directory: string, files: readonly (readonly [path: string, text: string])[]): void {
  makeFolder(directory);
  for (const [path, text] of files) {
    const full = join(directory, path);
    writeFiles(dirname(full), new Map([[basename(full), text]]));
  }
}

/** Refuses a directory with anything in it. @throws PipelineError `usage` */
function checkEmpty(path: string): void {
  if (existsSync(path) && entriesIn(path).length > 0)
    throw new PipelineError('usage', `the directory ${path} must be empty`);
}

/** Makes a folder, unless links on the way lead out of where it should be. @throws PipelineError `io` */
function makeFolder(path: string): void {
  refuseLinkOut(path);
  withFileErrors(path, () => mkdirSync(path, { recursive: true }));
}

/**
 * The texts of a catalog's files: one for each package, and one for the blobs of no package.
 *
 * @throws PipelineError `usage` for a package whose name cannot be a folder
 */
function packageFiles(blobs: Blobs, format: RenderFormat): (readonly [path: string, text: string])[] {
  const { packages, rest } = renderGroups(blobs);
  const files = packages.map(([name, group]) => {
    if (!isLocal(name)) {
      throw new PipelineError('usage', `the package name ${JSON.stringify(name)} is not a valid folder name`);
    }
    return [`${name}/catalog.${format}`, textOf(group, format)] as const;
  });
  return rest.length === 0 ? files : [...files, [`catalog.${format}`, textOf(rest, format)]];
}

/** Whether a path stays within its directory. `.git` does not count: git would obey a configuration in it. */
function isLocal(path: string): boolean {
  if (/(?:^|[/\\])\.git(?:[/\\]|$)/i.test(path)) return false;
  // In another form, it could be the folder of another package, or of the blobs of none.
  if (posix.normalize(path) !== path || path === '.' || path.endsWith('/')) return false;
  return !isAbsolute(path) && !/^\.\.(?:[/\\]|$)/.test(path) && !path.includes('\0');
}

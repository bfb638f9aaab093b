/** The files of an archive that somebody carried here. */
import { lstatSync, type Stats, type statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileError } from '../../directory.ts';
import { PipelineError } from '../../error.ts';

/**
 * What is known of a file in an archive; undefined if there is none. A link may lead out of the archive, and a pipe may have
 * no end.
 *
 * @throws PipelineError `corrupt` for what is not a file in a folder of the archive
 */
export function fileInside(archive: string, name: string): Stats | undefined {
  const path = join(archive, name);
  const found = statsOf(path);
  const isLinked = dirname(name) !== '.' && statsOf(dirname(path))?.isSymbolicLink() === true;
  if (isLinked || (found && !found.isFile()))
    throw new PipelineError('corrupt', `${path} is not a regular file of the archive`, {
      hint: 'copy the archive again, with files instead of links',
    });
  return found;
}

/** What is at a path, also a link; undefined for nothing. @param look `statSync` to follow links */
export function statsOf(
  path: string,
  look: typeof lstatSync | typeof statSync = lstatSync,
): Stats | undefined {
  try {
    return look(path, { throwIfNoEntry: false });
  } catch (error) {
    throw fileError(error, path);
  }
}

/** Folders that hold a catalog for each version of the platform, as `catalogs/v4.19` and `catalogs/v4.20` do. */
import type { Dirent } from 'node:fs';
import { join } from 'node:path';
import { compareMinors, tryParseMinor } from '../../catalog/fbc/openshift.ts';
import { entriesIn } from '../directory.ts';

/** The catalogs in a directory, or in its folder `catalogs`; none when it is one catalog itself. */
export function platformFolders(directory: string): string[] {
  const own = versionsIn(directory);
  return own.length > 0 ? own : versionsIn(join(directory, 'catalogs')).map((name) => `catalogs/${name}`);
}

/**
 * Names of the folders in a directory, the oldest version first; none unless all are versions, as the folders of one catalog
 * are not. Hidden ones, such as `.git`, do not count.
 */
function versionsIn(directory: string): string[] {
  const folders = entriesOf(directory).filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'));
  const minors = folders.flatMap(({ name }) => {
    const minor = tryParseMinor(name);
    return minor ? [{ name, minor }] : [];
  });
  if (minors.length < folders.length) return [];
  return minors.sort((a, b) => compareMinors(a.minor, b.minor)).map(({ name }) => name);
}

/** What is in a directory; nothing where that cannot be read. */
function entriesOf(directory: string): Dirent[] {
  try {
    return entriesIn(directory);
  } catch {
    // A directory without a folder `catalogs` may be one catalog.
    return [];
  }
}

/** Folders that hold a catalog for each version of the platform, as `catalogs/v4.19` and `catalogs/v4.20` do. */
import { type Dirent, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { tryParseMinor } from '../../catalog/fbc/openshift.ts';

/** The catalogs in a directory, or in its folder `catalogs`; none when it is one catalog itself. */
export function platformFolders(directory: string): string[] {
  const own = versionsIn(directory);
  return own.length > 0 ? own : versionsIn(join(directory, 'catalogs')).map((name) => `catalogs/${name}`);
}

/** Names of the folders in a directory, when all of them are versions. */
function versionsIn(directory: string): string[] {
  const folders = entriesOf(directory).filter((entry) => entry.isDirectory());
  const names = folders.map(({ name }) => name);
  return names.every((name) => tryParseMinor(name)) ? names.sort() : [];
}

function entriesOf(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    // A directory without a folder `catalogs` may be one catalog.
    return [];
  }
}

/** Databases of SQLite, in which index images of the time before file-based catalogs hold their catalogs. */
import { closeSync, readSync, statSync } from 'node:fs';
import { fileError } from '../../directory.ts';
import { openRegular } from '../../file-pieces.ts';
import type { CatalogForm } from '../catalog-form.ts';
import { isDatabase } from './open.ts';

/** What reads databases is loaded with the first one. */
export const DATABASE: CatalogForm = {
  noun: 'database',
  label: 'operators.operatorframework.io.index.database.v1',
  isFile: isDatabaseFile,
  load: async (bytes, name) => (await import('./load.ts')).loadDatabase(bytes, name),
  source: async (bytes, name) => (await import('./load.ts')).databaseSource(bytes, name),
};

/** Whether a path is a SQLite database, by its first bytes. */
function isDatabaseFile(path: string): boolean {
  try {
    // What is not a plain file might never answer.
    if (!statSync(path).isFile()) return false;
    const file = openRegular(path);
    try {
      // As many bytes as mark a database.
      const head = new Uint8Array(16);
      return readSync(file, head, 0, head.length, 0) === head.length && isDatabase(head);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw fileError(error, path);
  }
}

/** Databases of SQLite, in which index images of the time before file-based catalogs hold their catalogs. */
import { closeSync, readSync, realpathSync, statSync } from 'node:fs';
import { shellWord } from '../../../catalog/names.ts';
import { fileError } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import { openRegular } from '../../file-pieces.ts';
import type { CatalogForm } from '../catalog-form.ts';
import { isDatabase } from './open.ts';

/** What reads databases is loaded with the first one. */
export const DATABASE: CatalogForm = {
  noun: 'database',
  label: 'operators.operatorframework.io.index.database.v1',
  isFile: isDatabaseFile,
  changesBeside,
  load: async (bytes, name) => (await import('./load.ts')).loadDatabase(bytes, name),
  source: async (bytes, name) => (await import('./load.ts')).databaseSource(bytes, name),
};

/**
 * Whether a path is a SQLite database, by its first bytes.
 *
 * @throws PipelineError `usage` for one whose newest content is in a file beside it
 */
function isDatabaseFile(path: string): boolean {
  try {
    // What is not a plain file might never answer.
    if (!isDatabase(headOf(path))) return false;
    // SQLite looks for them beside the file itself, not beside a link to it.
    const file = realpathSync(path);
    const beside = changesBeside((ending) => headOf(file + ending));
    if (beside === undefined) return true;
    throw new PipelineError('usage', `${path} is not complete: ${file}${beside} has changes of it`, {
      hint: `sqlite3 ${shellWord(file)} 'PRAGMA journal_mode = DELETE'`,
    });
  } catch (error) {
    throw fileError(error, path);
  }
}

/** SQLite takes changes from there whoever opens the database; `opm registry serve` copies the database alone. */
function changesBeside(head: (ending: string) => Uint8Array): string | undefined {
  return ['-wal', '-journal'].find((ending) => isUnmerged(head(ending)));
}

/** The bytes that mark a kind of file; none for what is not a plain file, or is shorter. */
function headOf(path: string): Uint8Array {
  const head = new Uint8Array(16);
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return new Uint8Array();
  const file = openRegular(path);
  try {
    return readSync(file, head, 0, head.length, 0) === head.length ? head : new Uint8Array();
  } finally {
    closeSync(file);
  }
}

/**
 * Whether a file begins as a write-ahead log or a rollback journal does; SQLite blanks a journal that is done.
 *
 * @see https://www.sqlite.org/fileformat2.html#the_rollback_journal
 */
function isUnmerged(head: Uint8Array): boolean {
  return /^(?:377f068[23]|d9d505f920a163d7)/.test(Buffer.from(head).toString('hex'));
}

/** Databases as catalogs. */
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import type { Loaded } from '../../../catalog/fbc/load.ts';
import { renderGroups } from '../../../catalog/fbc/render.ts';
import { databaseBlobs } from '../../../catalog/opm/database/blobs.ts';
import { DatabaseError } from '../../../catalog/opm/database/rows.ts';
import { plainBundle } from '../../../catalog/opm/template/template.ts';
import { validationTree } from '../../../catalog/opm/tree.ts';
import { opmFindings } from '../../../catalog/rules/opm.ts';
import { type CatalogSource, sourceOf } from '../../../catalog/source.ts';
import { fileError } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import { textOf } from '../write-blobs.ts';
import { isDatabase, openDatabase } from './open.ts';
import { readRows } from './rows.ts';

/** The label that names the database in index images of the time before file-based catalogs. */
export const DATABASE_LABEL = 'operators.operatorframework.io.index.database.v1';

/**
 * The catalog of a database, as opm renders it. What opm refuses is refused, with what is wrong.
 *
 * @param name what the database is called, for messages
 * @throws PipelineError `corrupt`, `too-large`, `usage` where SQLite is not installed
 */
export async function loadDatabase(bytes: Uint8Array, name: string): Promise<Loaded> {
  const database = await openDatabase(bytes, name);
  try {
    const blobs = databaseBlobs(readRows(database, name), name);
    const plain = { ...blobs, bundles: blobs.bundles.map(plainBundle) };
    return { blobs, findings: validationTree(plain) ? opmFindings(plain) : [] };
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    throw new PipelineError('corrupt', `${name}: ${error.message}`, { cause: error });
  } finally {
    database.close();
  }
}

/**
 * The catalog of a database as files, as `opm migrate` writes them.
 *
 * @throws PipelineError as {@link loadDatabase}; `corrupt` for a catalog that opm refuses, too
 */
export async function databaseSource(bytes: Uint8Array, name: string): Promise<CatalogSource> {
  const { blobs, findings } = await loadDatabase(bytes, name);
  const [finding] = findings;
  if (finding) throw new PipelineError('corrupt', `${name}: ${finding.message}`);
  const { packages } = renderGroups(blobs);
  return sourceOf(
    Object.fromEntries([...packages].map(([pkg, own]) => [`${pkg}/catalog.json`, textOf(own, 'json')])),
  );
}

/**
 * Whether a file is a database by its first bytes.
 *
 * @throws PipelineError `not-found` or `io`
 */
export function isDatabaseFile(path: string): boolean {
  try {
    // What is not a plain file might never answer.
    if (!statSync(path).isFile()) return false;
    const file = openSync(path, 'r');
    try {
      const head = new Uint8Array(16);
      return readSync(file, head, 0, head.length, 0) === head.length && isDatabase(head);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw fileError(error, path);
  }
}

/** Databases as catalogs. */
import type { Loaded } from '../../../catalog/fbc/load.ts';
import { renderGroups } from '../../../catalog/fbc/render.ts';
import { databaseBlobs } from '../../../catalog/opm/database/blobs.ts';
import { DatabaseError } from '../../../catalog/opm/database/rows.ts';
import { plainBundle } from '../../../catalog/opm/template/template.ts';
import { validationTree } from '../../../catalog/opm/tree.ts';
import { opmFindings } from '../../../catalog/rules/opm.ts';
import { type CatalogSource, sourceOf } from '../../../catalog/source.ts';
import { PipelineError } from '../../error.ts';
import { textOf } from '../write-blobs.ts';
import { openDatabase } from './open.ts';
import { readRows } from './rows.ts';

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

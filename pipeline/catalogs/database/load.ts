/** Databases as catalogs. */
import type { Loaded } from '../../../catalog/fbc/load.ts';
import { renderGroups } from '../../../catalog/fbc/render.ts';
import { databaseBlobs } from '../../../catalog/opm/database/blobs.ts';
import { apiRow, csvFacts } from '../../../catalog/opm/database/csv-facts.ts';
import {
  type BundleRow,
  DatabaseError,
  type DatabaseRows,
  type EntryRow,
  type TypedRow,
} from '../../../catalog/opm/database/rows.ts';
import { plainBundle } from '../../../catalog/opm/template/template.ts';
import { validationTree } from '../../../catalog/opm/tree.ts';
import { opmFindings } from '../../../catalog/rules/opm.ts';
import { type CatalogSource, sourceOf } from '../../../catalog/source.ts';
import { PipelineError } from '../../error.ts';
import { textOf } from '../write-blobs.ts';
import { type Cell, type Database, openDatabase } from './open.ts';

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
    // opm's validation of the model decides; the rules then say what is wrong, and where.
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

// The tables of an index image's database as rows of its last schema. opm changes an older
// database table by table before it reads it; here each part is read where its schema has it.
//
// @see https://github.com/operator-framework/operator-registry/tree/v1.73.0/pkg/sqlite/migrations

/** Columns without which a database is none of an index image. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  package: ['name', 'default_channel'],
  channel: ['name', 'package_name', 'head_operatorbundle_name'],
  channel_entry: ['entry_id', 'channel_name', 'package_name', 'operatorbundle_name', 'replaces', 'depth'],
  operatorbundle: ['name', 'csv', 'bundle'],
};

/**
 * Reads the rows of opm's tables, whichever migrations the database has.
 *
 * @param name what the database is called, for messages
 * @throws PipelineError `corrupt`; DatabaseError for a ClusterServiceVersion that is not JSON
 */
export function readRows(database: Database, name: string): DatabaseRows {
  for (const [table, columns] of Object.entries(NEEDED)) {
    const found = database.columns(table);
    const missing = columns.find((column) => !found?.has(column));
    if (missing === undefined) continue;
    const what = found ? `its table ${table} has no column ${missing}` : `it has no table ${table}`;
    throw new PipelineError('corrupt', `${name} is not the database of an index image: ${what}`);
  }
  const packages = [...database.rows('SELECT DISTINCT name, default_channel FROM package')].flatMap(
    ([pkg, defaultChannel = '']) => (pkg === undefined ? [] : [{ name: pkg, defaultChannel }]),
  );
  const channels = [...database.rows('SELECT name, package_name, head_operatorbundle_name FROM channel')].map(
    ([channel = '', pkg = '', head = '']) => ({ name: channel, package: pkg, head }),
  );
  return { packages, channels, entries: [...entryRows(database)], bundles: bundleRows(database) };
}

/**
 * The rows of channel entries; those without a channel or bundle are left out, as NULL joins nothing in opm's queries. One
 * without a package has the empty name, which no package has.
 */
function* entryRows(database: Database): Generator<EntryRow> {
  const query =
    'SELECT entry_id, channel_name, package_name, operatorbundle_name, replaces, depth FROM channel_entry';
  for (const [id, channel, pkg = '', bundle, replaces, depth] of database.rows(query)) {
    if (channel === undefined || bundle === undefined) continue;
    yield {
      id: Number(id),
      package: pkg,
      channel,
      bundle,
      replaces: replaces === undefined ? undefined : Number(replaces),
      depth: depth === undefined ? undefined : Number(depth),
    };
  }
}

/** The bundles by name; of two rows with one name, the later counts. */
function bundleRows(database: Database): ReadonlyMap<string, BundleRow> {
  const columns = database.columns('operatorbundle') ?? new Set();
  // What older schemas lack is in the ClusterServiceVersion.
  const isOlder = !columns.has('version') || !database.columns('related_image') || !hasRequired(database);
  const lists = { ...bundleLists(database), isOlder };
  const rows = new Map<string, BundleRow>();
  for (const cells of database.rows(bundleQuery(columns, isOlder))) {
    const row = bundleRow(cells, lists);
    if (row) rows.set(row.name, row);
  }
  return rows;
}

/**
 * The query for the rows of bundles. Older databases have some facts only in the ClusterServiceVersion, so it reads
 * that of every bundle; otherwise only those of channel heads, which have the icons of packages.
 */
function bundleQuery(columns: ReadonlySet<string>, isOlder: boolean): string {
  const csv = isOlder
    ? 'csv'
    : 'CASE WHEN name IN (SELECT head_operatorbundle_name FROM channel) THEN csv END';
  const column = (name: string): string => (columns.has(name) ? name : 'NULL');
  return `SELECT name, ${csv}, bundle, ${column('bundlepath')}, ${column('version')}, ${column('skiprange')} FROM operatorbundle`;
}

/** What other tables have of bundles, by name; undefined where only the ClusterServiceVersions say it. */
interface BundleLists {
  readonly properties: ReadonlyMap<string, TypedRow[]>;
  readonly dependencies: ReadonlyMap<string, TypedRow[]> | undefined;
  readonly images: ReadonlyMap<string, string[]> | undefined;
}

/**
 * What other tables have of bundles. Before opm added `properties` and `dependencies`, it kept APIs in tables of their
 * own.
 */
function bundleLists(database: Database): BundleLists {
  return {
    properties: typedRows(database, 'properties') ?? apiRows(database, 'api_provider') ?? new Map(),
    dependencies: typedRows(database, 'dependencies') ?? apiRows(database, 'api_requirer'),
    images: relatedImages(database),
  };
}

/**
 * One bundle of the database.
 *
 * @returns undefined for rows of migrations that went wrong, which have no version; opm skips them, too
 */
function bundleRow(
  [name, csv, manifests, image = '', version, skipRange]: readonly Cell[],
  { properties, dependencies, images, isOlder }: BundleLists & { readonly isOlder: boolean },
): BundleRow | undefined {
  if (name === undefined) return undefined;
  const facts = isOlder && csv !== undefined ? csvFacts(name, csv) : undefined;
  const known = version ?? facts?.version;
  if (known === undefined) return undefined;
  return {
    name,
    image,
    version: known,
    skipRange: skipRange ?? facts?.skipRange ?? '',
    csv,
    manifests,
    properties: properties.get(name) ?? [],
    dependencies: (dependencies ? dependencies.get(name) : facts?.required) ?? [],
    relatedImages: (images ? images.get(name) : facts?.images) ?? [],
  };
}

/** Whether the database has a table of what bundles require. */
function hasRequired(database: Database): boolean {
  return (database.columns('dependencies') ?? database.columns('api_requirer')) !== undefined;
}

/** The properties or dependencies in a table, by bundle; undefined in a database without the table. */
function typedRows(database: Database, table: string): ReadonlyMap<string, TypedRow[]> | undefined {
  if (!database.columns(table)) return undefined;
  return grouped(
    database.rows(`SELECT operatorbundle_name, type, value FROM ${table} ORDER BY rowid`),
    ([type = '', value = '']) => [{ type, value }],
  );
}

/** The APIs in a table, by bundle. In the oldest databases APIs belong to entries of channels, later to bundles. */
function apiRows(database: Database, table: string): ReadonlyMap<string, TypedRow[]> | undefined {
  const columns = database.columns(table);
  if (!columns) return undefined;
  const isOfBundles = columns.has('operatorbundle_name');
  const owner = isOfBundles ? 'operatorbundle_name' : 'channel_entry_id';
  const rows = database.rows(`SELECT ${owner}, group_name, version, kind FROM ${table} ORDER BY rowid`);
  return grouped(isOfBundles ? rows : byBundle(rows, bundlesOfEntries(database)), ([group, version, kind]) =>
    group === undefined || version === undefined || kind === undefined ? [] : [apiRow(group, version, kind)],
  );
}

/** Rows whose first column is an entry, with its bundle instead. */
function* byBundle(rows: Iterable<readonly Cell[]>, bundles: ReadonlyMap<Cell, Cell>): Generator<Cell[]> {
  for (const [entry, ...cells] of rows) yield [bundles.get(entry), ...cells];
}

/** Of entries with one id the first counts: a join would give each API to all of them. */
function bundlesOfEntries(database: Database): ReadonlyMap<Cell, Cell> {
  const bundles = new Map<Cell, Cell>();
  for (const [id, bundle] of database.rows('SELECT entry_id, operatorbundle_name FROM channel_entry')) {
    if (id !== undefined && !bundles.has(id)) bundles.set(id, bundle);
  }
  return bundles;
}

/** The related images by bundle; undefined in a database from before there was a table for them. */
function relatedImages(database: Database): ReadonlyMap<string, string[]> | undefined {
  if (!database.columns('related_image')) return undefined;
  return grouped(database.rows('SELECT operatorbundle_name, image FROM related_image'), ([image]) =>
    image === undefined ? [] : [image],
  );
}

/** Items made from the other columns of rows, grouped by the first column. */
function grouped<T>(
  rows: Iterable<readonly Cell[]>,
  itemsOf: (cells: readonly Cell[]) => readonly T[],
): Map<string, T[]> {
  const lists = new Map<string, T[]>();
  for (const [name, ...cells] of rows) {
    if (name === undefined) continue;
    const list = lists.get(name) ?? [];
    list.push(...itemsOf(cells));
    lists.set(name, list);
  }
  return lists;
}

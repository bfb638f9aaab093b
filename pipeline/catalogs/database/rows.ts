/**
 * The tables of an index image's database as rows of its last schema. opm changes an older
 * database table by table before it reads it; here each part is read where its schema has it.
 *
 * @see https://github.com/operator-framework/operator-registry/tree/v1.73.0/pkg/sqlite/migrations
 */
import { apiRow, type CsvFacts, csvFacts } from '../../../catalog/opm/database/older.ts';
import type { BundleRow, DatabaseRows, EntryRow, TypedRow } from '../../../catalog/opm/database/rows.ts';
import { PipelineError } from '../../error.ts';
import type { Cell, Database } from './open.ts';

/** Columns without which a database is none of an index image. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  package: ['name', 'default_channel'],
  channel: ['name', 'package_name', 'head_operatorbundle_name'],
  channel_entry: ['entry_id', 'channel_name', 'package_name', 'operatorbundle_name', 'replaces', 'depth'],
  operatorbundle: ['name', 'csv', 'bundle'],
};

/**
 * @param name what the database is called, for messages
 * @throws PipelineError `corrupt`; DatabaseError for a ClusterServiceVersion that is no JSON
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

function bundleRows(database: Database): ReadonlyMap<string, BundleRow> {
  const columns = database.columns('operatorbundle') ?? new Set();
  const hasVersions = columns.has('version');
  const isOlder = !hasVersions || !database.columns('related_image') || !hasRequired(database);
  const csv = isOlder
    ? 'csv'
    : 'CASE WHEN name IN (SELECT head_operatorbundle_name FROM channel) THEN csv END';
  const column = (name: string): string => (columns.has(name) ? name : 'NULL');
  const query = `SELECT name, ${csv}, bundle, ${column('bundlepath')}, ${column('version')}, ${column('skiprange')} FROM operatorbundle`;
  const lists = { properties: properties(database), dependencies: dependencies(database) };
  const images = relatedImages(database);
  const rows = new Map<string, BundleRow>();
  for (const [name, text, manifests, image, version, skipRange] of database.rows(query)) {
    if (name === undefined) continue;
    const facts = isOlder && text !== undefined ? csvFacts(name, text) : NOTHING;
    // Rows of migrations that went wrong have no version; opm passes them over, too.
    const known = version ?? (isOlder && text !== undefined ? facts.version : undefined);
    if (known === undefined) continue;
    rows.set(name, {
      name,
      image: image ?? '',
      version: known,
      skipRange: skipRange ?? facts.skipRange,
      csv: text,
      manifests,
      properties: lists.properties.get(name) ?? [],
      dependencies: lists.dependencies?.get(name) ?? (lists.dependencies ? [] : facts.required),
      relatedImages: images?.get(name) ?? (images ? [] : facts.images),
    });
  }
  return rows;
}

const NOTHING: CsvFacts = { version: '', skipRange: '', required: [], images: [] };

function hasRequired(database: Database): boolean {
  return (database.columns('dependencies') ?? database.columns('api_requirer')) !== undefined;
}

function properties(database: Database): ReadonlyMap<string, TypedRow[]> {
  return typedRows(database, 'properties') ?? apiRows(database, 'api_provider') ?? new Map();
}

/** Undefined where only the ClusterServiceVersions say what is required. */
function dependencies(database: Database): ReadonlyMap<string, TypedRow[]> | undefined {
  return typedRows(database, 'dependencies') ?? apiRows(database, 'api_requirer');
}

function typedRows(database: Database, table: string): ReadonlyMap<string, TypedRow[]> | undefined {
  if (!database.columns(table)) return undefined;
  return grouped(
    database.rows(`SELECT operatorbundle_name, type, value FROM ${table} ORDER BY rowid`),
    ([type = '', value = '']) => [{ type, value }],
  );
}

/** APIs belonged to entries of channels before they belonged to bundles. */
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

function relatedImages(database: Database): ReadonlyMap<string, string[]> | undefined {
  if (!database.columns('related_image')) return undefined;
  return grouped(database.rows('SELECT operatorbundle_name, image FROM related_image'), ([image]) =>
    image === undefined ? [] : [image],
  );
}

/** Rows by their first column. */
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

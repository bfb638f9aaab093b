/** Records in a table of PostgreSQL: each write raises the version that a conditional write compares. */
import { compareText } from '../../catalog/go/text.ts';
import type { RecordStore } from '../../pipeline/ports.ts';
import { DOCUMENTS, prefixOf, publishedIn } from '../../pipeline/publish/documents.ts';
import { ringsIn } from '../../pipeline/publish/rings/store.ts';
import type { Database } from './database.ts';
import type { ResetStore } from './reset-fence.ts';

/** Where the tables of records and fences are. */
const SCHEMA = 'portolan';

/** Any number that nobody else locks. */
const LOCK = 7_079_842_101;

/** Makes the table, unless it is there. @throws PipelineError `denied` without the right to */
export async function createRecords(database: Database): Promise<void> {
  const [found] = await database.query('select 1 from information_schema.tables where table_schema = $1', [
    SCHEMA,
  ]);
  if (found) return;
  // Of several at once the others wait: "if not exists" alone fails where two look at the same time.
  await database.query(`do $$ begin
    perform pg_advisory_xact_lock(${LOCK});
    create schema if not exists ${SCHEMA};
    create table if not exists ${SCHEMA}.record (
      key text collate "C" primary key,
      version bigint not null,
      bytes bytea not null,
      written timestamptz not null default now()
    );
  end $$`);
}

/** @throws PipelineError from its functions */
export function tableRecords(database: Database): RecordStore {
  return {
    get: async (key) => {
      const [row] = await database.query<{ bytes: Buffer; version: string }>(
        `select bytes, version from ${SCHEMA}.record where key = $1`,
        [key],
      );
      return row && { bytes: new Uint8Array(row.bytes), version: row.version };
    },
    put: async (key, bytes) => {
      await database.query(
        `insert into ${SCHEMA}.record as old (key, version, bytes) values ($1, 1, $2)
         on conflict (key) do update set version = old.version + 1, bytes = $2, written = now()`,
        [key, Buffer.from(bytes)],
      );
    },
    replace: async (key, bytes, version) => {
      const insert = `insert into ${SCHEMA}.record (key, version, bytes) values ($1, 1, $2)
        on conflict (key) do nothing returning version`;
      const update = `update ${SCHEMA}.record set version = version + 1, bytes = $2, written = now()
        where key = $1 and version = $3 returning version`;
      const values = [key, Buffer.from(bytes)];
      const written = await (version === undefined
        ? database.query(insert, values)
        : database.query(update, [...values, version]));
      return written.length > 0;
    },
    list: async (prefix) => {
      const rows = await database.query<{ key: string }>(
        `select key from ${SCHEMA}.record where starts_with(key, $1)`,
        [prefix],
      );
      return rows.map(({ key }) => key).sort(compareText);
    },
  };
}

/** The fences' records, for who writes an unreadable one anew. */
export function resetStore(database: Database): ResetStore {
  const { get, replace } = tableRecords(database);
  return {
    ...{ get, replace },
    remove: async (key, version) => {
      const rows = await database.query(
        `delete from ${SCHEMA}.record where key = $1 and version = $2 returning 1`,
        [key, version],
      );
      return rows.length > 0;
    },
  };
}

/** How long records are kept that only save work, in days: as the lifecycle rules of functions/aws/template.yaml. */
const KEPT: Readonly<Record<string, number>> = {
  'deliveries/': 7,
  'reported/': 90,
  'left/': 90,
  'memory/': 60,
};

/** Days until records are removed; never when undefined. */
interface KeptDays {
  readonly outcomes: number | undefined;
  readonly documents: number | undefined;
}

/** @returns how many old records were removed */
export async function removeOldRecords(
  database: Database,
  { outcomes, documents }: KeptDays,
): Promise<number> {
  const all = { ...KEPT, ...(outcomes === undefined ? {} : { 'outcomes/': outcomes }) };
  let removed = 0;
  for (const [prefix, days] of Object.entries(all)) removed += await removeOld(database, prefix, days, []);
  if (documents === undefined) return removed;
  return removed + (await removeOld(database, DOCUMENTS, documents, await currentDocuments(database)));
}

/** @param kept parts of keys that stay */
async function removeOld(
  database: Database,
  prefix: string,
  days: number,
  kept: readonly string[],
): Promise<number> {
  const rows = await database.query(
    `delete from ${SCHEMA}.record
     where starts_with(key, $1) and written < now() - $2 * interval '1 day'
       and not exists (select 1 from unnest($3::text[]) as kept where strpos(key, kept) > 0) returning 1`,
    [prefix, days, kept],
  );
  return rows.length;
}

/**
 * Parts of the keys of documents that somebody may still read: of what is published, and of all that rings know. Where a record
 * cannot be read, nobody knows which ones: then all of them.
 */
async function currentDocuments(database: Database): Promise<string[]> {
  const records = tableRecords(database);
  const unread: string[] = [];
  const published = await publishedIn(records, new Set(), (key) => unread.push(key));
  const { rings, unread: unreadRings } = await ringsIn(records);
  if (unread.length + unreadRings.length > 0) return [DOCUMENTS];
  const ringed = rings
    .flatMap(({ arrivals, opened, rings: all }) => [
      ...arrivals,
      ...opened,
      ...all.flatMap(({ image }) => image ?? []),
    ])
    .map((image) => prefixOf('', image).slice(DOCUMENTS.length));
  return [...published.map(({ documents }) => documents), ...ringed];
}

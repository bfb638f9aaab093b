/** Records in a table of PostgreSQL: each write raises the version that a conditional write compares. */
import { compareText } from '../../catalog/go/text.ts';
import type { RecordStore } from '../../pipeline/ports.ts';
import type { Database } from './database.ts';

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

/** How long records are kept that only save work, in days: as the lifecycle rules of functions/aws/template.yaml. */
const KEPT: Readonly<Record<string, number>> = {
  'deliveries/': 7,
  'reported/': 90,
  'left/': 90,
  'memory/': 60,
};

/** @returns how many old records were removed */
export async function removeOldRecords(database: Database): Promise<number> {
  let removed = 0;
  for (const [prefix, days] of Object.entries(KEPT)) {
    const rows = await database.query(
      `delete from ${SCHEMA}.record
       where starts_with(key, $1) and written < now() - $2 * interval '1 day' returning 1`,
      [prefix, days],
    );
    removed += rows.length;
  }
  return removed;
}

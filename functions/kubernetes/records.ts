/** Records in a table of PostgreSQL: each write raises the version that a conditional write compares. */
import { compareText } from '../../catalog/go/text.ts';
import { PipelineError } from '../../pipeline/error.ts';
import { isAncestor } from '../../pipeline/git/merge.ts';
import type { Repository } from '../../pipeline/git/repository.ts';
import { formatLocation, type ImageLocation } from '../../pipeline/oci/registry/image-location.ts';
import { openDestination } from '../../pipeline/oci/registry/open.ts';
import { readablePolicyAt } from '../../pipeline/policy/read-policy.ts';
import type { Claim, Fence, RecordStore } from '../../pipeline/ports.ts';
import type { CatalogMessage } from '../../pipeline/publish/delivery/message.ts';
import { type DeliveryPorts, onBranch } from '../../pipeline/publish/delivery/ports.ts';
import { DOCUMENTS, prefixOf, publishedIn } from '../../pipeline/publish/documents.ts';
import { fenceName } from '../../pipeline/publish/fence.ts';
import { claimText } from '../../pipeline/publish/fence-records.ts';
import { publishedCatalogs } from '../../pipeline/publish/published-catalogs.ts';
import { learnFromImage } from '../../pipeline/publish/published-commit.ts';
import { imagesOf } from '../../pipeline/publish/rings/state.ts';
import { ringsIn } from '../../pipeline/publish/rings/store.ts';
import { placesOf, targetOf } from '../../pipeline/publish/target.ts';
import type { Source } from '../receive.ts';
import type { Database } from './database.ts';

/** Where the tables of records and fences are. */
const SCHEMA = 'portolan';

/** Of an advisory lock of PostgreSQL: any number that nobody else locks. */
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

/** Records in a table of the database. @throws PipelineError from its functions */
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

/** The fences' records, for replacing one that cannot be read. */
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

/** Removes records that are older than their kind is kept, except current documents. @returns how many */
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

/**
 * Removes old records below a prefix.
 *
 * @returns how many
 * @param parts parts of keys that stay
 */
async function removeOld(
  database: Database,
  prefix: string,
  days: number,
  parts: readonly string[],
): Promise<number> {
  const rows = await database.query(
    `delete from ${SCHEMA}.record
     where starts_with(key, $1) and written < now() - $2 * interval '1 day'
       and not exists (select 1 from unnest($3::text[]) as kept where strpos(key, kept) > 0) returning 1`,
    [prefix, days, parts],
  );
  return rows.length;
}

/**
 * Parts of the keys of documents that somebody may still read: those of published catalogs and of all images that rings know.
 * If one of these records cannot be read, its documents are unknown, so all are kept.
 */
async function currentDocuments(database: Database): Promise<string[]> {
  const records = tableRecords(database);
  const unreadableKeys: string[] = [];
  // Without exclusions.
  const published = await publishedIn(records, new Set(), (key) => unreadableKeys.push(key));
  const { rings, errors } = await ringsIn(records);
  if (unreadableKeys.length + errors.length > 0) return [DOCUMENTS];
  const documentsOfRings = rings
    .flatMap((state) => [...imagesOf(state), ...state.rings.flatMap(({ image }) => image ?? [])])
    // Without the prefix, as records of published catalogs name documents.
    .map((image) => prefixOf('', image).slice(DOCUMENTS.length));
  return [...published.map(({ documents }) => documents), ...documentsOfRings];
}

// A fence that cannot be read is written anew: with what the image behind its tag says, or not at all.

interface ResetStore extends Pick<RecordStore, 'get' | 'replace'> {
  /** Removes a record that nobody has written over since. @returns false where somebody has */
  remove(key: string, version: string): Promise<boolean>;
}

/**
 * Repairs a catalog's fences, the records of the newest commit that each place has, for the first branch that publishes it. A fence that cannot be read stops every
 * publish to its place: it is written anew with the commit that the published image names. Others stay.
 *
 * @param store holds the records
 * @returns a message for the catalog's newest commit, and a line about each place
 * @throws PipelineError `not-found` for a repository or catalog that is not published from here, `conflict` where
 *   somebody else was first
 */
export async function resetFence(
  sources: readonly Source[],
  { repository: name, catalog }: Pick<CatalogMessage, 'repository' | 'catalog'>,
  ports: DeliveryPorts,
  store: ResetStore,
): Promise<{ readonly message: CatalogMessage; readonly lines: readonly string[] }> {
  const own = sources.filter(({ repository }) => repository === name);
  if (own.length === 0) throw new PipelineError('not-found', `${name} is not published from here`);
  for (const { branch } of own) {
    const reset = await resetOnBranch({ name, branch, catalog }, ports, store);
    if (reset) return reset;
  }
  throw new PipelineError('not-found', `no branch of ${name} publishes ${JSON.stringify(catalog)}`);
}

type Reset = Awaited<ReturnType<typeof resetFence>>;

/** Repairs the fences of a catalog for one branch; undefined, and nothing is changed, if the branch does not publish it. */
async function resetOnBranch(
  { name, branch, catalog }: Record<'name' | 'branch' | 'catalog', string>,
  ports: DeliveryPorts,
  store: ResetStore,
): Promise<Reset | undefined> {
  return onBranch(ports, { repository: name, branch }, async ({ repository, tip }) => {
    const policy = await readablePolicyAt(repository.objects, tip);
    if (!(await publishedCatalogs(repository.objects, tip, policy)).includes(catalog)) return undefined;
    const lines: string[] = [];
    for (const to of placesOf(targetOf(policy, catalog, {}))) {
      const place = formatLocation(to);
      const at = { name: fenceName(catalog, place), place, to };
      lines.push(`${place}: ${await resetOne(at, { repository, ports, store })}`);
    }
    const about = { repository: name, branch, commit: tip, catalog };
    // Published again even if the records say that it was: the fences do not know it any more.
    const message: CatalogMessage = { v: 1, kind: 'catalog', ...about, again: true };
    return { message, lines };
  });
}

interface Resetting {
  readonly repository: Repository;
  readonly ports: Pick<DeliveryPorts, 'fence' | 'registry'>;
  readonly store: ResetStore;
}

/**
 * Replaces a fence that cannot be read by what the published image says of its commit.
 *
 * @returns what was done, in words
 */
async function resetOne(
  { name, place, to }: { readonly name: string; readonly place: string; readonly to: ImageLocation },
  { repository, ports, store }: Resetting,
): Promise<string> {
  const key = `fence/${name}`;
  const stored = await store.get(key);
  if (!stored) return 'there is no fence yet';
  if (await isReadable(ports.fence, name)) return 'the fence can be read: it stays';
  const claims: Claim[] = [];
  // A fence that knows nothing, and only notes what the published image would have it claim.
  const blank: Fence = {
    ...ports.fence,
    read: async () => undefined,
    replace: async (_, claim) => {
      claims.push(claim);
      return undefined;
    },
  };
  const { registry, reference: tag } = await openDestination(to, ports.registry);
  const compare = (older: string, newer: string): Promise<boolean> => isAncestor(repository, older, newer);
  // `takeOver`: an image that names no commit is not an error here, and leaves the fence empty.
  await learnFromImage(blank, name, { registry, tag, place, isAncestor: compare, takeOver: true });
  const [claim] = claims;
  const bytes = claim && new TextEncoder().encode(claimText({ ...claim, sequence: 1 }));
  const isOurs = await (bytes
    ? store.replace(key, bytes, stored.version)
    : store.remove(key, stored.version));
  if (!isOurs) throw new PipelineError('conflict', `somebody else has written ${key}`, { retryable: true });
  return claim
    ? `the fence names ${claim.commit} again, as the image does`
    : 'the fence is empty: the image does not say its commit';
}

/** Whether a fence can be read: a record that is not a claim is `corrupt`. */
async function isReadable(fence: Fence, name: string): Promise<boolean> {
  try {
    await fence.read(name);
    return true;
  } catch (error) {
    if (error instanceof PipelineError && error.code === 'corrupt') return false;
    throw error;
  }
}

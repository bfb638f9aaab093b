/**
 * The records of the configurations that share a path of a registry: each sync writes what it needs before it copies, and
 * reads what the others need before it deletes.
 */
import { compareText } from '../../catalog/go/text.ts';
import {
  type Needs,
  pathInRegistry,
  readSyncRecord,
  type SyncRecord,
  syncRecordText,
  unionOf,
} from '../../catalog/mirror/freshness/sync-record.ts';
import { formatReference, repositoryName, type TagReference } from '../../catalog/reference.ts';
import { PipelineError } from '../error.ts';
import { eachOf } from '../parallel.ts';
import type { Registry, Repository } from '../ports.ts';
import { putSmallArtifact, readSmallArtifact } from './small-artifact.ts';

/** Media type of a record. */
const TYPE = 'application/vnd.portolan.mirror-record.v1+json';
/** The repository below the path of a mirror that has the records, one tag for each configuration. */
const RECORDS = 'portolan-records';
/** Records at a time. */
const PARALLEL = 16;

/** The repository of the records of a mirror. */
export function recordsAt({
  registry,
  path,
}: {
  readonly registry: string;
  readonly path: string;
}): Repository {
  return { registry, repository: path === '' ? RECORDS : `${path}/${RECORDS}` };
}

interface RecordPorts {
  readonly registry: Registry;
  readonly now: () => Date;
}

/** Which configuration it is. */
export type Identity = Pick<SyncRecord, 'id' | 'name' | 'isNamed'>;

export interface SyncRecords {
  /** The configuration as the registry knows it: a chosen name has the id of its record. */
  readonly identity: Identity;
  /** What the other configurations need, read anew. @throws PipelineError when a record cannot be read */
  others(): Promise<readonly SyncRecord[]>;
  /** A configuration, for messages. */
  nameOf(record: SyncRecord): string;
  /** From now on the configuration needs this only. @throws PipelineError what the registry answers */
  settle(): Promise<void>;
}

/**
 * Adds what a configuration is about to need to its record: what it needed before stays there until `settle`, as clusters
 * use it until then.
 *
 * @throws PipelineError `conflict` when another configuration writes one of the catalogs, and when a record cannot be
 *   read or written
 */
export async function beginSync(
  at: Repository,
  { needs, ...wanted }: Identity & { readonly needs: Needs },
  ports: RecordPorts,
): Promise<SyncRecords> {
  const records = await firstLook(at, wanted, ports);
  const ownRecord = records.find(({ id }) => id === wanted.id);
  // The same chosen name is the same configuration, also from another machine, where it has another id.
  const sameName = records.find(({ name, isNamed }) => wanted.isNamed && isNamed && name === wanted.name);
  const identity = { ...wanted, id: (ownRecord ?? sameName ?? wanted).id };
  const others = records.filter(({ id }) => id !== identity.id);
  for (const catalog of needs.catalogs) {
    const path = pathInRegistry(catalog);
    const rival = others.find(({ catalogs }) => catalogs.some((one) => pathInRegistry(one) === path));
    if (rival) throw rivalError(catalog, rival, at);
  }
  let standing = ownRecord ?? sameName;
  const write = async (all: Needs): Promise<void> => {
    // With the time of before, so that only a change of what is needed counts.
    const next = { ...identity, ...all, time: standing?.time ?? '' };
    if (standing && syncRecordText(next) === syncRecordText(standing)) return;
    standing = { ...next, time: ports.now().toISOString() };
    await putRecord(at, standing, ports.registry);
  };
  await write(standing ? unionOf(standing, needs) : needs);
  return {
    identity,
    others: async () => {
      const all = await readRecords(at, ports.registry);
      const found = all.filter(({ id }) => id !== identity.id);
      if (found.length < all.length) return found;
      throw new PipelineError(
        'bad-answer',
        `the registry does not list the record of this configuration in ${repositoryName(at)}, so that nothing is deleted: it may hide others, too`,
      );
    },
    nameOf: (record) => recordName(record, at),
    settle: () => write(needs),
  };
}

/**
 * Reads the records. Some registries deny a repository that does not exist yet: then an empty record is written first.
 */
async function firstLook(
  at: Repository,
  identity: Identity,
  { registry, now }: RecordPorts,
): Promise<readonly SyncRecord[]> {
  try {
    return await readRecords(at, registry);
  } catch (error) {
    if (!(error instanceof PipelineError) || error.code !== 'denied') throw error;
    const time = now().toISOString();
    await putRecord(at, { ...identity, time, catalogs: [], needs: [] }, registry);
    return readRecords(at, registry);
  }
}

/** Writes a record under the tag of its configuration, over the one of before. */
async function putRecord(at: Repository, record: SyncRecord, registry: Registry): Promise<void> {
  const bytes = new TextEncoder().encode(syncRecordText(record));
  const tag = tagOf(at, record.id);
  try {
    await putSmallArtifact(tag, { bytes, type: TYPE }, registry);
  } catch (error) {
    throw withConsequence(
      error,
      `the record of this configuration cannot be written to ${formatReference(tag)}`,
    );
  }
}

/**
 * The records of all configurations that share a mirror.
 *
 * @throws PipelineError if one cannot be read: what it needs might be deleted
 */
async function readRecords(at: Repository, registry: Registry): Promise<readonly SyncRecord[]> {
  const records: SyncRecord[] = [];
  try {
    const tags: string[] = [];
    for await (const tag of registry.listTags(at)) tags.push(tag);
    await eachOf(tags, PARALLEL, async (tag) => {
      const record = await readRecord(tagOf(at, tag), registry);
      if (record) records.push(record);
    });
  } catch (error) {
    throw withConsequence(
      error,
      `the records in ${repositoryName(at)}, of what the configurations need that share this mirror, cannot be read`,
    );
  }
  return records.sort((a, b) => compareText(a.id, b.id));
}

/**
 * Reads one record. @returns undefined for one that is gone since it was listed
 *
 * @throws PipelineError `bad-answer` for anything else under a record's tag: a newer version of Portolan may have written it
 */
async function readRecord(tag: TagReference, registry: Registry): Promise<SyncRecord | undefined> {
  const bytes = await readSmallArtifact(tag, registry);
  if (!bytes) return undefined;
  const record = readSyncRecord(bytes.toString());
  if (record?.id === tag.tag) return record;
  throw new PipelineError('bad-answer', `${formatReference(tag)} is not the record of a configuration`, {
    hint: 'update portolan, or delete this tag if no configuration is known by it',
  });
}

/** Adds to a PipelineError about records what follows from it: nothing is deleted. Other errors stay as they are. */
function withConsequence(error: unknown, what: string): unknown {
  if (!(error instanceof PipelineError)) return error;
  const { code, message, retryable, status, hint } = error;
  return new PipelineError(code, `${what}, so that nothing is deleted: ${message}`, {
    cause: error,
    retryable,
    status,
    ...(hint !== undefined && { hint }),
  });
}

/** The error for a catalog that two configurations would write: each sync would take it away from the other. */
function rivalError(catalog: string, rival: SyncRecord, at: Repository): PipelineError {
  return new PipelineError(
    'conflict',
    `${catalog} is the catalog of another configuration, ${recordName(rival, at)}: nothing is copied`,
    {
      hint:
        'sync to another path with --to. If it is the same configuration, sync with the --out directory of before, or ' +
        'always with the same --name; if it is no longer used, delete its record',
    },
  );
}

/** A configuration with its record, for messages: people may have to delete it. */
function recordName({ id, name, time }: SyncRecord, at: Repository): string {
  return `${JSON.stringify(name)} (record ${formatReference(tagOf(at, id))} of ${time})`;
}

/** The tag of a record: the id of its configuration. */
function tagOf({ registry, repository }: Repository, tag: string): TagReference {
  return { kind: 'tag', registry, repository, tag };
}

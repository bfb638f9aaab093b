/** Steps of `mirror sync` after the copy: what arrived, what is no longer needed, what was ever brought. */

import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { isObject } from '../../../../catalog/go/shape.ts';
import { parseJson } from '../../../../catalog/json.ts';
import { diffMirrors } from '../../../../catalog/mirror/diff.ts';
import { needsOf, whoNeeds } from '../../../../catalog/mirror/freshness/sync-record.ts';
import { type Mapping, mappingText, readMapping } from '../../../../catalog/mirror/mapping.ts';
import { formatDestination } from '../../../../catalog/mirror/placement.ts';
import { mappingsOf } from '../../../../catalog/mirror/plan.ts';
import { readReport } from '../../../../catalog/mirror/report.ts';
import { tryParseReference } from '../../../../catalog/reference.ts';
import { readText } from '../../../directory.ts';
import { PipelineError } from '../../../error.ts';
import type { FailedCopy } from '../../../mirror/copy.ts';
import type { CopyJob } from '../../../mirror/copy-jobs.ts';
import type { MirrorOutcome } from '../../../mirror/prepare.ts';
import { lookOnline } from '../../../mirror/presence.ts';
import { type PruneReport, pruneImages } from '../../../mirror/prune.ts';
import { beginSync, type Identity, recordsAt, type SyncRecords } from '../../../mirror/sync-records.ts';
import type { RegistryClient } from '../../../oci/registry/client.ts';
import { eachOf } from '../../../parallel.ts';
import type { Registry } from '../../../ports.ts';
import type { Terminal } from '../../../terminal.ts';
import { writeFiles } from '../../../write.ts';
import type { Invocation } from '../../command.ts';

/** Which images are whole in the mirror. */
export interface Arrived {
  readonly images: number;
  /** Destinations. */
  readonly there: readonly string[];
  readonly missing: readonly { readonly destination: string; readonly why: string }[];
}

interface ArrivalOptions {
  readonly failed: readonly FailedCopy[];
  /** Copies images again of which the mirror has the list and not all of its platforms. */
  readonly complete: (jobs: readonly CopyJob[]) => Promise<void>;
}

/** Images at a time: as many as a client sends requests to one host by default. */
const PARALLEL = 48;

/** Looks into the mirror for each image, and completes lists that an earlier copy left incomplete. */
export async function arrivedIn(
  jobs: readonly CopyJob[],
  client: RegistryClient,
  { failed, complete }: ArrivalOptions,
): Promise<Arrived> {
  const look = async (some: readonly CopyJob[]): Promise<Map<string, string | undefined>> => {
    const found = await lookOnline(some, client, { parallel: PARALLEL, sources: false });
    return new Map(found.map(({ destination, atDestination }) => [destination, atDestination]));
  };
  const found = await look(jobs);
  // What could not be copied just now is not tried again. The rest was there before, where the copy did not look into lists, or
  // got lost meanwhile.
  const hopeless = new Set(failed.map(({ destination }) => destination));
  const incomplete = jobs.filter(
    ({ destination }) => found.get(destination) !== undefined && !hopeless.has(destination),
  );
  if (incomplete.length > 0) {
    await complete(incomplete);
    for (const [destination, why] of await look(incomplete)) found.set(destination, why);
  }
  return {
    images: found.size,
    there: [...found].flatMap(([destination, why]) => (why === undefined ? [destination] : [])),
    missing: [...found].flatMap(([destination, why]) => (why === undefined ? [] : [{ destination, why }])),
  };
}

/** Everything that syncs of a directory have brought into the mirror, or begun to bring, and not deleted. */
const HISTORY = 'history.txt';

/**
 * Writes the mapping of a plan, and adds it to the history before anything is copied: what a sync that was
 * killed has brought is known to the next one.
 *
 * @returns the history without this plan
 */
export function rememberPlan(folder: string, { plan }: MirrorOutcome, mapping: string): readonly Mapping[] {
  const history = historyIn(folder);
  writeHistory(folder, [...history, ...mappingsOf(plan)]);
  writeFiles(folder, new Map([['mapping.txt', mapping]]));
  return history;
}

/** What earlier syncs of a directory have brought. @throws PipelineError `usage` for a history that cannot be read */
function historyIn(folder: string): readonly Mapping[] {
  const path = join(folder, HISTORY);
  if (existsSync(path)) {
    const { mappings, findings } = readMapping(readText(path), path);
    const [wrong] = findings;
    if (wrong) throw new PipelineError('usage', `${path}:${wrong.location.line}: ${wrong.message}`);
    return mappings;
  }
  // A directory without a history has the images of its last plan in the report.
  const report = join(folder, 'report.json');
  return existsSync(report) ? (readReport(readText(report))?.images ?? []) : [];
}

/** One line for each destination: the last image that was brought there. */
function writeHistory(folder: string, mappings: readonly Mapping[]): void {
  const last = new Map(mappings.map(({ source, destination }) => [destination, { source, destination }]));
  writeFiles(folder, new Map([[HISTORY, mappingText([...last.values()])]]));
}

/**
 * Writes into the mirror what the configuration is about to need.
 *
 * @returns undefined where the mirror is not a registry
 * @throws PipelineError as `beginSync`
 */
export async function recordPlan(
  folder: string,
  { plan }: MirrorOutcome,
  {
    registry,
    invocation,
    terminal,
  }: { readonly registry: Registry; readonly invocation: Invocation; readonly terminal: Terminal },
): Promise<SyncRecords | undefined> {
  if (plan.home.transport !== 'registry') return undefined;
  const catalogs = plan.catalogs.map(({ destination }) => formatDestination(destination));
  const needs = needsOf(catalogs, mappingsOf(plan));
  const identity = identityIn(folder, invocation, terminal);
  // Before the registry has it: a sync that is killed then is the same configuration when it is run again.
  rememberIdentity(folder, identity, { invocation, terminal });
  const ports = { registry, now: terminal.now };
  const records = await beginSync(recordsAt(plan.home), { ...identity, needs }, ports);
  // The mirror may know a chosen name by another id, from a sync on another machine: that one counts from now on.
  rememberIdentity(folder, records.identity, { invocation, terminal });
  return records;
}

export interface Pruned {
  /** Destinations that nothing needs any more. */
  readonly superseded: readonly string[];
  /** Those that were deleted; absent when that was not asked for, or not everything was copied. */
  readonly deleted?: readonly string[];
  readonly failed: PruneReport['failed'];
  /** Destinations that name another image than the one that was brought there: somebody else's, and left alone. */
  readonly foreign: readonly string[];
  /** Destinations that another configuration needs, and which. */
  readonly needed: readonly { readonly image: string; readonly by: string }[];
}

interface PruneOptions {
  readonly client: Registry;
  readonly folder: string;
  /** Who else needs what; undefined when nothing is to be deleted. */
  readonly records: Pick<SyncRecords, 'identity' | 'others' | 'nameOf'> | undefined;
}

/**
 * Deletes what the history has and neither the new plan nor another configuration needs; without records, it only says
 * what. A name that leads to another image by now is not ours any more, and stays. The history keeps what could not be
 * deleted, and what others need.
 *
 * @throws PipelineError when it is not known what the others need; nothing is deleted then
 */
export async function pruneSuperseded(
  history: readonly Mapping[],
  now: readonly Mapping[],
  { client, folder, records }: PruneOptions,
): Promise<Pruned> {
  const old = diffMirrors(history, now).prune;
  const superseded = old.map(({ destination }) => destination);
  if (!records) return { superseded, failed: [], foreign: [], needed: [] };
  const others = await records.others();
  // What was brought under another name of the registry may be what the plan needs now.
  // The time of a record says nothing about what it needs.
  const ours = { ...records.identity, time: '', ...needsOf([], now) };
  const needed = old.flatMap((one) => {
    const other = whoNeeds([...others, ours], one);
    return other ? [{ image: one.destination, by: records.nameOf(other) }] : [];
  });
  const neededNames = new Set(needed.map(({ image }) => image));
  const foreign: string[] = [];
  await eachOf(old, PARALLEL, async (one) => {
    if (!neededNames.has(one.destination) && (await isForeign(client, one))) foreign.push(one.destination);
  });
  const images = superseded.flatMap((destination) =>
    foreign.includes(destination) || neededNames.has(destination)
      ? []
      : (tryParseReference(destination) ?? []),
  );
  const stays = [...now, ...others.flatMap(({ needs }) => needs)].map(({ destination }) => destination);
  const { deleted, absent, failed } = await pruneImages(client, images, new Set(stays));
  const notDeleted = new Set([...neededNames, ...failed.map(({ image }) => image)]);
  const gone = new Set(superseded.filter((destination) => !notDeleted.has(destination)));
  writeHistory(folder, [...history.filter(({ destination }) => !gone.has(destination)), ...now]);
  return { superseded, deleted: [...deleted, ...absent], failed, foreign, needed };
}

/** Whether a tag names another image by now. Only a digest says which one was copied; without one, it counts as ours. */
async function isForeign(client: Registry, { source, destination }: Mapping): Promise<boolean> {
  const [from, to] = [tryParseReference(source), tryParseReference(destination)];
  if (from?.kind !== 'digest' || to === undefined) return false;
  const standing = await client.resolve(to);
  return standing !== undefined && standing.digest !== from.digest;
}

/** In the directory of a sync's files. Ids by the name of a configuration, or by its file as seen from the directory. */
const FILE = 'configurations.json';

/**
 * The key of a configuration's id: its name, or else its file as seen from the folder. Two configurations may share the
 * folder, and one may be moved together with it.
 */
function keyOf(folder: string, { operands: [file = ''], text }: Invocation, terminal: Terminal): string {
  return text('name') ?? relative(folder, resolve(terminal.directory, file));
}

/**
 * The id of a configuration, remembered in its folder.
 *
 * @throws PipelineError `usage` for a file of ids that cannot be read
 */
function identityIn(folder: string, invocation: Invocation, terminal: Terminal): Identity {
  const { operands, text } = invocation;
  const name = text('name') ?? operands[0] ?? '';
  const id = idsIn(folder).get(keyOf(folder, invocation, terminal)) ?? randomUUID();
  return { id, name, isNamed: text('name') !== undefined };
}

/** Writes the id of a configuration into the folder, where the next sync finds it. */
function rememberIdentity(
  folder: string,
  { id }: Identity,
  { invocation, terminal }: { readonly invocation: Invocation; readonly terminal: Terminal },
): void {
  const ids = new Map(idsIn(folder)).set(keyOf(folder, invocation, terminal), id);
  writeFiles(folder, new Map([[FILE, `${JSON.stringify(Object.fromEntries(ids), null, 2)}\n`]]));
}

/**
 * The ids of configurations that a folder has been synchronized with.
 *
 * @throws PipelineError `usage` if the file is damaged
 */
function idsIn(folder: string): ReadonlyMap<string, string> {
  const path = join(folder, FILE);
  if (!existsSync(path)) return new Map();
  try {
    const value: unknown = parseJson(readText(path));
    const entries = isObject(value) ? Object.entries(value) : [];
    const ids = entries.flatMap(([key, id]) => (isId(id) ? [[key, id] as const] : []));
    if (isObject(value) && ids.length === entries.length) return new Map(ids);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new PipelineError('usage', `${path} does not contain the ids of configurations`, {
    hint: 'restore it: with another id, a configuration counts as another one',
  });
}

/** Whether a value is written as `randomUUID` writes it. */
function isId(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f-]{36}$/.test(value);
}

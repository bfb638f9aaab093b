/** One catalog is to be published: the message's commit, or the newest one that the branch has. */
import { rmSync } from 'node:fs';
import type { Finding } from '../../../catalog/finding.ts';
import { PipelineError } from '../../error.ts';
import { readCommit } from '../../git/commit.ts';
import { isOn } from '../../git/fetch-commits.ts';
import type { Store } from '../../oci/image/build-cache.ts';
import { policyAt } from '../../policy/read-policy.ts';
import { temporaryFolder } from '../../write.ts';
import { prefixOf } from '../documents.ts';
import { fenceName } from '../fence.ts';
import type { Published, PublishPorts } from '../plan.ts';
import { publishCatalog } from '../publish.ts';
import type { PublishReceipt } from '../receipt.ts';
import { inRings, recordRings } from '../rings/store.ts';
import { whyHeldBack } from './bundles.ts';
import { type CatalogMessage, messageOf } from './message.ts';
import {
  askReport,
  isDone,
  lastWord,
  noteOutcome,
  noteRetry,
  type Outcome,
  outcomeAt,
  recordBehind,
  recordOutcome,
  recordWaiting,
} from './outcome.ts';
import { tellWhenEnded } from './overtaken.ts';
import type { DeliveryPorts, OpenBranch } from './ports.ts';

export interface CatalogOptions {
  /** What builds remember of each other. */
  readonly store?: Store | undefined;
  /** Whether a failure is tried again at once: then it is written down, and not reported. */
  readonly isRetried?: boolean | undefined;
}

/**
 * Publishes, and reports what became of it; a message that was done before does nothing, unless it says why it is
 * to be done anew. Whatever it throws may be tried again: all that it does is done over, to the same end.
 *
 * @throws PipelineError as the stage
 */
export async function handleCatalog(
  message: CatalogMessage,
  ports: DeliveryPorts,
  options: CatalogOptions = {},
): Promise<Published | undefined> {
  let published: Published | undefined;
  try {
    published = await publishMessage(message, ports, options);
  } catch (error) {
    await reportFailure(ports, () => tellWhenEnded(ports, message));
    throw error;
  }
  await tellWhenEnded(ports, message);
  return published;
}

/**
 * Handles the message of one catalog.
 *
 * @returns undefined if nothing was published: it is done, overtaken by a newer commit, or not on the branch
 */
async function publishMessage(
  message: CatalogMessage,
  ports: DeliveryPorts,
  options: CatalogOptions,
): Promise<Published | undefined> {
  // Recorded before its report is asked for; the reconciler looks after what happens later.
  const before = await earlierOutcome(message, ports);
  if (before && isDone(before)) {
    await askReport(ports, before);
    return undefined;
  }
  // In a burst of merges most messages end here, before the repository is opened.
  const { behind } = message;
  if (behind !== undefined) {
    const newer = await earlierOutcome({ ...message, commit: behind }, ports);
    if (await recordOvertaken(message, newer, ports)) return undefined;
  }
  const branch = await ports.open(message);
  const publishing: CatalogToPublish = { branch, ports, options, published: new Set() };
  try {
    if (!(await isOn(branch.repository, message.commit, branch.tip))) {
      const detail = `it is not on ${message.branch}`;
      ports.log(`${message.commit} of ${message.repository}: nothing to do, ${detail}`);
      // The commit gets no status: it may be anybody's.
      const { repository, catalog, commit } = message;
      await noteOutcome(ports.records, { repository, catalog, commit, state: 'refused', detail });
      return undefined;
    }
    if (branch.tip === message.commit) {
      await recordWaiting(ports, message);
      return await publishNewest(message, publishing);
    }
    return await publishBehind(message, publishing);
  } catch (error) {
    const recordEnd = branch.tip === message.commit ? recordOutcome : recordBehind;
    // A failure that is tried again at once is noted, and nobody is told yet.
    const tell: typeof recordBehind = options.isRetried
      ? (_, of, { detail }) => noteRetry(ports, of, detail)
      : recordEnd;
    // What is published has not failed, whatever could not be recorded of it.
    const isFailed = error instanceof PipelineError && !publishing.published.has(message.commit);
    if (isFailed) await recordFailure(ports, tell, { message, error });
    throw error;
  } finally {
    await branch.close();
  }
}

/** What became of a message's commit, as far as it is not to be done anew. */
async function earlierOutcome(
  message: CatalogMessage,
  { records }: DeliveryPorts,
): Promise<Outcome | undefined> {
  // An epoch that is raised, and what differs from its claim, ask for commits that were published before.
  if (message.again || message.epoch !== undefined) return undefined;
  return outcomeAt(records, message);
}

/**
 * Records that a newer commit was published in the place of this one.
 *
 * @returns false if none was, as far as `newer` tells
 */
async function recordOvertaken(
  message: CatalogMessage,
  newer: Outcome | undefined,
  ports: DeliveryPorts,
): Promise<boolean> {
  if (!newer || !isDone(newer)) return false;
  // Whoever recorded that one may have died before it was told.
  await askReport(ports, newer);
  if (newer.state === 'retired') {
    await recordOutcome(ports, message, { state: 'retired', detail: newer.detail });
    return true;
  }
  const detail = newer.state === 'superseded' ? newer.detail : newer.commit;
  await recordOutcome(ports, message, { state: 'superseded', detail, documents: newer.documents });
  return true;
}

/** Records a failure although the queue delivers the message again: people see the reason meanwhile. */
async function recordFailure(
  ports: DeliveryPorts,
  tell: typeof recordBehind,
  { message, error }: { readonly message: CatalogMessage; readonly error: PipelineError },
): Promise<void> {
  await reportFailure(ports, () => tell(ports, message, { state: 'failed', detail: error.message }));
}

/** Reports a failure. If the report fails too, it must not hide the first failure. */
async function reportFailure({ log }: DeliveryPorts, report: () => Promise<void>): Promise<void> {
  try {
    await report();
  } catch (error) {
    log(`cannot report the failure: ${error instanceof Error ? error.message : String(error)}`);
  }
}

interface CatalogToPublish {
  readonly branch: OpenBranch;
  readonly ports: DeliveryPorts;
  readonly options: CatalogOptions;
  /** Commits that were published since. */
  readonly published: Set<string>;
}

/** Publishes the branch's newest commit, which has the last word on its catalog unless a newer one was heard of meanwhile. */
async function publishNewest(message: CatalogMessage, publishing: CatalogToPublish): Promise<Published> {
  const { ports } = publishing;
  const before = await lastCommit(ports, message);
  const published = await publishCommit(message, publishing);
  const since = await lastCommit(ports, message);
  const isOvertaken = since !== undefined && since !== before && since !== message.commit;
  const record = isOvertaken ? recordBehind : recordOutcome;
  await record(ports, message, outcomeOf(published, message));
  return published;
}

/** The commit that has the last word on a catalog; undefined where none is known. */
async function lastCommit({ records }: DeliveryPorts, message: CatalogMessage): Promise<string | undefined> {
  const last = await lastWord(records, message);
  return last === 'unreadable' ? undefined : last?.commit;
}

/** Publishes the newest commit in the place of an older one, or the older one if that is not possible. */
async function publishBehind(
  message: CatalogMessage,
  publishing: CatalogToPublish,
): Promise<Published | undefined> {
  const { branch, ports } = publishing;
  const newest = { ...message, commit: branch.tip };
  const outcomeOfNewest = await earlierOutcome(newest, ports);
  if (await recordOvertaken(message, outcomeOfNewest, ports)) return undefined;
  // What failed comes again by its own message.
  const hasFailed = outcomeOfNewest?.state === 'refused' || outcomeOfNewest?.state === 'failed';
  const first = hasFailed ? undefined : await tryNewest(newest, publishing);
  if (first && first.kind !== 'refused') {
    await recordOutcome(ports, message, outcomeOf(first, message));
    return first;
  }
  const published = await publishCommit(message, publishing);
  await recordBehind(ports, message, outcomeOf(published, message));
  return published;
}

/**
 * Publishes the newest commit.
 *
 * @returns undefined when it fails: its own message says why, and keeps back no other commit
 */
async function tryNewest(
  newest: CatalogMessage,
  publishing: CatalogToPublish,
): Promise<Published | undefined> {
  try {
    return await publishNewest(newest, publishing);
  } catch (error) {
    if (!(error instanceof PipelineError)) throw error;
    publishing.ports.log(`${newest.commit} of ${newest.catalog} is not published: ${error.message}`);
    return undefined;
  }
}

/** Publishes a catalog as a commit has it; refused if a bundle that it names is not released. */
async function publishCommit(
  { repository: name, branch: branchName, catalog, commit, epoch }: CatalogMessage,
  { branch, ports, options, published: publishedCommits }: CatalogToPublish,
): Promise<Published> {
  const { registry, fence, lease, records, signer, isAnonymous, log, now } = ports;
  const { repository } = branch;
  const from = { repository: name, branch: branchName };
  const missing = await missingBundle({ repository, from, commit }, catalog, ports);
  if (missing) return { kind: 'refused', findings: [missing] };
  const out = temporaryFolder('publish');
  try {
    const request = {
      commit,
      catalog,
      epoch,
      out,
      today: now().toISOString().slice(0, 10),
      store: options.store,
      page: true,
      from,
    };
    const imagesInRings = inRings(fence, (...parameters) => recordRings(records, ...parameters));
    const measured: PublishPorts['measured'] = (step, seconds) => ports.measured?.(step, seconds, name);
    const shared = { fence, lease, records, signer, isAnonymous, inRings: imagesInRings, measured };
    const published = await publishCatalog({ repository, registry, ...shared, progress: log }, request);
    if (published.kind === 'published') {
      publishedCommits.add(commit);
      const { committer } = await readCommit(repository.objects, commit);
      // An older commit would count the time of those before it.
      if (commit === branch.tip) ports.measured?.('lag', now().getTime() / 1000 - committer.time, name);
      await reportPublished(ports, name, published.receipt);
    }
    return published;
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

/** A bundle that a catalog names and that was refused. @throws PipelineError, retryable, for one that is not released yet */
async function missingBundle(
  at: Omit<Parameters<typeof whyHeldBack>[0], 'policy'>,
  catalog: string,
  ports: DeliveryPorts,
): Promise<Finding | undefined> {
  if (!ports.releaserOf) return undefined;
  const { policy } = await policyAt(at.repository.objects, at.commit);
  const why = policy && (await whyHeldBack({ ...at, policy }, catalog, ports));
  return why === undefined
    ? undefined
    : { rule: 'release/image', severity: 'error', message: why, location: { file: '', line: 1, column: 1 } };
}

/** How a publish ended, in the form of records and reports. */
function outcomeOf(published: Published, { commit, catalog }: CatalogMessage) {
  if (published.kind === 'superseded') {
    const { by, image } = published;
    // A retirement builds no image, so it has no documents.
    if (by.retired !== undefined)
      return { state: 'retired', detail: `${catalog} is not in the newer commit ${by.commit}` } as const;
    const documents = documentsOf({ ...by, catalog, image });
    // Of the same commit, on another base image: who published that one announces it.
    if (by.commit === commit) return { state: 'published', detail: by.digest, documents } as const;
    return { state: 'superseded', detail: by.commit, documents } as const;
  }
  if (published.kind === 'refused') {
    const first = published.findings.find(({ severity }) => severity === 'error');
    return { state: 'refused', detail: first ? `${first.rule}: ${first.message}` : 'it has errors' } as const;
  }
  const { receipt } = published;
  const documents = documentsOf(receipt);
  // The newest commit was published in place of the message's.
  if (receipt.commit !== commit) return { state: 'superseded', detail: receipt.commit, documents } as const;
  return { state: 'published', detail: receipt.digest, documents } as const;
}

/** Prefix of the keys of a publish's documents. */
function documentsOf(receipt: Pick<PublishReceipt, 'catalog' | 'image' | 'commit' | 'digest'>): string {
  return prefixOf(fenceName(receipt.catalog, receipt.image), receipt);
}

/** Asks that a publish is reported. Before its end is recorded: after that nobody comes back to it. */
async function reportPublished(
  { reports }: DeliveryPorts,
  repository: string,
  receipt: PublishReceipt,
): Promise<void> {
  const { catalog, commit } = receipt;
  const of = { v: 1, kind: 'report', repository, commit, catalog, documents: documentsOf(receipt) } as const;
  for (const what of ['event', 'deployment'] as const) await reports.send(messageOf({ ...of, what }));
}

/** Carries out what a sync has planned. */
import { resolve } from 'node:path';
import { PLAN_FILES, planFiles } from '../../../../catalog/mirror/files.ts';
import type { GroupReadiness } from '../../../../catalog/mirror/image-group.ts';
import { readMapping } from '../../../../catalog/mirror/mapping.ts';
import { mappingsOf } from '../../../../catalog/mirror/plan.ts';
import { type Installable, type MirrorReport, reachedReadiness } from '../../../../catalog/mirror/report.ts';
import { type CopyReport, copyImages } from '../../../mirror/copy.ts';
import { type CopyJob, copyJobs, destinationHosts } from '../../../mirror/copy-jobs.ts';
import type { MirrorOutcome } from '../../../mirror/prepare.ts';
import { systemClock } from '../../../oci/registry/http/retry.ts';
import { findingText } from '../../../text.ts';
import { writeFiles } from '../../../write.ts';
import { countOption, type Invocation } from '../../command.ts';
import { registryClientFor } from '../../registry-access.ts';
import {
  copyProgress,
  DISTANT_CONCURRENCY,
  elsewhereLine,
  failureLines,
  PARALLEL,
  requestsOf,
} from '../copy-output.ts';
import { openWay } from '../copy-route.ts';
import { collectArrivals, type SignedReport, signingOf, signState } from '../freshness-sign.ts';
import { folderOf, type Planned, type SyncRun } from './plan-sync.ts';
import { type Arrived, arrivedIn, type Pruned, pruneSuperseded, recordPlan, rememberPlan } from './steps.ts';

type Mappings = ReturnType<typeof readMapping>['mappings'];
type SyncClient = ReturnType<typeof registryClientFor>;
type CopyWay = Awaited<ReturnType<typeof openWay>>;

/** What came of a sync. */
export interface SyncReport {
  readonly catalogs: MirrorOutcome['report']['catalogs'];
  readonly copy: CopyReport & { readonly requests: number; readonly archive?: number };
  /** What was looked for in the mirror; absent for an archive. */
  readonly verified?: Arrived;
  readonly ready: MirrorReport['ready'];
  readonly charts?: GroupReadiness;
  readonly releases?: GroupReadiness;
  /** The directory with the manifests; absent when they were not written, as an index image is missing. */
  readonly documents?: string;
  /** The freshness statement; absent without a key, and when the manifests were not written. */
  readonly signed?: SignedReport;
  readonly pruned?: Pruned;
}

/** Copies, then verifies, writes the documents, signs and deletes: each step relies on those before it. */
export async function carryOut(planned: Planned, run: SyncRun): Promise<SyncReport> {
  const { outcome, errors, options, part } = planned;
  const { command, invocation, terminal } = run;
  const folder = resolve(terminal.directory, folderOf(invocation));
  const signing = signingOf(command, invocation, terminal);
  const text = planFiles({ ...outcome, options }).get('mapping.txt') ?? '';
  const path = resolve(folder, 'mapping.txt');
  const { mappings } = readMapping(text, path);
  const client = clientFor(mappings, run);
  try {
    const records = isToArchive(invocation)
      ? undefined
      : await recordPlan(folder, outcome, { registry: client, invocation, terminal });
    const history = rememberPlan(folder, outcome, text);
    const way = await openWay(invocation, terminal, { client, mapping: { path, text }, part });
    const { copy, verified, ...copied } = await copyPlanned(mappings, { way, client }, run);
    const whole = verified && new Set(verified.there);
    const installable = whole
      ? reachedReadiness(outcome, options.platform, whole)
      : installableOf(outcome.report);
    const indexes = outcome.report.catalogs.map(({ destination }) => destination);
    const hasIndexes = indexes.every((destination) => !whole || whole.has(destination));
    // The documents send clusters to the index images.
    if (hasIndexes) {
      const report = { ...outcome.report, ...installable };
      writeFiles(folder, planFiles({ ...outcome, report, options }), PLAN_FILES);
    }
    const archive = await way.finish();
    const signed =
      signing && hasIndexes
        ? await signState(
            signing,
            { ...copied, indexes, whole, folder, registry: client },
            { invocation, terminal },
          )
        : undefined;
    // A chart that cannot be read may need images that an earlier sync copied.
    const isWhole = errors.length + copy.failed.length + (verified?.missing.length ?? 0) === 0;
    if (isWhole) await records?.settle();
    const pruned = await pruneSuperseded(history, mappingsOf(outcome.plan), {
      client,
      folder,
      records: invocation.flag('prune') && isWhole ? records : undefined,
    });
    return {
      catalogs: outcome.report.catalogs,
      copy: { ...copy, ...archive, requests: requestsOf(client) },
      ...(verified && { verified }),
      ...installable,
      ...(hasIndexes && { documents: folderOf(invocation) }),
      ...(signed && { signed }),
      ...(pruned && { pruned }),
    };
  } finally {
    client.close();
  }
}

/** Whether the images go into an archive, in which nothing can be looked up or deleted. */
function isToArchive({ text }: Invocation): boolean {
  return text('to-archive') !== undefined;
}

/** A client for the registries of a sync: those that it copies to may be on internal networks. */
function clientFor(mappings: Mappings, { command, invocation, terminal }: SyncRun): SyncClient {
  const concurrency = countOption(command, invocation, 'concurrency');
  return registryClientFor(invocation, terminal, {
    hosts: destinationHosts(mappings),
    concurrency,
    distantConcurrency: concurrency ?? DISTANT_CONCURRENCY,
  });
}

interface Copied {
  readonly jobs: readonly CopyJob[];
  /** Digests of copied images, by destination. */
  readonly images: ReturnType<typeof collectArrivals>['images'];
  readonly copy: CopyReport;
  /** What the mirror has; absent for an archive. */
  readonly verified: Arrived | undefined;
}

/** Copies what a mapping lists, and looks for all of it in the mirror; completes lists that lack platforms. */
async function copyPlanned(
  mappings: Mappings,
  { way, client }: { readonly way: CopyWay; readonly client: SyncClient },
  { command, invocation, terminal }: SyncRun,
): Promise<Copied> {
  const { jobs, findings } = await copyJobs(mappings, client);
  for (const finding of findings) terminal.err(findingText(finding));
  const progress = copyProgress(terminal);
  const ports = {
    ...way.ports,
    clock: systemClock,
    progress: progress.tell,
    elsewhere: (sources: readonly string[]) => void terminal.err(`${elsewhereLine(sources)}\n`),
  };
  const { images, arrived } = collectArrivals();
  const request = {
    parallel: countOption(command, invocation, 'parallel') ?? PARALLEL,
    companions: !invocation.flag('no-signatures'),
    arrived,
  };
  const copy = await copyImages(ports, { ...request, jobs }).finally(async () => {
    progress.end();
    await way.close();
  });
  for (const line of failureLines(copy)) terminal.err(`${line}\n`);
  if (isToArchive(invocation)) return { jobs, images, copy, verified: undefined };
  const verified = await arrivedIn(jobs, client, {
    failed: copy.failed,
    complete: async (some) => void (await copyImages(ports, { ...request, jobs: some, checksLists: true })),
  });
  return { jobs, images, copy, verified };
}

/** What can be installed as planned: nobody can look whether an archive's images have arrived. */
function installableOf({ ready, charts, releases }: MirrorReport): Installable {
  return { ready, ...(charts && { charts }), ...(releases && { releases }) };
}

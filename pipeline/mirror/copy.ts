/**
 * Carrying out a mapping: images with all platforms, their signatures and referrers, from
 * registries into registries or archives. What is there is not sent; what fails is said at
 * the end and stops nothing else.
 */
import { compareText } from '../../catalog/go/text.ts';
import { PipelineError } from '../error.ts';
import { eachOf } from '../parallel.ts';
import type { BlobOutcome } from '../ports.ts';
import { createBlobMover } from './blobs.ts';
import { copyCompanions } from './copy-companions.ts';
import type { CopyJob } from './copy-jobs.ts';
import type { CopyPorts, CopyRun } from './copy-run.ts';
import { type Inspected, inspectCopy } from './inspect.ts';
import { createProgress, type Progress } from './progress.ts';
import { pushImage } from './push-image.ts';
import { createTagLists } from './tag-lists.ts';

export interface CopyRequest {
  readonly jobs: readonly CopyJob[];
  /** Images at a time. */
  readonly parallel: number;
  /** Whether referrers and signatures go along. */
  readonly companions: boolean;
}

/** What came of a copy. */
export interface CopyReport {
  readonly images: number;
  readonly copied: number;
  readonly unchanged: number;
  /** Signatures and referrers that were copied along. */
  readonly companions: number;
  readonly blobs: Readonly<Record<BlobOutcome, number>>;
  /** Bytes of blobs and manifests that were sent. */
  readonly bytes: number;
  /** Sorted by destination. */
  readonly failed: readonly FailedCopy[];
}

export interface FailedCopy {
  readonly source: string;
  readonly destination: string;
  readonly why: string;
}

/** Copies images; whatever fails for one of them is in the report. */
export async function copyImages(ports: CopyPorts, request: CopyRequest): Promise<CopyReport> {
  const progress = createProgress(request.jobs.length, ports.progress);
  const run: CopyRun = {
    ports,
    progress,
    mover: createBlobMover(ports.to, ports.memory, progress.sent),
    sources: { registry: ports.from, tags: createTagLists(ports.from), keepsReferrers: ports.keepsReferrers },
    destinations: createTagLists(ports.to),
  };
  const failed: FailedCopy[] = [];
  const attempt = async (job: CopyJob, work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof PipelineError)) throw error;
      failed.push({ source: job.source, destination: job.destination, why: error.message });
    }
  };
  const looked: Inspected[] = [];
  await eachOf(request.jobs, request.parallel, (job) =>
    attempt(job, async () => {
      looked.push(await inspectCopy(job, run));
    }),
  );
  progress.expect(looked);
  run.mover.expect(progress.state().bytes.total);
  await eachOf(inOrder(looked, request.jobs), request.parallel, async (image) => {
    if (request.companions) await attempt(image.job, () => copyCompanions(image, run));
    await attempt(image.job, () => pushImage(image, run));
    progress.imageDone();
  });
  if (failed.length === 0) ports.memory.end();
  return reportOf(request, { progress, looked, failed });
}

/** As the mapping has them: looking ends in any order. */
function inOrder(looked: readonly Inspected[], jobs: readonly CopyJob[]): Inspected[] {
  const places = new Map(jobs.map((job, i) => [job, i]));
  return [...looked].sort((a, b) => (places.get(a.job) ?? 0) - (places.get(b.job) ?? 0));
}

function reportOf(
  { jobs }: CopyRequest,
  { progress, looked, failed }: { progress: Progress; looked: readonly Inspected[]; failed: FailedCopy[] },
): CopyReport {
  const bad = new Set(failed.map(({ destination }) => destination));
  const good = looked.filter(({ job }) => !bad.has(job.destination));
  return {
    images: jobs.length,
    copied: good.filter(({ content }) => content !== undefined).length,
    unchanged: good.filter(({ content }) => content === undefined).length,
    ...progress.counts(),
    failed: failed.sort((a, b) => compareText(a.destination, b.destination)),
  };
}

/**
 * Carrying out a mapping: images with all platforms or those chosen, their signatures and referrers, from
 * registries into registries or archives. What is there is not sent; what fails is said at
 * the end and stops nothing else.
 */
import { compareText } from '../../catalog/go/text.ts';
import { PipelineError } from '../error.ts';
import { SilentHost } from '../oci/registry/http/silence.ts';
import { isElsewhere, parseManifest } from '../oci/registry/image.ts';
import { readImage } from '../oci/registry/push.ts';
import { eachOf } from '../parallel.ts';
import type { BlobOutcome } from '../ports.ts';
import { createBlobMover } from './blobs.ts';
import { type Companion, companionError, companionsOf, createTagLists } from './companions.ts';
import type { CopyJob } from './copy-jobs.ts';
import type { CopyPorts, CopyRun } from './copy-run.ts';
import { type Inspected, inspectCopy, movedReference } from './inspect.ts';
import { createProgress, type Progress } from './progress.ts';
import { pushContent, pushImage } from './push-image.ts';
import { checkSparse } from './sparse.ts';
import { isSpoiled } from './until-sound.ts';
import { countWrites, isNotTried, type Refusal } from './writes.ts';

export interface CopyRequest {
  readonly jobs: readonly CopyJob[];
  /** Images at a time. */
  readonly parallel: number;
  /** Whether referrers and signatures go along. */
  readonly companions: boolean;
  /** How many of them an image may have, 10,000 without it. */
  readonly mostCompanions?: number;
  /** Whether existing lists are checked for all of their platforms: an earlier copy may have left some out. */
  readonly checksLists?: boolean;
  /** Told of each image that has the destination's name now, with its digest. */
  readonly arrived?: (job: CopyJob, digest: string) => void;
}

/** The result of a copy. */
export interface CopyReport {
  readonly images: number;
  readonly copied: number;
  readonly unchanged: number;
  /** Signatures and referrers that were copied along. */
  readonly companions: number;
  readonly blobs: Readonly<Record<BlobOutcome, number>>;
  /** Bytes of blobs and manifests that were sent; those that an earlier run sent are not among them. */
  readonly bytes: number;
  /** Sorted by destination. */
  readonly failed: readonly FailedCopy[];
  /** Registries that took nothing: where there were many writes, the copy ended early. */
  readonly refused: readonly Refusal[];
}

export interface FailedCopy {
  readonly source: string;
  readonly destination: string;
  readonly why: string;
  /** Set where a host did not answer. */
  readonly isUnanswered?: true;
}

/** Copies images; whatever fails for one of them is in the report. */
export async function copyImages(ports: CopyPorts, request: CopyRequest): Promise<CopyReport> {
  const progress = createProgress(request.jobs.length, ports.progress);
  const writes = countWrites();
  const putBlob: CopyPorts['to']['putBlob'] = (to, ...rest) =>
    writes.attempt(to.registry, 'blob', () => ports.to.putBlob(to, ...rest));
  const run: CopyRun = {
    ports,
    progress,
    writes,
    mover: createBlobMover({ putBlob }, ports.memory, progress),
    sources: {
      registry: ports.from,
      tags: createTagLists(ports.from),
      keepsReferrers: ports.keepsReferrers,
      firstLists: new Map(),
    },
    destinations: createTagLists(ports.to),
    checksLists: request.checksLists === true,
  };
  const results: CopyResults = { looked: new Map(), failed: new Map() };
  const { looked, failed } = results;
  await copyOnce(run, request, results);
  await tryAgain(failed, ports.clock, (jobs) => {
    writes.again();
    return copyOnce(run, { ...request, jobs, parallel: Math.min(request.parallel, PARALLEL_AGAIN) }, results);
  });
  if (failed.size === 0) ports.memory.end();
  return {
    ...reportOf(request, { progress, looked: [...looked.values()], failed }),
    refused: writes.refusing(),
  };
}

/** What came of each job; what fails first may succeed later. */
interface CopyResults {
  readonly looked: Map<CopyJob, Inspected>;
  readonly failed: Map<CopyJob, PipelineError>;
}

/** One pass over jobs: looks at all images, then copies them. */
async function copyOnce(
  run: CopyRun,
  { jobs, parallel, companions, mostCompanions = MOST_COMPANIONS }: CopyRequest,
  { looked, failed }: CopyResults,
): Promise<void> {
  const { ports, progress, mover } = run;
  const attempt = async (job: CopyJob, work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof PipelineError)) throw error;
      failed.set(job, error);
    }
  };
  const found: Inspected[] = [];
  await eachOf(jobs, parallel, (job) =>
    attempt(job, async () => {
      const image = await inspectCopy(job, run);
      found.push(image);
      // What an earlier pass has sent counts as copied: it stands at the destination by now.
      looked.set(job, { ...image, content: image.content ?? looked.get(job)?.content });
    }),
  );
  const elsewhere = found.filter(hasLayersElsewhere).map(({ job }) => job.source);
  if (elsewhere.length > 0) ports.elsewhere?.(elsewhere);
  if (ports.sparse) await checkSparse(found, ports.sparse);
  progress.expect(found);
  mover.expect(progress.state().bytes.total);
  await eachOf(inOrder(found, jobs), parallel, async (image) => {
    if (companions) await attempt(image.job, () => copyCompanions(image, { run, most: mostCompanions }));
    await attempt(image.job, () => pushImage(image, run));
    progress.imageDone();
  });
}

/** Images at a time where something failed before. */
const PARALLEL_AGAIN = 16;
/** Milliseconds before a further pass, by how many passes in a row have brought nothing. */
const PAUSES = [2000, 10_000, 20_000];

/** Repeats failed copies that may succeed later, until all do, or until several passes in a row bring nothing. */
async function tryAgain(
  failed: Map<CopyJob, PipelineError>,
  clock: CopyPorts['clock'],
  copyAll: (jobs: readonly CopyJob[]) => Promise<void>,
): Promise<void> {
  const before = new Map<CopyJob, PipelineError>();
  for (let idle = 0; ; ) {
    const again = [...failed]
      .filter(([job, error]) => mayPass(error) && !isPermanent(error, before.get(job)))
      // What was not tried comes first: it may be of another kind than what failed.
      .sort(([, a], [, b]) => Number(isNotTried(b)) - Number(isNotTried(a)))
      .map(([job]) => job);
    const pause = PAUSES[idle];
    if (again.length === 0 || pause === undefined) return;
    await clock.sleep(pause);
    const count = failed.size;
    for (const job of again) {
      const error = failed.get(job);
      if (error) before.set(job, error);
      failed.delete(job);
    }
    await copyAll(again);
    idle = failed.size < count ? 0 : idle + 1;
  }
}

/**
 * Whether a registry answered 500 in the same words in two passes, each of several tries: that is how distribution
 * refuses what it does not accept, such as layers whose URL it does not allow. Or whether it has not answered at all.
 */
function isPermanent(error: PipelineError, before: PipelineError | undefined): boolean {
  if (isSilence(error) && isSilence(before)) return true;
  return (
    error.status === 500 && before?.status === 500 && error.message === before.message && !isNotTried(error)
  );
}

/** Whether a registry, or a mirror of it, has never answered. */
function isSilence(error: PipelineError | undefined): boolean {
  return error instanceof SilentHost || error?.cause instanceof SilentHost;
}

/** Whether another pass may bring what failed. */
function mayPass(error: PipelineError): boolean {
  return error.retryable || isSpoiled(error);
}

/** Whether an image has layers that its registry does not distribute, as those of Windows once were. */
function hasLayersElsewhere({ content }: Inspected): boolean {
  if (!content) return false;
  return [content.root, ...content.manifests].some((manifest) => {
    const parsed = parseManifest(manifest);
    return parsed.kind === 'image' && parsed.layers.some(isElsewhere);
  });
}

/** Inspected jobs in the order of the mapping: inspections end in any order. */
function inOrder(looked: readonly Inspected[], jobs: readonly CopyJob[]): Inspected[] {
  const places = new Map(jobs.map((job, i) => [job, i]));
  return [...looked].sort((a, b) => (places.get(a.job) ?? 0) - (places.get(b.job) ?? 0));
}

/** The report. It also tells `arrived` of each image that is there with all that belongs to it. */
function reportOf(
  { jobs, arrived }: CopyRequest,
  {
    progress,
    looked,
    failed,
  }: {
    readonly progress: Progress;
    readonly looked: readonly Inspected[];
    readonly failed: ReadonlyMap<CopyJob, PipelineError>;
  },
): Omit<CopyReport, 'refused'> {
  const good = looked.filter(({ job }) => !failed.has(job));
  for (const { job, digest } of good) arrived?.(job, digest);
  const reasons = [...failed].map(([{ source, destination }, { message, code }]) => ({
    source,
    destination,
    why: message,
    ...(code === 'unreachable' && { isUnanswered: true as const }),
  }));
  return {
    images: jobs.length,
    copied: good.filter(({ content }) => content !== undefined).length,
    unchanged: good.filter(({ content }) => content === undefined).length,
    ...progress.counts(),
    failed: reasons.sort((a, b) => compareText(a.destination, b.destination)),
  };
}

/** How far a signature of a signature, and so on, is followed. */
const DEPTH = 3;
/** How many of them an image may have in all: each may have as many again. */
const MOST_COMPANIONS = 10_000;

/**
 * Copies signatures and referrers; all are tried.
 *
 * @throws PipelineError for one that could not be copied
 */
async function copyCompanions(
  image: Inspected,
  { run, most }: { readonly run: CopyRun; readonly most: number },
): Promise<void> {
  // An image layout: only a registry is asked for what is attached to an image.
  if (!image.job.from) return;
  await copyAttached([image.digest, ...(await image.platforms())], {
    image,
    run,
    depth: 0,
    room: { most, left: most },
  });
}

interface CopyContext {
  readonly image: Inspected;
  readonly run: CopyRun;
  readonly depth: number;
  /** How many more may be copied. */
  readonly room: { readonly most: number; left: number };
}

/**
 * Copies everything attached to digests, and what is attached to that.
 *
 * @throws the first error that another try cannot mend, else the first
 */
async function copyAttached(digests: readonly string[], context: CopyContext): Promise<void> {
  const { image, run, depth, room } = context;
  const failures: PipelineError[] = [];
  for (const companion of await companionsOf(image.source.reference, digests, run.sources)) {
    if (--room.left < 0) throw tooManyCompanions(image, room.most);
    try {
      const digest = await copyCompanion(companion, context);
      if (digest !== undefined && depth < DEPTH)
        await copyAttached([digest], { ...context, depth: depth + 1 });
    } catch (error) {
      if (!(error instanceof PipelineError)) throw error;
      failures.push(companionError(companion, image.job.source, error));
    }
  }
  // One that another try cannot mend decides: the others need not be tried again.
  const worst = failures.find((error) => !error.retryable) ?? failures[0];
  if (worst) throw worst;
}

/** The error for an image with more attached artifacts than anybody means: each may have as many again. */
function tooManyCompanions({ job }: Inspected, most: number): PipelineError {
  const what = 'signatures and other artifacts, with those of each of them';
  return new PipelineError('too-large', `${job.source} has more than ${most} ${what}`, {
    hint: 'use --no-signatures to copy it without them',
  });
}

/** Copies one attached artifact. @returns the digest of a referrer, which may have referrers itself */
async function copyCompanion(
  { reference, subject }: Companion,
  { image, run }: CopyContext,
): Promise<string | undefined> {
  const { to } = run.ports;
  const destination = movedReference(reference, image.job.to);
  const content = await readImage(run.ports.from, reference);
  const { digest } = content.root;
  // A list in a tag may name what is about something else.
  if (subject !== undefined && parseManifest(content.root).subject?.digest !== subject) return undefined;
  const standing = image.isNew ? undefined : await to.resolve(destination);
  if (standing?.digest !== digest) {
    await pushContent(content, destination, { run, isNew: image.isNew, beside: undefined });
    run.progress.companionDone();
  }
  return subject === undefined ? undefined : digest;
}

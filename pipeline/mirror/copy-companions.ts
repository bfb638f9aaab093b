/** Copying what belongs to an image along with it. */
import { PipelineError } from '../error.ts';
import { parseManifest } from '../oci/registry/image.ts';
import { readImage } from '../oci/registry/push.ts';
import { type Companion, companionError, companionsOf } from './companions.ts';
import type { CopyRun } from './copy-run.ts';
import { type Inspected, moved } from './inspect.ts';
import { pushContent } from './push-image.ts';

/** How far a signature of a signature, and so on, is followed. */
const DEPTH = 3;

/**
 * Copies signatures and referrers; all are tried.
 *
 * @throws PipelineError for one that could not be copied
 */
export async function copyCompanions(image: Inspected, run: CopyRun): Promise<void> {
  if (!image.job.from) return;
  const children = image.content?.manifests.map(({ digest }) => digest) ?? [];
  await copyAll([image.digest, ...children], { image, run, depth: 0 });
}

interface Along {
  readonly image: Inspected;
  readonly run: CopyRun;
  readonly depth: number;
}

async function copyAll(digests: readonly string[], along: Along): Promise<void> {
  const { image, run, depth } = along;
  const failures: PipelineError[] = [];
  for (const companion of await companionsOf(image.source.reference, digests, run.sources)) {
    try {
      const digest = await copyOne(companion, along);
      if (digest !== undefined && depth < DEPTH) await copyAll([digest], { ...along, depth: depth + 1 });
    } catch (error) {
      if (!(error instanceof PipelineError)) throw error;
      failures.push(companionError(companion, image.job.source, error));
    }
  }
  // One that another try cannot mend decides: the others need not be tried again.
  const worst = failures.find((error) => !error.retryable) ?? failures[0];
  if (worst) throw worst;
}

/** @returns the digest of a referrer, which may have referrers itself */
async function copyOne(
  { reference, subject }: Companion,
  { image, run }: Along,
): Promise<string | undefined> {
  const { to } = run.ports;
  const destination = moved(reference, image.job.to);
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

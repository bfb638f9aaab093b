/**
 * Whether what a mapping speaks of is really there: the image at its source and in the
 * mirror, with one digest, lists with each of their platforms.
 */
import { type Reference, withDigest } from '../../catalog/reference.ts';
import { PipelineError } from '../error.ts';
import { parseManifest } from '../oci/registry/image.ts';
import { eachOf } from '../parallel.ts';
import type { Manifest, Registry } from '../ports.ts';
import type { CopyJob } from './copy-jobs.ts';

/** What was found of one line of a mapping. */
export interface Presence {
  readonly source: string;
  readonly destination: string;
  /** What is wrong at the source, and in the mirror; undefined when all of it is there. */
  readonly atSource: string | undefined;
  readonly atDestination: string | undefined;
}

/** Looks for each image on both sides, so many at a time; in the order of the jobs. */
export async function lookOnline(
  jobs: readonly CopyJob[],
  registry: Registry,
  parallel: number,
): Promise<Presence[]> {
  const found = new Map<CopyJob, Presence>();
  await eachOf(jobs, parallel, async (job) => {
    found.set(job, await presenceOf(job, registry));
  });
  return jobs.flatMap((job) => found.get(job) ?? []);
}

async function presenceOf(job: CopyJob, registry: Registry): Promise<Presence> {
  const { source, destination, from, to } = job;
  const [there, here] = await Promise.all([from ? look(from, registry) : undefined, look(to, registry)]);
  const expected = from?.kind === 'digest' ? from.digest : there?.digest;
  const differs =
    here.why === undefined && expected !== undefined && here.digest !== expected
      ? `it is ${here.digest}, not ${expected}`
      : undefined;
  return { source, destination, atSource: there?.why, atDestination: here.why ?? differs };
}

interface Found {
  readonly digest?: string;
  readonly why?: string;
}

async function look(reference: Reference, registry: Registry): Promise<Found> {
  try {
    const manifest = await registry.getManifest(reference);
    if (!manifest) return { why: 'no such image' };
    const missing = await missingOf(manifest, reference, registry);
    const { digest } = manifest;
    return missing.length === 0
      ? { digest }
      : { digest, why: `the manifest list lacks ${missing.join(', ')}` };
  } catch (error) {
    if (error instanceof PipelineError) return { why: error.message };
    throw error;
  }
}

/** Platforms of a list whose manifests are not there. */
async function missingOf(manifest: Manifest, image: Reference, registry: Registry): Promise<string[]> {
  const parsed = parseManifest(manifest);
  if (parsed.kind === 'image') return [];
  const there = await Promise.all(
    parsed.manifests.map(
      async ({ digest }) => (await registry.resolve(withDigest(image, digest))) !== undefined,
    ),
  );
  return parsed.manifests
    .filter((_, i) => !there[i])
    .map(({ digest, platform }) => (platform ? `${platform.os}/${platform.architecture} ${digest}` : digest));
}

/**
 * Whether what a mapping speaks of is really there: the image at its source and in the
 * mirror, with one digest, lists with each of their platforms.
 */
import type { Platforms } from '../../catalog/mirror/platforms.ts';
import { type Reference, withDigest } from '../../catalog/reference.ts';
import { PipelineError } from '../error.ts';
import { imagesFor, parseManifest } from '../oci/registry/image.ts';
import { eachOf } from '../parallel.ts';
import type { Manifest, Registry } from '../ports.ts';
import type { CopyJob } from './copy-jobs.ts';

/** The result for one line of a mapping. */
export interface Presence {
  readonly source: string;
  readonly destination: string;
  /** The problem at the source and in the mirror; undefined if the image is complete. */
  readonly atSource: string | undefined;
  readonly atDestination: string | undefined;
  /** Set where nobody answered for the mirror. */
  readonly isUnanswered?: true;
}

interface LookOptions {
  /** Images at a time. */
  readonly parallel: number;
  /** Whether to check the sources as well; true by default. */
  readonly sources?: boolean;
}

/** Looks for each image on both sides; in the order of the jobs. */
export async function lookOnline(
  jobs: readonly CopyJob[],
  registry: Registry,
  { parallel, sources = true }: LookOptions,
): Promise<Presence[]> {
  const found = new Map<CopyJob, Presence>();
  await eachOf(jobs, parallel, async (job) => {
    found.set(job, await presenceOf(job, registry, sources));
  });
  return jobs.flatMap((job) => found.get(job) ?? []);
}

async function presenceOf(job: CopyJob, registry: Registry, sources: boolean): Promise<Presence> {
  const { source, destination, from, to, platforms } = job;
  const [there, here] = await Promise.all([
    from && sources ? look(from, registry, platforms) : undefined,
    look(to, registry, platforms),
  ]);
  const expected = from?.kind === 'digest' ? from.digest : there?.digest;
  const differs =
    here.why === undefined && expected !== undefined && here.digest !== expected
      ? `it is ${here.digest}, not ${expected}`
      : undefined;
  return {
    source,
    destination,
    atSource: there?.why,
    atDestination: here.why ?? differs,
    ...(here.isUnanswered && { isUnanswered: true as const }),
  };
}

interface Found {
  readonly digest?: string;
  readonly why?: string;
  readonly isUnanswered?: boolean;
}

async function look(reference: Reference, registry: Registry, platforms: Platforms): Promise<Found> {
  try {
    const manifest = await registry.getManifest(reference);
    if (!manifest) return { why: 'no such image' };
    const missing = await missingOf(manifest, { reference, registry, platforms });
    const { digest } = manifest;
    return missing.length === 0
      ? { digest }
      : { digest, why: `the manifest list lacks ${missing.join(', ')}` };
  } catch (error) {
    if (!(error instanceof PipelineError)) throw error;
    return { why: error.message, isUnanswered: error.code === 'unreachable' };
  }
}

interface Looking {
  readonly reference: Reference;
  readonly registry: Registry;
  readonly platforms: Platforms;
}

/** Platforms of a list, of those that are wanted, whose manifests are not there. */
async function missingOf(manifest: Manifest, { reference, registry, platforms }: Looking): Promise<string[]> {
  const parsed = parseManifest(manifest);
  if (parsed.kind === 'image') return [];
  const wanted = platforms ? imagesFor(parsed.manifests, platforms) : parsed.manifests;
  if (wanted.length === 0 && parsed.manifests.length > 0) return [...(platforms ?? [])];
  const there = await Promise.all(
    wanted.map(async ({ digest }) => (await registry.resolve(withDigest(reference, digest))) !== undefined),
  );
  return wanted
    .filter((_, i) => !there[i])
    .map(({ digest, platform }) => (platform ? `${platform.os}/${platform.architecture} ${digest}` : digest));
}

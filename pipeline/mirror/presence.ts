/**
 * Whether what a mapping speaks of is really there: the image at its source and in the
 * mirror, with one digest, lists with each of their platforms.
 */

import { isObject } from '../../catalog/go/shape.ts';
import { parsedJson } from '../../catalog/json.ts';
import type { Platforms } from '../../catalog/mirror/platforms.ts';
import { type Reference, repositoryName, withDigest } from '../../catalog/reference.ts';
import { PipelineError } from '../error.ts';
import { imagesFor, isSchema1, parseManifest } from '../oci/registry/image.ts';
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

/** Whether an image is in the mirror as the plan wants it. @param sources whether the source is asked, too */
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

/** The digest of an image, and `why` it does not count as there. */
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

// Whether images can be copied at all, asked before the first one is: whether each is there, and none is a Docker
// schema 1 manifest, which registries and nodes no longer take.
//
// @see https://docs.docker.com/retired/#docker-image-format-v1-and-docker-image-manifest-version-2-schema-1

/** Why an image cannot be copied. */
interface BadSource {
  readonly job: CopyJob;
  readonly why: string;
  readonly hint?: string;
}

/** Asks each source, so many at a time; in the order of the jobs. */
export async function checkSources(
  jobs: readonly CopyJob[],
  registry: Registry,
  parallel: number,
): Promise<BadSource[]> {
  const found = new Map<CopyJob, BadSource>();
  await eachOf(jobs, parallel, async (job) => {
    const bad = job.from && (await checkSource(job.from, registry));
    if (bad) found.set(job, { job, ...bad });
  });
  return jobs.flatMap((job) => found.get(job) ?? []);
}

/** Why a source image cannot be mirrored; undefined if it can. */
async function checkSource(from: Reference, registry: Registry): Promise<Omit<BadSource, 'job'> | undefined> {
  try {
    const named = await registry.resolve(from);
    if (!named) return { why: 'does not exist' };
    if (!isSchema1(named.mediaType)) return undefined;
    const manifest = await registry.getManifest(withDigest(from, named.digest));
    const owner = (manifest && maintainerIn(manifest.bytes)) ?? `the owner of ${repositoryName(from)}`;
    return {
      why: 'is a Docker schema 1 manifest, which registries and nodes no longer accept',
      hint: `ask ${owner} to push the image again with a current tool, as schema 2 or OCI`,
    };
  } catch (error) {
    if (!(error instanceof PipelineError)) throw error;
    return { why: `cannot be checked: ${error.message}`, ...(error.hint && { hint: error.hint }) };
  }
}

/** The maintainer in a label of an image, or the author of its newest layer. */
function maintainerIn(bytes: Uint8Array): string | undefined {
  const manifest = parsed(new TextDecoder().decode(bytes));
  const history: unknown = isObject(manifest) ? manifest['history'] : undefined;
  // Schema 1 has the newest layer first, with its configuration as text.
  const [newest] = Array.isArray(history) ? history : [];
  const text: unknown = isObject(newest) ? newest['v1Compatibility'] : undefined;
  const image = typeof text === 'string' ? parsed(text) : undefined;
  if (!isObject(image)) return undefined;
  const config = isObject(image['config']) ? image['config'] : {};
  const labels = isObject(config['Labels']) ? config['Labels'] : {};
  const names = [labels['maintainer'], labels['vendor'], image['author']];
  return names.find((name): name is string => typeof name === 'string' && name !== '');
}

function parsed(text: string): unknown {
  return parsedJson(text);
}

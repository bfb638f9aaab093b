/**
 * Whether what a mapping speaks of is really there: the image at its source and in the
 * mirror, with one digest, lists with each of their platforms, images with each of their layers.
 */

import { isObject } from '../../catalog/go/shape.ts';
import { parsedJson } from '../../catalog/json.ts';
import type { Platforms } from '../../catalog/mirror/platforms.ts';
import { type Reference, repositoryName, withDigest } from '../../catalog/reference.ts';
import { PipelineError } from '../error.ts';
import { contentOf, imagesFor, isSchema1, LIST_TYPES, parseManifest } from '../oci/registry/image.ts';
import { readImage } from '../oci/registry/push.ts';
import { eachOf } from '../parallel.ts';
import type { Descriptor, Manifest, Registry, Repository } from '../ports.ts';
import type { CopyJob } from './copy-jobs.ts';
import { openJob } from './inspect.ts';

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
  /** Whether the mirror must also have the configuration and the layers of each image. */
  readonly blobs?: boolean;
}

/** Whether a repository of the mirror has a blob. @throws PipelineError `corrupt` when it has another size */
type HasBlob = (repository: Repository, blob: Pick<Descriptor, 'digest' | 'size'>) => Promise<boolean>;

/** Looks for each image on both sides; in the order of the jobs. */
export async function lookOnline(
  jobs: readonly CopyJob[],
  registry: Registry,
  { parallel, sources = true, blobs = false }: LookOptions,
): Promise<Presence[]> {
  const found = new Map<CopyJob, Presence>();
  const hasBlob = blobs ? askOnce(registry) : undefined;
  await eachOf(jobs, parallel, async (job) => {
    found.set(job, await presenceOf(job, registry, { sources, hasBlob }));
  });
  return jobs.flatMap((job) => found.get(job) ?? []);
}

/** Asks for each blob of a repository once, however many images share it. */
function askOnce(registry: Registry): HasBlob {
  const answers = new Map<string, Promise<boolean>>();
  return (repository, { digest, size }) => {
    const key = `${repositoryName(repository)} ${digest} ${size}`;
    const answer = answers.get(key) ?? registry.hasBlob(repository, digest, size);
    answers.set(key, answer);
    return answer;
  };
}

/** Whether an image is in the mirror as the plan wants it. @param sources whether the source is asked, too */
async function presenceOf(
  job: CopyJob,
  registry: Registry,
  { sources, hasBlob }: { readonly sources: boolean; readonly hasBlob: HasBlob | undefined },
): Promise<Presence> {
  const { source, destination, from, to, platforms } = job;
  const [original, copy] = await Promise.all([
    // An image layout is on this machine, if it is on this side at all: nobody else says which image is meant.
    sources || !from ? lookUpSource(job, registry) : undefined,
    lookUpImage({ reference: to, registry, platforms, hasBlob }),
  ]);
  const expected = from?.kind === 'digest' ? from.digest : original?.digest;
  const differs =
    copy.why === undefined && expected !== undefined && copy.digest !== expected
      ? `it is ${copy.digest}, not ${expected}`
      : undefined;
  return {
    source,
    destination,
    atSource: sources ? original?.why : undefined,
    atDestination: copy.why ?? differs,
    ...(copy.isUnanswered && { isUnanswered: true as const }),
  };
}

/** The image of a job at its source, as {@link lookUpImage} gives it. */
async function lookUpSource(job: CopyJob, client: Registry): Promise<FoundImage> {
  try {
    const { registry, reference } = await openJob(job, client);
    return await lookUpImage({ reference, registry, platforms: job.platforms });
  } catch (error) {
    if (!(error instanceof PipelineError)) throw error;
    return { why: error.message };
  }
}

interface FoundImage {
  readonly digest?: string;
  readonly why?: string;
  readonly isUnanswered?: boolean;
}

interface ImageLookUp {
  readonly reference: Reference;
  readonly registry: Registry;
  readonly platforms: Platforms;
  /** Undefined where blobs do not matter. */
  readonly hasBlob?: HasBlob | undefined;
}

/** The digest of an image, and `why` it does not count as there. */
async function lookUpImage(looking: ImageLookUp): Promise<FoundImage> {
  try {
    const manifest = await looking.registry.getManifest(looking.reference);
    if (!manifest) return { why: 'no such image' };
    const why = await whyIncomplete(manifest, looking);
    return { digest: manifest.digest, ...(why !== undefined && { why }) };
  } catch (error) {
    if (!(error instanceof PipelineError)) throw error;
    return { why: error.message, isUnanswered: error.code === 'unreachable' };
  }
}

/** What of an image or of the wanted platforms of a list is not there; undefined when nothing is missing. */
async function whyIncomplete(manifest: Manifest, looking: ImageLookUp): Promise<string | undefined> {
  const { platforms } = looking;
  const parsed = parseManifest(manifest);
  if (parsed.kind === 'image') return whyBroken(contentOf(parsed), looking);
  const wanted = platforms ? imagesFor(parsed.manifests, platforms) : parsed.manifests;
  // The list has other platforms, and none of the wanted ones.
  const none = wanted.length === 0 && parsed.manifests.length > 0 ? [...(platforms ?? [])] : [];
  const found = await Promise.all(
    wanted.map(async ({ digest, platform }) => {
      const name = platform ? `${platform.os}/${platform.architecture} ${digest}` : digest;
      const { isThere, broken } = await lookUpEntry(digest, looking);
      return isThere ? { broken } : { missing: name };
    }),
  );
  const missing = [...none, ...found.flatMap((one) => one.missing ?? [])];
  if (missing.length > 0) return `the manifest list lacks ${missing.join(', ')}`;
  return found.find((one) => one.broken !== undefined)?.broken;
}

/**
 * Whether what a list names is there, and which blobs it lacks. Where blobs do not matter, the manifest of an image is not
 * fetched.
 *
 * @throws PipelineError `not-found` for a list within the list that lacks an image
 */
async function lookUpEntry(
  digest: string,
  looking: ImageLookUp,
): Promise<{ readonly isThere: boolean; readonly broken?: string | undefined }> {
  const { reference, registry, platforms, hasBlob } = looking;
  const own = withDigest(reference, digest);
  if (!hasBlob) {
    const there = await registry.resolve(own);
    if (!there || !LIST_TYPES.has(there.mediaType)) return { isThere: there !== undefined };
  }
  const manifest = await registry.getManifest(own);
  if (!manifest) return { isThere: false };
  const parsed = parseManifest(manifest);
  // A copy of a list within a list has the wanted platforms of it, too.
  const { blobs } =
    parsed.kind === 'list' ? await readImage(registry, own, platforms) : { blobs: contentOf(parsed) };
  return { isThere: true, broken: await whyBroken(blobs, looking) };
}

/** Which of an image's blobs the mirror lacks, in words. */
async function whyBroken(
  blobs: readonly Pick<Descriptor, 'digest' | 'size'>[],
  { reference, hasBlob }: ImageLookUp,
): Promise<string | undefined> {
  if (!hasBlob) return undefined;
  const there = await Promise.all(blobs.map((blob) => hasBlob(reference, blob)));
  const missing = blobs.filter((_, i) => !there[i]).map(({ digest }) => digest);
  return missing.length === 0 ? undefined : `the image lacks ${missing.join(', ')}`;
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
  const manifest = parsedJson(new TextDecoder().decode(bytes));
  const history: unknown = isObject(manifest) ? manifest['history'] : undefined;
  // Schema 1 has the newest layer first, with its configuration as text.
  const [newest] = Array.isArray(history) ? history : [];
  const text: unknown = isObject(newest) ? newest['v1Compatibility'] : undefined;
  const image = typeof text === 'string' ? parsedJson(text) : undefined;
  if (!isObject(image)) return undefined;
  const config = isObject(image['config']) ? image['config'] : {};
  const labels = isObject(config['Labels']) ? config['Labels'] : {};
  const names = [labels['maintainer'], labels['vendor'], image['author']];
  return names.find((name): name is string => typeof name === 'string' && name !== '');
}

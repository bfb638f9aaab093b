/** Compares source and destination before a copy. */
import { type Reference, withDigest } from '../../catalog/reference.ts';
import { imagesFor, LIST_TYPES, parseManifest } from '../oci/registry/image.ts';
import { openSource, type Source } from '../oci/registry/open.ts';
import { type ImageContent, readImage } from '../oci/registry/push.ts';
import type { Descriptor } from '../ports.ts';
import type { CopyJob } from './copy-jobs.ts';
import type { CopyRun } from './copy-run.ts';
import { untilSound } from './until-sound.ts';

/** An image that was looked at. */
export interface Inspected {
  readonly job: CopyJob;
  readonly source: Pick<Source, 'registry' | 'reference'>;
  readonly digest: string;
  /** The image to copy; undefined if the destination has it already. */
  readonly content: ImageContent | undefined;
  /** Whether it is a list that the destination has already. */
  readonly isStandingList: boolean;
  /** The destination's repository is empty or missing. */
  readonly isNew: boolean;
}

/** Compares an image on both sides. @throws PipelineError what source and destination answer */
export async function inspectCopy(job: CopyJob, run: CopyRun): Promise<Inspected> {
  const { to, from, memory } = run.ports;
  const source = await openSource(
    job.from
      ? { kind: 'registry', reference: job.from }
      : { kind: 'oci', path: job.source.slice('oci://'.length) },
    from,
  );
  const listed = await run.destinations.of(job.to);
  const isNew = listed?.size === 0 && !memory.isContinued;
  // A list of tags saves a request for each image that is not there yet.
  const mayStand = job.to.kind === 'digest' || listed === undefined || listed.has(job.to.tag);
  const standing = mayStand && !isNew ? await to.resolve(job.to) : undefined;
  const digest = standing && (await digestOf(source));
  if (standing && digest === standing.digest && (await hasPlatforms(job, standing, { source, run })))
    return {
      job,
      source,
      digest,
      content: undefined,
      isStandingList: LIST_TYPES.has(standing.mediaType),
      isNew,
    };
  const content = await untilSound(() => readImage(source.registry, source.reference, job.platforms));
  return { job, source, digest: content.root.digest, content, isStandingList: false, isNew };
}

/** Digests of an image's platforms. What is attached to them may be missing where they themselves are not. */
export async function platformsOf(image: Inspected): Promise<readonly string[]> {
  if (image.content) return image.content.manifests.map(({ digest }) => digest);
  const entries = image.isStandingList ? await entriesOf(image) : undefined;
  return (entries ?? []).map(({ digest }) => digest);
}

/** The entries of a list that the job asks for; undefined if it is none. */
async function entriesOf({
  job: { platforms },
  source,
  digest,
}: Pick<Inspected, 'job' | 'source' | 'digest'>): Promise<readonly Descriptor[] | undefined> {
  const manifest = await source.registry.getManifest(withDigest(source.reference, digest));
  const parsed = manifest && parseManifest(manifest);
  if (parsed?.kind !== 'list') return undefined;
  return platforms ? imagesFor(parsed.manifests, platforms) : parsed.manifests;
}

/** Whether the chosen platforms of a list are there: an earlier copy may have brought others. */
async function hasPlatforms(
  { platforms, to }: CopyJob,
  { mediaType, digest }: Descriptor,
  { source, run }: { readonly source: Inspected['source']; readonly run: CopyRun },
): Promise<boolean> {
  if (!LIST_TYPES.has(mediaType) || (platforms === undefined && !run.checksLists)) return true;
  const manifest = await source.registry.getManifest(withDigest(source.reference, digest));
  const parsed = manifest && parseManifest(manifest);
  if (parsed?.kind !== 'list') return false;
  const images = platforms ? imagesFor(parsed.manifests, platforms) : parsed.manifests;
  for (const one of images) {
    if ((await run.ports.to.resolve(withDigest(to, one.digest))) === undefined) return false;
  }
  return images.length > 0 || parsed.manifests.length === 0;
}

/** The digest that a source names now; undefined where there is no such image. */
async function digestOf({ registry, reference }: Inspected['source']): Promise<string | undefined> {
  return reference.kind === 'digest' ? reference.digest : (await registry.resolve(reference))?.digest;
}

/** A reference in another repository. */
export function movedReference(reference: Reference, { registry, repository }: Reference): Reference {
  return { ...reference, registry, repository };
}

/** Compares source and destination before a copy. */
import { type Reference, withDigest } from '../../catalog/reference.ts';
import { imagesFor, LIST_TYPES, parseManifest } from '../oci/registry/image.ts';
import type { ImageLocation } from '../oci/registry/image-location.ts';
import { openSource, type Source } from '../oci/registry/open.ts';
import { type ImageContent, readImage } from '../oci/registry/push.ts';
import type { Descriptor, Registry } from '../ports.ts';
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
  /** Digests of the platforms to copy. What is attached to them may be missing where they themselves are not. */
  readonly platforms: () => Promise<readonly string[]>;
  /** The destination's repository is empty or missing. */
  readonly isNew: boolean;
}

/** Compares an image on both sides. @throws PipelineError what source and destination answer */
export async function inspectCopy(job: CopyJob, run: CopyRun): Promise<Inspected> {
  const { to, from, memory } = run.ports;
  const source = await openJob(job, from);
  const listed = await run.destinations.of(job.to);
  // A copy that was killed may have left blobs and manifests without a tag.
  const isNew = listed?.size === 0 && !memory.isContinued;
  // A list of tags saves a request for each image that is not there yet.
  const mayStand = job.to.kind === 'digest' || listed === undefined || listed.has(job.to.tag);
  const standing = mayStand && !isNew ? await to.resolve(job.to) : undefined;
  const digest = standing && (await digestOf(source));
  // The destination has the same image; of a list, platforms may still be missing.
  if (standing && digest === standing.digest) {
    const list = sourceList(job, standing, source);
    if (await hasPlatforms(job, standing, { list, run })) {
      const platforms = async () => (await list())?.chosen.map((one) => one.digest) ?? [];
      return { job, source, digest, content: undefined, platforms, isNew };
    }
  }
  const content = await untilSound(() => readImage(source.registry, source.reference, job.platforms));
  const platforms = async () => content.manifests.map((one) => one.digest);
  return { job, source, digest: content.root.digest, content, platforms, isNew };
}

/** Opens the source of a job. @param client for a registry @throws PipelineError `not-found`, `usage` for an image layout */
export function openJob(
  { from, source }: Pick<CopyJob, 'from' | 'source'>,
  client: Registry,
): Promise<Source> {
  const place: ImageLocation = from
    ? { kind: 'registry', reference: from }
    : { kind: 'oci', path: source.slice('oci://'.length) };
  return openSource(place, client);
}

/** What a list names, and what of it is to be copied; undefined if it is not a list, or gone. It is read at the first call. */
type SourceList = () => Promise<
  { readonly all: readonly Descriptor[]; readonly chosen: readonly Descriptor[] } | undefined
>;

/** The list that stands on both sides, as the source has it. */
function sourceList(
  { platforms }: CopyJob,
  { mediaType, digest }: Descriptor,
  { registry, reference }: Inspected['source'],
): SourceList {
  const read: SourceList = async () => {
    if (!LIST_TYPES.has(mediaType)) return undefined;
    const manifest = await registry.getManifest(withDigest(reference, digest));
    const parsed = manifest && parseManifest(manifest);
    if (parsed?.kind !== 'list') return undefined;
    const { manifests: all } = parsed;
    return { all, chosen: platforms ? imagesFor(all, platforms) : all };
  };
  let list: ReturnType<SourceList> | undefined;
  return () => (list ??= read());
}

/** Whether the chosen platforms of a list are there: an earlier copy may have brought others. */
async function hasPlatforms(
  { platforms, to }: CopyJob,
  { mediaType }: Descriptor,
  { list, run }: { readonly list: SourceList; readonly run: CopyRun },
): Promise<boolean> {
  if (!LIST_TYPES.has(mediaType) || (platforms === undefined && !run.checksLists)) return true;
  const read = await list();
  if (!read) return false;
  for (const one of read.chosen) {
    if ((await run.ports.to.resolve(withDigest(to, one.digest))) === undefined) return false;
  }
  // If nothing of a list is chosen, it must be read as a new image: that fails, and says why.
  return read.chosen.length > 0 || read.all.length === 0;
}

/** The digest that a source names now; undefined where there is no such image. */
async function digestOf({ registry, reference }: Inspected['source']): Promise<string | undefined> {
  return reference.kind === 'digest' ? reference.digest : (await registry.resolve(reference))?.digest;
}

/** A reference in another repository. */
export function movedReference(reference: Reference, { registry, repository }: Reference): Reference {
  return { ...reference, registry, repository };
}

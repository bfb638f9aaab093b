/** Index images into their places: our layers are sent, the base's are mounted or copied. */
import { type Reference, withDigest } from '../../catalog/reference.ts';
import type { CatalogImage } from '../oci/image/image.ts';
import { isElsewhere } from '../oci/registry/image.ts';
import type { ImageLocation } from '../oci/registry/image-location.ts';
import { type Destination, openDestination } from '../oci/registry/open.ts';
import { blobOf, type ImageContent, type PushReport, pushImage, sendImage } from '../oci/registry/push.ts';
import type { Registry } from '../ports.ts';
import { type AttachedPlan, filesArtifact, planArtifact } from './artifacts.ts';
import type { OpenBase } from './base.ts';
import type { Follower } from './fence.ts';
import { followingTag } from './fence-tag.ts';
import { tagForGood } from './immutable-tag.ts';
import { PAGE, PAGE_TYPE } from './page.ts';
import { commitArtifact, type PublishedCommit } from './published-commit.ts';

/** An image and its destination. */
export interface PushJob {
  readonly image: CatalogImage;
  readonly place: ImageLocation;
  /** The base of the image; undefined without a base. */
  readonly base: OpenBase | undefined;
  /** Whether the place's tag is left alone: the image is then known by its digest only. */
  readonly untagged: boolean;
  /** Moves the tag once the image is there by its digest; without it the push itself does. */
  readonly promote?: ((tagImages: Follower) => Promise<void>) | undefined;
  /** Names the image in the tag that never moves; there is none without it. */
  readonly version?: string | undefined;
  /** What the image is published from, attached to it where a tag is to name it. */
  readonly commit?: PublishedCommit | undefined;
  /** The plan of a mirror, attached to the image. */
  readonly plan?: AttachedPlan | undefined;
  /** The page of the publish, attached to the image. */
  readonly page?: string | undefined;
}

/** Images of which all is in its place, but the tags. */
interface SentImages {
  /** Where the images are, of which each place says what it names; without archives. */
  readonly standing: readonly StandingImage[];
  /** Gives the images their immutable tags. @returns their references */
  tagForGood(): Promise<string[]>;
  /** Moves the tags, the first job's first. @returns what was sent to each place */
  tag(): Promise<PushReport[]>;
  /** Leaves archives unwritten. */
  discard(): Promise<void>;
}

/**
 * Sends all of the images to all of their places before a tag moves in any of them.
 *
 * @throws PipelineError, and then every place names what it named before
 */
export async function sendCatalogImages(client: Registry, jobs: readonly PushJob[]): Promise<SentImages> {
  const opened: Destination[] = [];
  const sent: SentImage[] = [];
  const discard = async (): Promise<void> => {
    for (const to of opened) await to.discard();
  };
  /** Does a step; if it fails, no half-written archive stays. */
  const step = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      await discard();
      throw error;
    }
  };
  await step(async () => {
    for (const job of jobs) {
      const to = await openDestination(job.place, client);
      opened.push(to);
      sent.push({ job, to, report: await sendToPlace(to, job, sent) });
      await attach(to, job, mountableRepositories(job, sent));
    }
  });
  return {
    standing: sent.flatMap(standingOf),
    tagForGood: () => step(() => tagAllForGood(sent)),
    tag: () => step(() => moveTags(sent)),
    discard,
  };
}

/** An image in its place, before the tag names it. */
export interface StandingImage {
  readonly image: CatalogImage;
  readonly registry: Registry;
  readonly reference: Reference;
}

/**
 * An image in a place that keeps it by digest; archives are left out, as nothing can be attached to what is
 * in them.
 */
function standingOf({ job, to }: SentImage): StandingImage[] {
  return isFenced(job.place) ? [{ image: job.image, registry: to.registry, reference: to.reference }] : [];
}

interface SentImage {
  readonly job: PushJob;
  readonly to: Destination;
  readonly report: PushReport;
}

/**
 * Sends an image to one place. No tag names it before {@link tag}: without a fence its list is sent only then; with one, all
 * of it stands under its digest until the fence moves the tag.
 *
 * @param earlier what this publish has sent already
 */
function sendToPlace(to: Destination, job: PushJob, earlier: readonly SentImage[]): Promise<PushReport> {
  const { manifestList, manifests, blobs, baseLayers } = job.image;
  const { base } = job;
  const baseBlobs = base
    ? baseLayers
        .filter((layer) => !isElsewhere(layer))
        .map((layer) => blobOf(base.source.registry, base.source.reference, layer))
    : [];
  const content = { root: manifestList, manifests, blobs: [...blobs, ...baseBlobs] };
  const mountFrom = mountableRepositories(job, earlier);
  if (!isByDigest(job)) return sendImage(to.registry, to.reference, { image: content, mountFrom });
  const digest = withDigest(to.reference, manifestList.digest);
  // Only what a tag names, or was sent just now, is sure to be whole: then nothing of it is sent.
  const isWhole = earlier.some(
    (sent) => sent.report.digest === digest.digest && isSameRepository(sent.to, to),
  );
  const beside = isWhole ? digest : to.reference;
  return pushImage(to.registry, digest, { image: content, mountFrom, beside });
}

/** Whether two destinations are one repository, reached by one client: what was sent to one is then in the other. */
function isSameRepository(one: Destination, other: Destination): boolean {
  const { registry, repository } = other.reference;
  const isSame = one.reference.registry === registry && one.reference.repository === repository;
  return one.registry === other.registry && isSame;
}

/**
 * Attaches to an image its commit, its mirror plan and its page. An archive for Docker has no room for what
 * is about an image.
 */
async function attach(to: Destination, job: PushJob, mountFrom: readonly string[]): Promise<void> {
  if (job.place.kind === 'docker-archive') return;
  for (const artifact of attachedTo(job)) {
    const reference = withDigest(to.reference, artifact.root.digest);
    await pushImage(to.registry, reference, { image: artifact, mountFrom });
  }
}

/**
 * The artifacts about an image. An image without a tag has no commit: that is only for whoever moves the tag
 * next.
 */
function attachedTo({ image: { manifestList }, commit, untagged, plan, page }: PushJob): ImageContent[] {
  const pages =
    page === undefined
      ? []
      : [filesArtifact(manifestList, { type: PAGE_TYPE, files: new Map([[PAGE, page]]) })];
  const commits = untagged || !commit ? [] : [commitArtifact(manifestList, commit)];
  return [...commits, ...(plan ? [planArtifact(manifestList, plan)] : []), ...pages];
}

/** Whether the image is to stand under its digest before, or without, a tag that names it. */
function isByDigest({ place, promote, untagged }: PushJob): boolean {
  return untagged || (promote !== undefined && isFenced(place));
}

/** Gives each image in a registry its immutable tag. @returns their references */
async function tagAllForGood(sent: readonly SentImage[]): Promise<string[]> {
  const tags: string[] = [];
  for (const { job, to } of sent) {
    const { place, version, image } = job;
    if (version === undefined || place.kind !== 'registry' || to.reference.kind !== 'tag') continue;
    tags.push(await tagForGood(to.registry, to.reference, { manifest: image.manifestList, version }));
  }
  return tags;
}

/** Moves each place's tag to its image, and ends the place. A push that changed nothing found the tag there. */
async function moveTags(sent: readonly SentImage[]): Promise<PushReport[]> {
  for (const { job, to, report } of sent) {
    const { promote, image, untagged } = job;
    if (!isByDigest(job)) {
      if (!report.unchanged) await to.registry.putManifest(to.reference, image.manifestList);
    } else if (!untagged) await promote?.(followingTag(to.registry, to.reference));
    await to.finish();
  }
  return sent.map(({ report }) => report);
}

/** Whether a place keeps what it had, so that an older image could come back: an archive is written anew. */
export function isFenced({ kind }: ImageLocation): boolean {
  return kind === 'registry' || kind === 'oci';
}

/** Repositories of the place's registry that hold layers of the image: those of images sent before, then the base's. */
function mountableRepositories({ base, place }: PushJob, before: readonly SentImage[]): string[] {
  if (place.kind !== 'registry') return [];
  const earlier = before.flatMap(({ job }) => (job.place.kind === 'registry' ? [job.place.reference] : []));
  return [...earlier, ...(base ? [base.source.reference] : [])]
    .filter(({ registry }) => registry === place.reference.registry)
    .map(({ repository }) => repository);
}

/** What was sent to all places together, with the digest of the first place's image. */
export function summedReport(reports: readonly PushReport[]): PushReport {
  const sum = (countOf: (report: PushReport) => number): number =>
    reports.reduce((total, report) => total + countOf(report), 0);
  return {
    digest: reports[0]?.digest ?? '',
    blobs: {
      present: sum(({ blobs }) => blobs.present),
      mounted: sum(({ blobs }) => blobs.mounted),
      uploaded: sum(({ blobs }) => blobs.uploaded),
    },
    bytes: sum(({ bytes }) => bytes),
    unchanged: reports.every(({ unchanged }) => unchanged),
  };
}

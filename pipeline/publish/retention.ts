/**
 * Which old images of a catalog a registry keeps. Images are deleted by digest, with their artifacts and platforms,
 * and only where nothing that stays names them.
 */
import { compareText } from '../../catalog/go/text.ts';
import { formatReference, repositoryName, type TagReference, withDigest } from '../../catalog/reference.ts';
import { catalogUnits } from '../change/unit.ts';
import { PipelineError } from '../error.ts';
import { entriesOf, LIST_TYPES } from '../oci/registry/image.ts';
import type { ImageLocation } from '../oci/registry/image-location.ts';
import { COSIGN_PREDICATE, STATEMENT_TYPE } from '../oci/signatures/verify.ts';
import { eachOf } from '../parallel.ts';
import type { Descriptor, KeepRule, Manifest, Registry, Repository } from '../ports.ts';
import { PLAN_TYPE } from './artifacts.ts';
import { PREDICATE_TYPE, SBOM_TYPE } from './attest/artifact.ts';
import { EXTRA_STATEMENTS } from './attest/extra-statements.ts';
import { PROVENANCE_PREDICATE } from './attest/provenance.ts';
import { versionIn } from './immutable-tag.ts';
import { PAGE_TYPE } from './page.ts';
import type { PlannedPublish } from './plan.ts';
import { COMMIT_TYPE } from './published-commit.ts';
import { type PublishTarget, placesOf, publishedPlaces, targetIn } from './target.ts';

/** What of a catalog's images stays in a registry. */
interface Retention {
  /** How many of the newest immutable tags stay. */
  readonly keep: number;
  /** Digests that stay as well: what is claimed, and what rings wait for. */
  readonly claimed: readonly string[];
  /** The tag of the last ring, where a catalog has rings: every image that is newer than its image stays. */
  readonly lastRing?: string | undefined;
  /** Digest of a retired catalog's last image: it goes as well, though the published tag names it. */
  readonly retired?: string | undefined;
  /** Whether Portolan put an artifact beside an image: it goes with the image. Everybody else's keeps the image. */
  readonly isOwn: (artifact: Descriptor) => boolean;
}

/** Artifacts that Portolan puts beside every image, whatever the policy says. */
export function isPublished({ artifactType }: Descriptor): boolean {
  return [COMMIT_TYPE, PLAN_TYPE, PAGE_TYPE, SBOM_TYPE, STATEMENT_TYPE].includes(artifactType ?? '');
}

/** Whether a publish to the target has attached an artifact; where it signs nothing, somebody else has signed. */
export function isAttachedBy({ attest }: Pick<PublishTarget, 'attest'>): (artifact: Descriptor) => boolean {
  const signs = attest.includes('kms') || attest.includes('keyless');
  const asked = EXTRA_STATEMENTS.filter((one) => attest.some((word) => word === one.asked));
  const signed = [PROVENANCE_PREDICATE, COSIGN_PREDICATE, ...asked.map((one) => one.predicateType)];
  const predicates = new Set(signs ? signed : []);
  return (artifact) => isPublished(artifact) || predicates.has(artifact.annotations?.[PREDICATE_TYPE] ?? '');
}

/** Requests at a time. */
const AT_ONCE = 8;
/** Tags that are about an image: signatures of cosign, and the lists of referrers of registries without an API for them. */
const ABOUT = /^sha256-([0-9a-f]{64})(\.(?:sig|att|sbom))?$/;

/**
 * Deletes the images of immutable tags behind the newest ones. An image stays that another tag names, that somebody
 * else has attached an artifact to, or that is signed by cosign; for both, its platforms count, too.
 *
 * @param published the tag that moves
 * @returns the tags that were deleted
 * @throws PipelineError whatever the registry answers; nothing is deleted before all tags were read
 */
export async function deleteOld(
  registry: Registry,
  published: TagReference,
  { keep, claimed, isOwn, retired, lastRing }: Retention,
): Promise<string[]> {
  const tags: string[] = [];
  for await (const tag of registry.listTags(published)) tags.push(tag);
  const isVersion = (tag: string): boolean => versionIn(tag, published.tag) !== undefined;
  // By name is by time: see immutable-tag.ts.
  const newestFirst = tags.filter(isVersion).sort((a, b) => compareText(b, a));
  const old = new Set(newestFirst.slice(keep));
  if (old.size === 0 && retired === undefined) return [];
  // What is about an image names no image that would have to stay.
  const images = tags.filter((tag) => !ABOUT.test(tag));
  const manifests = await manifestsOf(registry, published, images);
  if (lastRing !== undefined) for (const tag of onTheirWay(newestFirst, manifests, lastRing)) old.delete(tag);
  // Read again: the tag may name another image by now, which stays.
  if (retired !== undefined && manifests.get(published.tag)?.digest === retired) old.add(published.tag);
  // From here on digests count: several tags may name one image, and one that stays keeps it.
  const signed = new Set(signedIn(tags));
  const digestsToKeep = new Set(claimed);
  for (const [tag, manifest] of manifests) if (!old.has(tag)) digestsToKeep.add(manifest.digest);
  const deletions = new Map<string, Deletion>();
  for (const [tag, manifest] of manifests) {
    if (!old.has(tag) || digestsToKeep.has(manifest.digest)) continue;
    const deletion = deletions.get(manifest.digest);
    if (deletion) {
      deletion.tags.push(tag);
      continue;
    }
    const artifacts: Descriptor[] = [];
    const all = [manifest.digest, ...partsOf(manifest)];
    for (const digest of all) artifacts.push(...(await registry.listReferrers(published, digest)));
    if (all.some((digest) => signed.has(digest)) || !artifacts.every(isOwn))
      digestsToKeep.add(manifest.digest);
    else deletions.set(manifest.digest, { manifest, tags: [tag], artifacts });
  }
  // A tag may also name an image of one platform itself.
  const rest = [...manifests.values()].filter(({ digest }) => !deletions.has(digest));
  const partsInUse = new Set([...digestsToKeep, ...rest.flatMap((one) => [one.digest, ...partsOf(one)])]);
  for (const deletion of deletions.values())
    await deleteImage(registry, published, { ...deletion, partsInUse });
  return [...deletions.values()].flatMap((one) => one.tags).sort(compareText);
}

/** An image to delete. */
interface Deletion {
  readonly manifest: Manifest;
  /** The tags that name it. */
  readonly tags: string[];
  /** Artifacts about it and its platforms. */
  readonly artifacts: readonly Descriptor[];
}

/**
 * Deletes an image: first its artifacts, as a crash in between then leaves the tag, by which the next publish continues; last
 * the platforms that no image in use has.
 */
async function deleteImage(
  registry: Registry,
  place: TagReference,
  { manifest, artifacts, partsInUse }: Deletion & { readonly partsInUse: ReadonlySet<string> },
): Promise<void> {
  for (const { digest } of artifacts) await registry.deleteManifest(withDigest(place, digest));
  await registry.deleteManifest(withDigest(place, manifest.digest));
  for (const part of partsOf(manifest)) {
    if (!partsInUse.has(part)) await registry.deleteManifest(withDigest(place, part));
  }
}

/** Immutable tags that are newer than the last ring's image: their images may reach it yet. All of them where it has none. */
function onTheirWay(
  newestFirst: readonly string[],
  manifests: ReadonlyMap<string, Manifest>,
  lastRing: string,
): readonly string[] {
  const inLastRing = manifests.get(lastRing)?.digest;
  if (inLastRing === undefined) return newestFirst;
  // Of several tags of that image the oldest: what came in between is rather kept.
  const last = newestFirst.findLastIndex((tag) => manifests.get(tag)?.digest === inLastRing);
  return last < 0 ? newestFirst : newestFirst.slice(0, last);
}

/** The manifests that tags name. @throws the first failure, once all requests have ended */
async function manifestsOf(
  registry: Registry,
  place: TagReference,
  tags: readonly string[],
): Promise<ReadonlyMap<string, Manifest>> {
  const manifests = new Map<string, Manifest>();
  const failures: unknown[] = [];
  await eachOf(tags, AT_ONCE, async (tag) => {
    try {
      const manifest = await registry.getManifest({ ...place, tag });
      if (manifest) manifests.set(tag, manifest);
    } catch (error) {
      failures.push(error);
    }
  });
  // All requests have ended by now: none goes on behind the error.
  if (failures.length > 0) throw failures[0];
  return manifests;
}

/** Digests that cosign's tags are about. */
function signedIn(tags: readonly string[]): string[] {
  return tags.flatMap((tag) => {
    const [, hex, suffix] = ABOUT.exec(tag) ?? [];
    return suffix === undefined ? [] : [`sha256:${hex}`];
  });
}

/** Digests of the manifests that a list names. */
function partsOf(manifest: Manifest): string[] {
  if (!LIST_TYPES.has(manifest.mediaType)) return [];
  return entriesOf(manifest).map(({ digest }) => digest);
}

// Deletes old images after a publish, except as many as the policy keeps.

/**
 * Has a registry with rules of its own follow the policy's; in every other one, deletes. What fails is reported and
 * fails no publish: the next one tries again.
 *
 * @param claimed digests that stay
 */
export async function keepNewest(
  planned: Pick<PlannedPublish, 'target' | 'ports' | 'commit' | 'policy' | 'request'>,
  claimed: readonly string[],
): Promise<void> {
  const { target, ports, request } = planned;
  const { registry, progress } = ports;
  const { keep } = target;
  if (keep === undefined) return;
  const isRinged = target.rings.length > 0;
  for (const place of tagsOf(publishedPlaces(target))) {
    try {
      const rules = registry.keepImages && (await keepRules(planned, place));
      const isKept = rules && (await registry.keepImages?.(place, rules));
      // Its rules set no limit for tags of rings: their images are deleted here.
      if (isKept && !isRinged) {
        progress(
          `old images of ${formatReference(place)} are left to the lifecycle policy of their repository`,
        );
        continue;
      }
      if (isRinged && !ports.inRings) {
        progress(
          `old images of ${formatReference(place)} stay: without a fence, nobody knows which of them a ring needs`,
        );
        continue;
      }
      const isOwn = isAttachedBy(target);
      const waiting = isRinged ? await ports.inRings?.(request.catalog, target) : [];
      const lastRing = target.rings.at(-1)?.tag;
      const deleted = await deleteOld(registry, place, {
        keep,
        isOwn,
        lastRing,
        claimed: [...claimed, ...(waiting ?? [])],
      });
      for (const tag of deleted) progress(`deleted the old image ${repositoryName(place)}:${tag}`);
    } catch (error) {
      if (!(error instanceof PipelineError)) throw error;
      progress(`cannot delete old images of ${formatReference(place)}: ${error.message}`);
    }
  }
}

/** The places that are tags in registries. */
function tagsOf(places: readonly ImageLocation[]): TagReference[] {
  return places.flatMap((place) =>
    place.kind === 'registry' && place.reference.kind === 'tag' ? [place.reference] : [],
  );
}

/**
 * Rules for the tags of all catalogs of the commit that are published to one repository. Tags of rings have no limit: a
 * registry that counts does not know which image soaks.
 */
async function keepRules(
  { ports, commit, policy }: Pick<PlannedPublish, 'ports' | 'commit' | 'policy'>,
  place: Repository,
): Promise<KeepRule[]> {
  const units = await catalogUnits(ports.repository.objects, commit, policy.layout);
  const names = new Set([...units.values()].map(({ catalog }) => catalog));
  return [...names].flatMap((name) => {
    const target = targetIn(policy, name);
    if (!target) return [];
    const keep = target.rings.length > 0 ? undefined : target.keep;
    return tagsOf(placesOf(target))
      .filter(({ registry, repository }) => registry === place.registry && repository === place.repository)
      .map(({ tag }) => ({ tag, keep }));
  });
}

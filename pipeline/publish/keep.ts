/** Deletes old images after a publish, except as many as the policy keeps. */
import { formatReference, repositoryName, type TagReference } from '../../catalog/reference.ts';
import { catalogUnits } from '../change/unit.ts';
import { PipelineError } from '../error.ts';
import type { ImageLocation } from '../oci/registry/image-location.ts';
import { COSIGN_PREDICATE } from '../oci/signatures/verify.ts';
import type { Descriptor, KeepRule, Repository } from '../ports.ts';
import { PREDICATE_TYPE } from './attest/artifact.ts';
import { PROVENANCE_PREDICATE } from './attest/provenance.ts';
import type { PlannedPublish } from './plan.ts';
import { deleteOld, isPublished } from './retention.ts';
import { type PublishTarget, placesOf, publishedPlaces, targetIn } from './target.ts';

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
      if (isKept && !isRinged) continue;
      if (isRinged && !ports.inRings) {
        progress(
          `old images of ${formatReference(place)} stay: without a fence, nobody knows which of them a ring needs`,
        );
        continue;
      }
      const isOwn = (artifact: Descriptor): boolean => isPublished(artifact) || isSignedBy(target, artifact);
      const waiting = isRinged ? await ports.inRings?.(request.catalog, target) : [];
      const lastRing = target.rings.at(-1)?.tag;
      const deleted = await deleteOld(registry, place, {
        ...{ keep, isOwn, lastRing },
        claimed: [...claimed, ...(waiting ?? [])],
      });
      for (const tag of deleted) progress(`deleted the old image ${repositoryName(place)}:${tag}`);
    } catch (error) {
      if (!(error instanceof PipelineError)) throw error;
      progress(`cannot delete old images of ${formatReference(place)}: ${error.message}`);
    }
  }
}

/** Whether a publish to the target has signed the artifact; where it signs nothing, somebody else has. */
function isSignedBy({ attest }: PublishTarget, { annotations = {} }: Descriptor): boolean {
  const said = annotations[PREDICATE_TYPE];
  const isOurs = said === PROVENANCE_PREDICATE || said === COSIGN_PREDICATE;
  return isOurs && (attest.includes('kms') || attest.includes('keyless'));
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
  of: Repository,
): Promise<KeepRule[]> {
  const units = await catalogUnits(ports.repository.objects, commit, policy.layout);
  const names = new Set([...units.values()].map(({ catalog }) => catalog));
  return [...names].flatMap((name) => {
    const target = targetIn(policy, name);
    if (!target) return [];
    const keep = target.rings.length > 0 ? undefined : target.keep;
    return tagsOf(placesOf(target))
      .filter(({ registry, repository }) => registry === of.registry && repository === of.repository)
      .map(({ tag }) => ({ tag, keep }));
  });
}

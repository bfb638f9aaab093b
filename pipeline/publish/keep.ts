/** Old images after a publish: as many stay as the policy says. */
import { formatReference, repositoryName, type TagReference } from '../../catalog/reference.ts';
import { catalogUnits } from '../change/unit.ts';
import { PipelineError } from '../error.ts';
import type { Descriptor, KeepRule, Repository } from '../ports.ts';
import { PREDICATE_TYPE } from './attest/artifact.ts';
import { COSIGN_PREDICATE, PROVENANCE_PREDICATE } from './attest/provenance.ts';
import type { PlannedPublish } from './plan.ts';
import { deleteOld, isPublished } from './retention.ts';
import { type PublishTarget, publishedPlaces, targetIn } from './target.ts';

/**
 * Has a registry with rules of its own follow the policy's; in every other one, deletes. What fails is reported and
 * fails no publish: the next one tries again.
 *
 * @param claimed digests that stay
 */
export async function keepNewest(
  planned: Pick<PlannedPublish, 'target' | 'ports' | 'commit' | 'policy'>,
  claimed: readonly string[],
): Promise<void> {
  const { target, ports } = planned;
  const { registry, progress } = ports;
  const { keep } = target;
  if (keep === undefined) return;
  for (const place of tagsOf(target)) {
    try {
      const rules = registry.keepImages && (await keepRules(planned, place));
      if (rules && (await registry.keepImages?.(place, rules))) continue;
      const isOwn = (artifact: Descriptor): boolean => isPublished(artifact) || isSignedBy(target, artifact);
      const deleted = await deleteOld(registry, place, { keep, claimed, isOwn });
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
  if (attest.includes('kms')) return said === PROVENANCE_PREDICATE || said === COSIGN_PREDICATE;
  return attest.includes('keyless') && said === PROVENANCE_PREDICATE;
}

/** The tags that a target moves in registries. */
function tagsOf(target: PublishTarget): TagReference[] {
  return publishedPlaces(target).flatMap((place) =>
    place.kind === 'registry' && place.reference.kind === 'tag' ? [place.reference] : [],
  );
}

/** Rules for the tags of all catalogs of the commit that are published to one repository. */
async function keepRules(
  { ports, commit, policy }: Pick<PlannedPublish, 'ports' | 'commit' | 'policy'>,
  of: Repository,
): Promise<KeepRule[]> {
  const units = await catalogUnits(ports.repository.objects, commit, policy.layout);
  const names = new Set([...units.values()].map(({ catalog }) => catalog));
  return [...names].flatMap((name) => {
    const target = targetIn(policy, name);
    if (!target) return [];
    return tagsOf(target)
      .filter(({ registry, repository }) => registry === of.registry && repository === of.repository)
      .map(({ tag }) => ({ tag, keep: target.keep }));
  });
}

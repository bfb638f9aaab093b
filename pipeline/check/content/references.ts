/**
 * What registries say of the images that a pull request brings. Images that the base branch names
 * already are not asked for again: a registry's bad day is not the pull request's.
 */

import type { Bundle } from '../../../catalog/fbc/model.ts';
import type { Finding } from '../../../catalog/finding.ts';
import { type ReferenceSite, tryParseReference } from '../../../catalog/reference.ts';
import { lookupKey, sitesOf } from '../../../catalog/references/site.ts';
import { resolveSites } from '../../catalogs/references/resolve.ts';
import type { Policy } from '../../policy/policy.ts';
import { attestationDemands, repositoryMatcher, signatureDemands } from '../../policy/registries.ts';
import { severitiesOf } from '../../policy/severity.ts';
import type { Registry } from '../../ports.ts';
import type { TouchedCatalog } from '../world/touched-catalog.ts';
import type { Foreseen } from './release.ts';

export interface ReferenceResult {
  readonly findings: readonly Finding[];
  /** Parts that were not checked, and why. */
  readonly unchecked: readonly { readonly what: string; readonly why: string }[];
  /** Whether a registry that may be asked gave no answer: then it is not known. */
  readonly unanswered: boolean;
}

/**
 * Checks the image references of touched packages against the policy, and what their registries answer.
 *
 * @param touched with what the merge itself will push, which nobody needs to have yet
 * @param registry asked for what the policy allows; without one no registry is contacted
 */
export async function checkReferences(
  { touched, bundles }: Pick<Foreseen, 'bundles'> & { readonly touched: readonly TouchedCatalog[] },
  policy: Policy,
  registry: Registry | undefined,
): Promise<ReferenceResult> {
  const own = new Set(bundles.flatMap(({ reference, tag }) => [reference, tag]));
  const added = touched.map((catalog) => ({
    catalog,
    sites: newSites(catalog).filter(({ reference }) => !own.has(lookupKey(reference))),
  }));
  const count = added.reduce((sum, { sites }) => sum + sites.length, 0);
  if (count === 0) return { findings: [], unchecked: [], unanswered: false };
  if (!registry) return notAsked(count, 'no registry was contacted');
  if (policy.registries.allow.length === 0)
    return notAsked(count, 'the policy does not allow access to any registry (registries.allow)');
  const asked = {
    registry,
    allows: repositoryMatcher(policy.registries.allow),
    digests: true,
    severityOf: severitiesOf(policy),
    signed: signatureDemands(policy),
    attested: attestationDemands(policy),
  };
  const findings: Finding[] = [];
  const unchecked: { what: string; why: string }[] = [];
  for (const { catalog, sites } of added) {
    const resolution = await resolveSites(sites, asked);
    for (const finding of resolution.findings) findings.push({ ...finding, catalogs: catalog.names });
    for (const { registry: host, references, why } of resolution.unanswered) {
      unchecked.push({
        what: `${references} ${references === 1 ? 'reference' : 'references'} in ${host}`,
        why,
      });
    }
  }
  return { findings, unchecked, unanswered: unchecked.length > 0 };
}

/** The result where no registry is asked on purpose: the check is complete, and says what it left out. */
function notAsked(count: number, why: string): ReferenceResult {
  const what = `${count} new ${count === 1 ? 'reference' : 'references'}`;
  return { findings: [], unchecked: [{ what, why }], unanswered: false };
}

/** Places of references that the base branch does not have; nothing is located in bundles that bring none. */
function newSites({ before, after }: TouchedCatalog): ReferenceSite[] {
  const texts = new Set((before?.blobs.bundles ?? []).flatMap(imagesOf));
  const known = new Set([...texts].flatMap(keyOf));
  const isNew = (image: string): boolean => !texts.has(image) && keyOf(image).some((key) => !known.has(key));
  const bringing = (after?.blobs.bundles ?? []).filter((bundle) => imagesOf(bundle).some(isNew));
  return sitesOf(bringing).filter(({ reference }) => !known.has(lookupKey(reference)));
}

function imagesOf({ image, relatedImages }: Bundle): string[] {
  return [image, ...relatedImages.map((related) => related.image)];
}

/** The key by which a reference is looked up; none for a text that is not a reference. */
function keyOf(image: string): string[] {
  const reference = tryParseReference(image);
  return reference ? [lookupKey(reference)] : [];
}

/**
 * What registries say of the references that a pull request brings. Nothing is asked that the
 * policy of the base branch does not allow, and nothing with credentials that it does not name.
 */
import type { Finding } from '../../catalog/finding.ts';
import { type ReferenceSite, sitesOf } from '../../catalog/references/site.ts';
import type { Policy } from '../policy/policy.ts';
import { repositoryMatcher } from '../policy/registries.ts';
import { severitiesOf } from '../policy/severity.ts';
import type { Registry } from '../ports.ts';
import { resolveSites, type Unanswered } from '../stages/resolve.ts';
import type { TouchedCatalog } from './catalogs.ts';

/** Makes the way to registries as a policy allows it. */
export type OpenRegistries = (policy: Policy) => Registry;

export interface Asked {
  readonly findings: readonly Finding[];
  readonly unanswered: readonly Unanswered[];
}

/** Asks about references that stand in the catalogs after the change and not before it. */
export async function askRegistries(
  touched: readonly TouchedCatalog[],
  policy: Policy,
  open: OpenRegistries | undefined,
): Promise<Asked> {
  const { allow } = policy.registries;
  if (!open || allow.length === 0) return { findings: [], unanswered: [] };
  const brought = touched.map((catalog) => ({ names: catalog.names, sites: newSites(catalog) }));
  if (brought.every(({ sites }) => sites.length === 0)) return { findings: [], unanswered: [] };
  const options = {
    registry: open(policy),
    allows: repositoryMatcher(allow),
    digests: true,
    severityOf: severitiesOf(policy),
  };
  const { findings, unanswered } = await resolveSites(
    brought.flatMap(({ sites }) => sites),
    options,
  );
  const catalogsOf = new Map(
    brought.flatMap(({ names, sites }) => sites.map(({ location }) => [location, names])),
  );
  return {
    findings: findings.map((finding) => {
      const catalogs = catalogsOf.get(finding.location);
      return catalogs ? { ...finding, catalogs } : finding;
    }),
    unanswered,
  };
}

function newSites({ before, after }: TouchedCatalog): readonly ReferenceSite[] {
  const known = new Set(sitesOf(before?.blobs.bundles ?? []).map(({ written }) => written));
  return sitesOf(after?.blobs.bundles ?? []).filter(({ written }) => !known.has(written));
}

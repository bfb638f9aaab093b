/** Which bundles of catalogs OLM v0 may install for what others require. */
import type { Bundle, Catalog, Package } from '../../fbc/model.ts';
import { appendToGroup } from '../../go/grouped.ts';
import { onceFor } from '../../go/once.ts';
import { keysOf, type Requirement } from './requirement.ts';
import { lanesOf, offerOfBundle, type Scope, spendEffort } from './snapshot.ts';

/** The keys of what the bundles of a package offer; see `keysOf`. */
export const offeredKeys: (ofPackage: Package) => ReadonlySet<string> = onceFor(
  ({ bundles }) => new Set([...bundles.values()].flatMap((bundle) => keysOf(offerOfBundle(bundle)))),
);

/** The packages of a catalog with bundles that may meet a requirement. */
export function packagesFor(catalog: Catalog, { key }: Requirement): readonly Package[] {
  if (key === undefined) return [...catalog.packages.values()];
  return packagesByKey(catalog).get(key) ?? [];
}

/** The packages of a catalog by the keys of what they offer. */
const packagesByKey = onceFor(({ packages }: Catalog): ReadonlyMap<string, readonly Package[]> => {
  const found = new Map<string, Package[]>();
  for (const ofPackage of packages.values())
    for (const key of offeredKeys(ofPackage)) appendToGroup(found, key, ofPackage);
  return found;
});

const metByScope = new WeakMap<Scope, Map<Requirement, boolean>>();

/**
 * Whether any catalog of a scope has a bundle that satisfies a requirement. Kept by the requirement, not by its text: the
 * resolver's words have no brackets, so different compound constraints may read alike.
 */
export function isMet(scope: Scope, requirement: Requirement): boolean {
  const known = metByScope.get(scope) ?? new Map<Requirement, boolean>();
  metByScope.set(scope, known);
  const found = known.get(requirement) ?? !providersOf(scope, requirement).next().done;
  known.set(requirement, found);
  return found;
}

/** Whether any bundle in a channel of a package satisfies a requirement. */
export function packageMeets(ofPackage: Package, { holds }: Requirement): boolean {
  return bundlesInOrder(ofPackage).some((bundle) => holds(offerOfBundle(bundle)) && mayProvide(bundle));
}

/** Whether a requirement is of packages that the catalogs of a scope have, each of them. */
export function isHere({ catalogs }: Scope, { packages }: Requirement): boolean {
  const has = (name: string): boolean =>
    catalogs.some(({ catalog }) => (catalog.packages.get(name)?.channels.size ?? 0) > 0);
  return packages.length > 0 && packages.every(has);
}

/** The bundles that satisfy a requirement, by package and channel, those closest to a head first. */
export function* providersOf(scope: Scope, requirement: Requirement): Generator<Bundle> {
  for (const { catalog } of scope.catalogs)
    for (const ofPackage of packagesFor(catalog, requirement))
      for (const bundle of bundlesInOrder(ofPackage)) {
        spendEffort(scope, 1);
        // A bundle may have ten thousand properties, which are asked last.
        if (requirement.holds(offerOfBundle(bundle)) && mayProvide(bundle)) yield bundle;
      }
}

/** The bundles in the channels of a package, each once. */
const bundlesInOrder = onceFor((ofPackage: Package): readonly Bundle[] => [
  ...new Set(
    lanesOf(ofPackage).flatMap(({ candidates }) =>
      candidates.kind === 'ordered' ? candidates.entries.flatMap(({ bundle }) => bundle ?? []) : [],
    ),
  ),
]);

/** OLM v0 never installs a bundle with the property olm.deprecated as a dependency. */
function mayProvide({ properties }: Bundle): boolean {
  return !properties.some(({ type }) => type === 'olm.deprecated');
}

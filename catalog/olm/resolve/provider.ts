/** Which bundles of catalogs OLM v0 may install for what others require. */
import type { Bundle, Package } from '../../fbc/model.ts';
import { packageIn, type Requirement } from './requirement.ts';
import { lanesOf, offerOfBundle, type Scope } from './snapshot.ts';

const met = new WeakMap<Scope, Map<string, boolean>>();

/** Whether any catalog of a scope has a bundle that satisfies a requirement. */
export function isMet(scope: Scope, requirement: Requirement): boolean {
  const known = met.get(scope) ?? new Map<string, boolean>();
  met.set(scope, known);
  const found =
    known.get(requirement.text) ??
    scope.catalogs.some(({ catalog }) =>
      [...catalog.packages.values()].some((ofPackage) => provides(ofPackage, requirement)),
    );
  known.set(requirement.text, found);
  return found;
}

/** Whether any bundle in a channel of a package satisfies a requirement. */
export function provides(ofPackage: Package, { holds }: Requirement): boolean {
  return lanesOf(ofPackage).some(
    ({ candidates }) =>
      candidates.kind === 'ordered' &&
      // A bundle may have ten thousand properties, which are asked last.
      candidates.entries.some(({ bundle }) => bundle && holds(offerOfBundle(bundle)) && mayProvide(bundle)),
  );
}

/** Whether a requirement is of a package that a catalog of a scope has. */
export function isHere({ catalogs }: Scope, requirement: Requirement): boolean {
  const name = packageIn(requirement);
  const channels = catalogs.flatMap(({ catalog }) => catalog.packages.get(name ?? '')?.channels.size ?? 0);
  return channels.some((count) => count > 0);
}

/** The bundles of the package of a requirement that satisfy it, those closest to a head first. */
export function* providersOf({ catalogs }: Scope, requirement: Requirement): Generator<Bundle> {
  const name = packageIn(requirement) ?? '';
  for (const { catalog } of catalogs) {
    const ofPackage = catalog.packages.get(name);
    for (const { candidates } of ofPackage ? lanesOf(ofPackage) : [])
      for (const { bundle } of candidates.kind === 'ordered' ? candidates.entries : [])
        if (bundle && requirement.holds(offerOfBundle(bundle)) && mayProvide(bundle)) yield bundle;
  }
}

/** OLM v0 never installs a bundle with the property olm.deprecated as a dependency. */
function mayProvide({ properties }: Bundle): boolean {
  return !properties.some(({ type }) => type === 'olm.deprecated');
}

/** Which bundles of catalogs OLM v0 may install for what others require. */
import type { Bundle, Package } from '../../fbc/model.ts';
import { packageIn, REQUIRING, type Requirement } from './requirement.ts';
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

const simple = new WeakMap<Scope, Map<string, Bundle | undefined>>();

/** A bundle that satisfies a requirement and has none. */
export function simpleProvider(scope: Scope, requirement: Requirement): Bundle | undefined {
  const known = simple.get(scope) ?? new Map<string, Bundle | undefined>();
  simple.set(scope, known);
  const { text } = requirement;
  if (!known.has(text)) known.set(text, findSimple(scope, requirement));
  return known.get(text);
}

function findSimple({ catalogs }: Scope, { holds }: Requirement): Bundle | undefined {
  for (const { catalog } of catalogs)
    for (const ofPackage of catalog.packages.values())
      for (const { candidates } of lanesOf(ofPackage))
        for (const { bundle } of candidates.kind === 'ordered' ? candidates.entries : [])
          if (bundle && holds(offerOfBundle(bundle)) && mayProvide(bundle) && !requires(bundle))
            return bundle;
  return undefined;
}

function requires({ properties }: Bundle): boolean {
  return properties.some(({ type }) => REQUIRING.has(type));
}

/** OLM v0 never installs a bundle with the property olm.deprecated as a dependency. */
function mayProvide({ properties }: Bundle): boolean {
  return !properties.some(({ type }) => type === 'olm.deprecated');
}

/** Finds bundles that OLM v0 cannot install because no catalog of the cluster meets a requirement. */
import type { Bundle } from '../../fbc/model.ts';
import { packagesFor } from './provider.ts';
import { type Requirement, RequirementError } from './requirement.ts';
import { offerOfBundle, type Scope, spend } from './snapshot.ts';
import { readRequirements } from './unreadable.ts';

/** A requirement that no catalog meets. */
export interface MissingRequirement {
  /** Name of the bundle with the requirement. */
  readonly bundle: string;
  /** In the resolver's words, such as `with package: bar and with version in range: >=1.0.0`. */
  readonly requires: string;
}

/** How many bundles that require one another are followed. */
const DEEPEST = 500;

/**
 * The requirements of bundles that nothing in the catalogs of a scope meets, and of what they require in turn where
 * all that meets it lacks something itself. Requirements that cannot be read are left out: the resolver says so.
 */
export function missingRequirements(scope: Scope, bundles: readonly Bundle[]): MissingRequirement[] {
  const providers = new Map<Requirement, readonly Bundle[]>();
  const known = new Map<Bundle, readonly MissingRequirement[]>();
  const lackedBy = (bundle: Bundle, depth = 0): readonly MissingRequirement[] => {
    const found = known.get(bundle);
    if (found) return found;
    if (depth > DEEPEST) return [];
    // Bundles that require each other lack nothing for that reason.
    known.set(bundle, []);
    const lacked = readRequirements(scope, bundle.properties).flatMap(
      ({ read }): readonly MissingRequirement[] => {
        if (read instanceof RequirementError) return [];
        const those = providers.get(read) ?? findProviders(scope, read);
        providers.set(read, those);
        spend(scope, 1 + those.length);
        const [first, ...others] = those.map((one) => lackedBy(one, depth + 1));
        if (!first) return [{ bundle: bundle.name, requires: read.text }];
        return [first, ...others].every((one) => one.length > 0) ? first : [];
      },
    );
    known.set(bundle, lacked);
    return lacked;
  };
  const lacked = bundles.flatMap((one) => lackedBy(one));
  return [...new Map(lacked.map((one) => [`${one.bundle}\n${one.requires}`, one])).values()];
}

function findProviders(scope: Scope, requirement: Requirement): readonly Bundle[] {
  const packages = scope.catalogs.flatMap(({ catalog }) => packagesFor(catalog, requirement));
  const bundles = packages.flatMap((one) => [...one.bundles.values()]);
  spend(scope, bundles.length);
  return bundles.filter((one) => requirement.holds(offerOfBundle(one)));
}

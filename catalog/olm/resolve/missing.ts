/** Finds bundles that OLM v0 cannot install because no catalog of the cluster meets a requirement. */
import type { Bundle } from '../../fbc/model.ts';
import { RequirementError } from './requirement.ts';
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
  const all = scope.catalogs.flatMap(({ catalog }) =>
    [...catalog.packages.values()].flatMap((one) => [...one.bundles.values()]),
  );
  const known = new Map<Bundle, readonly MissingRequirement[]>();
  const lackedBy = (bundle: Bundle, depth = 0): readonly MissingRequirement[] => {
    const found = known.get(bundle);
    if (found) return found;
    if (depth > DEEPEST) return [];
    // Bundles that require each other lack nothing for that reason.
    known.set(bundle, []);
    const lacked = readRequirements(bundle.properties, scope.cel).flatMap(
      ({ read }): readonly MissingRequirement[] => {
        if (read instanceof RequirementError) return [];
        const { text, holds } = read;
        const providers = all.filter((one) => holds(offerOfBundle(one)));
        spend(scope, 1 + providers.length);
        const [first, ...others] = providers.map((one) => lackedBy(one, depth + 1));
        if (!first) return [{ bundle: bundle.name, requires: text }];
        return [first, ...others].every((one) => one.length > 0) ? first : [];
      },
    );
    known.set(bundle, lacked);
    return lacked;
  };
  const lacked = bundles.flatMap((one) => lackedBy(one));
  return [...new Map(lacked.map((one) => [`${one.bundle}\n${one.requires}`, one])).values()];
}

/**
 * What bundles require of others, for selections: a catalog that keeps a bundle and not
 * what it depends on offers something that nobody can install.
 */
import type { Cel } from '../../fbc/cel.ts';
import type { Bundle } from '../../fbc/model.ts';
import { type Offer, offerOf, RequirementError, requirementsOf } from '../../olm/resolve/requirement.ts';
import type { Need } from './select.ts';

/**
 * Reads what a bundle requires, as OLM reads it. Requirements that cannot be read are none:
 * nothing could satisfy them.
 *
 * @param cel for rules in CEL; without it such rules are passed over
 */
export function needsWith(cel: Cel | undefined): (bundle: Bundle) => readonly Need[] {
  const offers = new WeakMap<Bundle, Offer>();
  const offer = (bundle: Bundle): Offer => {
    const known = offers.get(bundle) ?? offerOf(bundle.properties, bundle);
    offers.set(bundle, known);
    return known;
  };
  return (bundle) => {
    try {
      return requirementsOf(bundle.properties, cel).map(({ text, holds }) => ({
        text,
        holds: (other) => holds(offer(other)),
      }));
    } catch (error) {
      if (error instanceof RequirementError) return [];
      throw error;
    }
  };
}

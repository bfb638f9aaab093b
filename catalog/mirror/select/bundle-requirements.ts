/**
 * What bundles require of others, for selections: a catalog that keeps a bundle and not
 * what it depends on offers something that nobody can install.
 */
import type { Cel } from '../../fbc/cel/cel.ts';
import type { Bundle } from '../../fbc/model.ts';
import { onceFor } from '../../go/once.ts';
import { offerOf, RequirementError, requirementsOf } from '../../olm/resolve/requirement.ts';
import { NOT_EVALUATED, Undecided } from '../../undecided.ts';
import type { Need } from './select.ts';

/**
 * Reads what a bundle requires, as OLM reads it. Requirements that cannot be read are none:
 * nothing could satisfy them. What it gives throws Undecided for a rule in CEL that costs too much.
 *
 * @param cel for rules in CEL
 */
export function needsWith(cel: Cel | undefined): (bundle: Bundle) => readonly Need[] {
  const offer = onceFor((bundle: Bundle) => offerOf(bundle.properties, bundle));
  return (bundle) => {
    const ifReadable = <T>(read: () => T): T | undefined => {
      try {
        return read();
      } catch (error) {
        if (!(error instanceof RequirementError)) throw error;
        if (error.kind === 'undecided') throw new Undecided(`dependencies of ${bundle.name}`, NOT_EVALUATED);
        return undefined;
      }
    };
    const requirements = ifReadable(() => requirementsOf(bundle.properties, cel)) ?? [];
    return requirements.map(({ text, decide }) => ({
      text,
      isMetBy: (other) => ifReadable(() => decide(offer(other))) ?? false,
    }));
  };
}

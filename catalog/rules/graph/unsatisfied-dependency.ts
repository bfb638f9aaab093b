import { shortName } from '../../fbc/edge.ts';
import { type Bundle, locate } from '../../fbc/model.ts';
import { judgedPackages, type World } from '../../olm/foresight/world.ts';
import { isMet } from '../../olm/resolve/provider.ts';
import { REQUIRING, RequirementError, requirementsOf } from '../../olm/resolve/requirement.ts';
import { grouped, listed, versionsOf } from '../phrase.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/unsatisfied-dependency',
  severity: 'error',
  summary: 'Under OLM v0 what a bundle depends on is in the catalogs of its clusters',
  foresee(world, report) {
    if (!world.olm.has('v0')) return;
    for (const { name, bundles } of judgedPackages(world)) {
      const unmet = [...bundles.values()].flatMap((bundle) => unmetBy(world, bundle));
      for (const group of grouped(unmet, ({ text }) => text)) {
        const last = group.at(-1);
        if (!last) continue;
        const versions = versionsOf(group.map(({ bundle }) => bundle));
        const where = world.hasCompanions
          ? 'no catalog of the clusters has one, so it cannot be installed, and upgrades to it silently do not happen'
          : 'this catalog has none: without another that does it cannot be installed, and upgrades to it silently do not happen';
        const message = `package ${quoted(name)}: ${listed(versions)} ${versions.length === 1 ? 'asks' : 'ask'} for an operator ${last.text}, and ${where}`;
        report(message, locate(last.bundle, 'properties', last.at), {
          package: name,
          subject: last.text,
          installed: [...new Set(group.map(({ bundle }) => shortName(bundle)))],
          severity: world.hasCompanions ? 'error' : 'warning',
          hint: world.hasCompanions
            ? 'publish what it depends on first, or correct the range'
            : 'name the catalogs that clusters have beside this one in the policy: graph.companions',
        });
      }
    }
  },
};

interface Unmet {
  readonly bundle: Bundle;
  /** Position of the property. */
  readonly at: number;
  readonly text: string;
}

function unmetBy({ foresight }: World, bundle: Bundle): Unmet[] {
  return bundle.properties.flatMap((property, at) => {
    if (!REQUIRING.has(property.type)) return [];
    try {
      const [requirement] = requirementsOf([property], foresight.scope.cel);
      if (!requirement || isMet(foresight.scope, requirement)) return [];
      return [{ bundle, at, text: requirement.text }];
    } catch (error) {
      if (!(error instanceof RequirementError)) throw error;
      return error.kind === 'undecided' ? [] : [{ bundle, at, text: `that nobody can be: ${error.message}` }];
    }
  });
}

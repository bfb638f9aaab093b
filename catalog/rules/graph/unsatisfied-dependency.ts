import { shortName } from '../../fbc/edge.ts';
import { type Bundle, locate } from '../../fbc/model.ts';
import { checkedPackages, type World } from '../../olm/foresight/world.ts';
import { isMet } from '../../olm/resolve/provider.ts';
import { RequirementError } from '../../olm/resolve/requirement.ts';
import { readRequirements } from '../../olm/resolve/unreadable.ts';
import { grouped, listed, versionsOf } from '../message-text.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/unsatisfied-dependency',
  severity: 'error',
  summary: 'Reports dependencies of bundles that are not available under OLM v0',
  reads: ['catalogs'],
  foresee(world, report) {
    if (!world.olm.has('v0') || !world.isWhole) return;
    for (const { name, bundles } of checkedPackages(world)) {
      const unmet = [...bundles.values()].flatMap((bundle) => unmetBy(world, bundle));
      for (const group of grouped(unmet, ({ text }) => text)) {
        const last = group.at(-1);
        if (!last) continue;
        const versions = versionsOf(group.map(({ bundle }) => bundle));
        const where = world.hasCompanions
          ? 'no catalog on the clusters provides it, so OLM v0 cannot install the bundle and skips upgrades to it without an error'
          : 'this catalog does not provide it: without another catalog that does, OLM v0 cannot install the bundle and skips upgrades to it without an error';
        const message = `package ${quoted(name)}: ${listed(versions)} ${versions.length === 1 ? 'requires' : 'require'} an operator ${last.text}, and ${where}`;
        report(message, locate(last.bundle, 'properties', last.at), {
          package: name,
          subject: last.text,
          installed: [...new Set(group.map(({ bundle }) => shortName(bundle)))],
          severity: world.hasCompanions ? 'error' : 'warning',
          hint: world.hasCompanions
            ? 'publish the dependency first, or correct the range'
            : 'list the other catalogs on the clusters in the policy: graph.companions',
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

function unmetBy({ foresight: { scope } }: World, bundle: Bundle): Unmet[] {
  return readRequirements(scope, bundle.properties).flatMap(({ read, at }) =>
    read instanceof RequirementError || isMet(scope, read) ? [] : [{ bundle, at, text: read.text }],
  );
}

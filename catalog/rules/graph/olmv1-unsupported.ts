import { locate } from '../../fbc/model.ts';
import { checkedPackages } from '../../olm/foresight/world.ts';
import { v1Obstacles } from '../../olm/resolve/support.ts';
import { headBundles } from '../head-bundles.ts';
import { grouped, listed, versionsOf } from '../message-text.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/olmv1-unsupported',
  severity: 'error',
  summary:
    'Reports channel heads that OLM v1 cannot install: with dependencies, API services or only namespaced install modes',
  foresee(world, report) {
    if (!world.olm.has('v1')) return;
    for (const ofPackage of checkedPackages(world)) {
      const { name } = ofPackage;
      const heads = headBundles(ofPackage);
      const refused = heads.flatMap((bundle) => v1Obstacles(bundle).map((why) => ({ bundle, why })));
      for (const group of grouped(refused, ({ why }) => why)) {
        const last = group.at(-1);
        if (!last) continue;
        const versions = versionsOf(group.map(({ bundle }) => bundle));
        const message = `OLM v1 cannot install ${listed(versions)} of package ${quoted(name)}: ${last.why}`;
        report(message, locate(last.bundle, 'properties'), {
          package: name,
          subject: last.why,
          installed: versions,
          severity: world.olm.has('v0') ? 'warning' : 'error',
          hint: 'remove what OLM v1 does not support, or tell users that the operator needs OLM v0',
        });
      }
    }
  },
};

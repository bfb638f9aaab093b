import { locate } from '../../fbc/model.ts';
import { checkedPackages } from '../../olm/foresight/world.ts';
import { gvkText, offerOf } from '../../olm/resolve/requirement.ts';
import { offerOfBundle } from '../../olm/resolve/snapshot.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/repeated-gvk',
  severity: 'error',
  summary:
    'Reports bundles that declare a kind that they provide more than once, which OLM v0 never installs',
  foresee(world, report) {
    if (!world.olm.has('v0')) return;
    for (const { name, bundles } of checkedPackages(world)) {
      for (const bundle of bundles.values()) {
        const { gvks } = offerOfBundle(bundle);
        if (new Set(gvks).size === gvks.length) continue;
        const seen = new Set<string>();
        for (const [i, property] of bundle.properties.entries()) {
          const [gvk] = offerOf([property], { package: '', version: undefined }).gvks;
          if (gvk !== undefined && seen.has(gvk)) {
            const message = `bundle ${quoted(bundle.name)} declares ${gvkText(gvk)} twice: OLM v0 treats that as a conflict and never installs the bundle`;
            const hint = 'remove one of the two identical olm.gvk properties';
            report(message, locate(bundle, 'properties', i), {
              package: name,
              subject: `${bundle.name} ${gvk}`,
              hint,
            });
          }
          if (gvk !== undefined) seen.add(gvk);
        }
      }
    }
  },
};

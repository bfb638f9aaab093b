import { type Bundle, locate } from '../../fbc/model.ts';
import { checkedPackages } from '../../olm/foresight/world.ts';
import { gvkText, offerOf } from '../../olm/resolve/requirement.ts';
import { offerOfBundle } from '../../olm/resolve/snapshot.ts';
import { grouped, listed, versionsOf } from '../message-text.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/repeated-gvk',
  severity: 'error',
  summary:
    'Reports bundles that declare a kind that they provide more than once, which OLM v0 never installs',
  foresee(world, report) {
    if (!world.olm.has('v0')) return;
    for (const { name, bundles } of checkedPackages(world)) {
      const repeated = [...bundles.values()].flatMap(repeatedIn);
      for (const group of grouped(repeated, ({ gvk }) => gvk)) {
        const [first] = group;
        if (!first) continue;
        const versions = versionsOf(group.map(({ bundle }) => bundle));
        const [declare, them] =
          versions.length === 1 ? ['declares', 'the bundle'] : ['declare', 'these bundles'];
        const message = `${listed(versions)} of package ${quoted(name)} ${declare} ${gvkText(first.gvk)} twice: OLM v0 treats that as a conflict and never installs ${them}`;
        report(message, locate(first.bundle, 'properties', first.at), {
          package: name,
          installed: versions,
          hint: 'remove one of the two identical olm.gvk properties',
        });
      }
    }
  },
};

interface Repeated {
  readonly bundle: Bundle;
  readonly gvk: string;
  /** Position of the property that repeats the kind. */
  readonly at: number;
}

function repeatedIn(bundle: Bundle): Repeated[] {
  const { gvks } = offerOfBundle(bundle);
  if (new Set(gvks).size === gvks.length) return [];
  const seen = new Set<string>();
  return bundle.properties.flatMap((property, at) => {
    const [gvk] = offerOf([property], { package: '', version: undefined }).gvks;
    if (gvk === undefined) return [];
    if (seen.has(gvk)) return [{ bundle, gvk, at }];
    seen.add(gvk);
    return [];
  });
}

import { runsFor } from '../../references/support.ts';
import { lookedUp, placed } from '../looked-up.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'image/platforms',
  severity: 'warning',
  summary:
    'Related images of the head of a default channel are for every platform that its labels operatorframework.io/arch.* and os.* name',
  resolved: (references, report) => {
    const { supports } = references;
    if (!supports) return;
    for (const { site, lookup } of lookedUp(references)) {
      if (lookup.kind !== 'found' || !lookup.platforms || !runsFor(site, supports)) continue;
      const { platforms } = lookup;
      const missing = supports.get(site.package)?.platforms.filter((one) => !platforms.includes(one)) ?? [];
      if (missing.length === 0) continue;
      const isFor = platforms.length === 0 ? 'no platform' : platforms.join(', ');
      const message = `${placed(site)} is for ${isFor}, not for ${missing.join(', ')} on which package ${quoted(site.package)} says that it runs`;
      report(message, site.location, {
        package: site.package,
        hint: 'name a manifest list with all platforms, or take the labels out of the ClusterServiceVersion',
      });
    }
  },
};

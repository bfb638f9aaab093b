import { runsFor } from '../../references/support.ts';
import { lookedUp, placed } from '../registry-answers.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'image/platforms',
  severity: 'warning',
  summary:
    "Reports related images of a default channel's head that lack a platform in its labels operatorframework.io/arch.* and os.*",
  resolved: (references, report) => {
    const { supports } = references;
    if (!supports) return;
    for (const { site, lookup } of lookedUp(references)) {
      if (lookup.kind !== 'found' || !lookup.platforms || !runsFor(site, supports)) continue;
      const { platforms } = lookup;
      const missing = supports.get(site.package)?.platforms.filter((one) => !platforms.includes(one)) ?? [];
      if (missing.length === 0) continue;
      const isFor = platforms.length === 0 ? 'no platform' : platforms.join(', ');
      const message = `${placed(site)} supports ${isFor}, but not ${missing.join(', ')}, which package ${quoted(site.package)} declares as supported`;
      report(message, site.location, {
        package: site.package,
        hint: 'reference a manifest list with all platforms, or remove the labels from the ClusterServiceVersion',
      });
    }
  },
};

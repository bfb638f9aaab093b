import { lookedUp, placed } from '../registry-answers.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'image/bundle-list',
  severity: 'error',
  isOptional: true,
  summary:
    'Reports images of bundles that are manifest lists: Conforma refuses bundles for several platforms',
  opm: ['The B bundle image is a multi-arch reference.'],
  resolved: (references, report) => {
    for (const { site, lookup } of lookedUp(references)) {
      if (site.kind !== 'bundle' || lookup.kind !== 'found' || !lookup.isList) continue;
      report(`${placed(site)} is a manifest list, which a bundle must not be`, site.location, {
        package: site.package,
        hint: 'build the bundle for one platform, and reference that image',
      });
    }
  },
};

import { lookedUp, placed } from '../registry-answers.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'image/tag-missing',
  severity: 'error',
  summary: 'Reports tags in bundles and templates that do not exist in their registry',
  resolved: (references, report) => {
    for (const { site, lookup } of lookedUp(references)) {
      if (site.reference.kind !== 'tag' || lookup.kind !== 'absent') continue;
      report(`${placed(site)} does not exist: the registry does not have this tag`, site.location, {
        package: site.package,
        hint: 'push the image, or reference an existing tag',
      });
    }
  },
};

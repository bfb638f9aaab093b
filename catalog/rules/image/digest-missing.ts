import { lookedUp, placed } from '../registry-answers.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'image/digest-missing',
  severity: 'error',
  summary: 'Reports images with a digest that does not exist in their registry',
  resolved: (references, report) => {
    for (const { site, lookup } of lookedUp(references)) {
      if (site.reference.kind !== 'digest' || lookup.kind !== 'absent') continue;
      report(`${placed(site)} does not exist: the registry does not have this digest`, site.location, {
        package: site.package,
        hint: 'push the image again, or reference an existing one; registries delete images without a tag',
      });
    }
  },
};

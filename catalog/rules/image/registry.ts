import { lookedUp, placed } from '../registry-answers.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'image/registry',
  severity: 'error',
  summary: 'Reports images from registries that the policy does not allow',
  resolved: (references, report) => {
    for (const { site, lookup } of lookedUp(references)) {
      if (lookup.kind !== 'not-allowed') continue;
      report(`${placed(site)} is in a registry that the policy does not allow`, site.location, {
        package: site.package,
        hint: `registries: {allow: [${site.reference.registry}]}`,
      });
    }
  },
};

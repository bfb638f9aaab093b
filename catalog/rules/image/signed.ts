import { lookedUp, placed } from '../looked-up.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'image/signed',
  severity: 'error',
  summary: 'Images are signed by whom the policy demands',
  resolved: (references, report) => {
    for (const { site, lookup } of lookedUp(references)) {
      if (lookup.kind !== 'found' || lookup.unsigned === undefined) continue;
      report(
        `${placed(site)} lacks the signature that the policy demands: ${lookup.unsigned}`,
        site.location,
        {
          package: site.package,
          hint: `portolan verify ${site.written} tells who has signed it (registries.signatures in the policy)`,
        },
      );
    }
  },
};

import { shellWord } from '../../names.ts';
import { lookedUp, placed } from '../registry-answers.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'image/signed',
  severity: 'error',
  summary: 'Reports images that are not signed as the policy requires',
  resolved: (references, report) => {
    for (const { site, lookup } of lookedUp(references)) {
      if (lookup.kind !== 'found' || lookup.unsigned === undefined) continue;
      report(
        `${placed(site)} lacks the signature that the policy requires: ${lookup.unsigned}`,
        site.location,
        {
          package: site.package,
          hint: `see its signatures with portolan verify ${shellWord(site.written)} --key FILE, or with --identity and --issuer (policy: registries.signatures)`,
        },
      );
    }
  },
};

import { quoted, shellWord } from '../../names.ts';
import { lookedUp, placed } from '../registry-answers.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'image/checked',
  severity: 'error',
  summary:
    'Reports images that have not passed the external checks that the policy requires, as signed statements say',
  resolved: (references, report) => {
    for (const { site, lookup } of lookedUp(references)) {
      if (lookup.kind !== 'found') continue;
      for (const check of lookup.checks ?? []) {
        const details = { package: site.package, subject: `${check.name} ${site.written}` };
        if (check.kind === 'passed') {
          const message = `${placed(site)} passed the check ${quoted(check.name)}, says ${check.by}`;
          report(message, site.location, { ...details, severity: 'info' });
        } else {
          const message = `${placed(site)} has not passed the check ${quoted(check.name)}: ${check.why}`;
          const hint = `see its statements with portolan verify ${shellWord(site.written)} --key FILE (policy: registries.attestations)`;
          report(message, site.location, { ...details, hint });
        }
      }
    }
  },
};

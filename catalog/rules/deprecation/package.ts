import { locate } from '../../fbc/model.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'deprecation/package',
  severity: 'error',
  summary:
    'Reports packages with several olm.deprecations blobs, and such blobs that do not name their package',
  opm: [
    'package name must be set for deprecation item i',
    'expected a maximum of one deprecation per package: "p"',
  ],
  check(catalog, report) {
    const seen = new Set<string>();
    for (const blob of catalog.blobs.deprecations) {
      if (blob.package === '') {
        report('the deprecations do not name their package', locate(blob, 'package'), {
          hint: 'package: my-operator',
        });
      } else if (seen.has(blob.package)) {
        const message = `package ${quoted(blob.package)} has more than one olm.deprecations blob`;
        report(message, locate(blob, 'package'), {
          package: blob.package,
          hint: 'merge all entries into one blob',
        });
      }
      seen.add(blob.package);
    }
  },
};

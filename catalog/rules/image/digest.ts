import { formatReference, withDigest } from '../../reference.ts';
import { lookedUp, placed } from '../registry-answers.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'image/digest',
  severity: 'info',
  summary:
    'Reports images that are not referenced by digest, so that clusters may get another one than was checked',
  resolved: (references, report) => {
    for (const { site, lookup } of lookedUp(references)) {
      if (site.reference.kind !== 'tag' || lookup.kind !== 'found') continue;
      const pinned = formatReference(withDigest(site.reference, lookup.digest));
      report(`${placed(site)} is a tag, which may point to another image later`, site.location, {
        package: site.package,
        hint: pinned,
        correction: { kind: 'replace', location: site.location, found: site.written, wanted: pinned },
      });
    }
  },
};

import { lookupKey } from '../../references/site.ts';
import { lockedTags, lookedUp, placed } from '../registry-answers.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'image/tag-moved',
  severity: 'warning',
  summary: 'Reports tags that do not point to the locked digest',
  resolved: (references, report) => {
    const { lock, lookups } = references;
    if (!lock) return;
    for (const { site, lookup } of lookedUp(references)) {
      const { reference } = site;
      if (reference.kind !== 'tag' || lookup.kind !== 'found') continue;
      const locked = lock.digests.get(lookupKey(reference));
      if (locked === undefined || locked === lookup.digest) continue;
      report(`${placed(site)} has moved: it was ${locked}, it is ${lookup.digest} now`, site.location, {
        package: site.package,
        hint: 'run portolan resolve DIR --lock FILE --update to use the new image, or reference the locked digest',
      });
    }
    // A pinned image stays the same, but people should know that its tag has moved on.
    for (const { site, tag } of lockedTags(references)) {
      const lookup = lookups.get(tag);
      if (lookup?.kind !== 'found' || lookup.digest === lock.digests.get(tag)) continue;
      report(`${placed(site)} was pinned from ${tag}, which is ${lookup.digest} now`, site.location, {
        package: site.package,
        severity: 'info',
        hint: 'run portolan resolve DIR --lock FILE --update --write to use the new image',
      });
    }
  },
};

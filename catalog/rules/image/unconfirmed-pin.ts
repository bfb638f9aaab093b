import { shortName } from '../../fbc/edge.ts';
import { locate } from '../../fbc/model.ts';
import { CONFIRM_HINT, imageChange, newPins, UNCONFIRMED } from '../../references/same-image.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'image/unconfirmed-pin',
  severity: 'warning',
  summary:
    'Reports related images that change from a tag to a digest that neither the lock file nor the registry confirms',
  reads: ['history', 'registry'],
  compare(change, report) {
    for (const name of change.packages) {
      const was = change.before.catalog.packages.get(name)?.bundles;
      for (const bundle of change.after.catalog.packages.get(name)?.bundles.values() ?? []) {
        const old = was?.get(bundle.name);
        if (!old || !change.before.isPublished({ package: name, bundle: bundle.name })) continue;
        const open = newPins(old, bundle).filter(
          ({ before, after, path }) =>
            path[0] === 'relatedImages' &&
            imageChange(before, after, change.before.digests) === 'unconfirmed',
        );
        const [first, ...others] = open;
        if (!first) continue;
        const more = others.length > 0 ? ` (and ${others.length} more of its images)` : '';
        const message = `bundle ${quoted(bundle.name)} is published and its related images now name ${quoted(first.after)}: nothing confirms that ${quoted(first.before)} points to that digest${more}`;
        report(message, locate(bundle, ...first.path), {
          package: name,
          installed: [shortName(old)],
          subject: UNCONFIRMED,
          hint: CONFIRM_HINT,
        });
      }
    }
  },
};

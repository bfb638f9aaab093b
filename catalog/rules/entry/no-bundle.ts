import { locate } from '../../fbc/model.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'entry/no-bundle',
  severity: 'error',
  summary: 'Reports channel entries without an olm.bundle blob',
  opm: [
    'no olm.bundle blobs found in package "p" for olm.channel entries [a b]',
    'must be exactly one property with type "olm.package"',
    'bundle image must be set',
  ],
  check(catalog, report) {
    for (const channel of catalog.blobs.channels) {
      const bundles = catalog.packages.get(channel.package)?.bundles;
      for (const entry of channel.entries) {
        if (entry.name === '' || bundles?.has(entry.name)) continue;
        const message = `channel ${quoted(channel.name)} of package ${quoted(channel.package)}: the entry ${quoted(entry.name)} has no olm.bundle blob`;
        const hint = `add the olm.bundle blob with name: ${entry.name}, or remove the entry`;
        report(message, locate(channel, 'entries', entry.index, 'name'), {
          package: channel.package,
          channel: channel.name,
          hint,
        });
      }
    }
  },
};

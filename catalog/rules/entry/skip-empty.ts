import { locate } from '../../fbc/model.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'entry/skip-empty',
  severity: 'error',
  summary: 'Reports items of skips that are not the name of a bundle',
  opm: ['skip[0] is empty'],
  check(catalog, report) {
    for (const channel of catalog.blobs.channels) {
      for (const entry of channel.entries) {
        for (const [i, skip] of entry.skips.entries()) {
          if (skip !== '') continue;
          const message = `channel ${quoted(channel.name)} of package ${quoted(channel.package)}: skips[${i}] of ${quoted(entry.name)} is empty`;
          const details = { package: channel.package, channel: channel.name, hint: 'remove the item' };
          report(message, locate(channel, 'entries', entry.index, 'skips', i), details);
        }
      }
    }
  },
};

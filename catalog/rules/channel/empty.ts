import { locate } from '../../fbc/model.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'channel/empty',
  severity: 'error',
  summary: 'Reports channels without entries',
  opm: ['channel must contain at least one bundle'],
  check(catalog, report) {
    for (const channel of catalog.blobs.channels) {
      if (channel.entries.length > 0) continue;
      const message = `channel ${quoted(channel.name)} of package ${quoted(channel.package)} has no entries`;
      const details = {
        package: channel.package,
        channel: channel.name,
        hint: 'add an entry, or remove the channel',
      };
      report(message, locate(channel, 'entries'), details);
    }
  },
};

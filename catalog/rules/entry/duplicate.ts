import { locate } from '../../fbc/model.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'entry/duplicate',
  severity: 'error',
  summary: 'Reports bundles that a channel lists more than once',
  opm: ['invalid package "p", channel "c": duplicate entry "e"'],
  check(catalog, report) {
    for (const channel of catalog.blobs.channels) {
      const seen = new Set<string>();
      for (const entry of channel.entries) {
        if (!seen.has(entry.name)) {
          seen.add(entry.name);
          continue;
        }
        const message = `channel ${quoted(channel.name)} of package ${quoted(channel.package)} has the entry ${quoted(entry.name)} twice`;
        const details = {
          package: channel.package,
          channel: channel.name,
          hint: 'merge both into one entry',
        };
        report(message, locate(channel, 'entries', entry.index, 'name'), details);
      }
    }
  },
};

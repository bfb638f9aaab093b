import { locate } from '../../fbc/model.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'entry/name',
  severity: 'error',
  summary: 'Reports channel entries without the name of a bundle',
  opm: ['name must be set'],
  check(catalog, report) {
    for (const channel of catalog.blobs.channels) {
      for (const entry of channel.entries) {
        if (entry.name !== '') continue;
        const message = `channel ${quoted(channel.name)} of package ${quoted(channel.package)} has an entry without a name`;
        const details = { package: channel.package, channel: channel.name, hint: 'name: my-operator.v1.0.0' };
        report(message, locate(channel, 'entries', entry.index, 'name'), details);
      }
    }
  },
};

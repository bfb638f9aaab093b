import { locate } from '../../fbc/model.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'channel/name',
  severity: 'error',
  summary: 'Reports channels without a name',
  opm: ['package "p" contains channel with no name'],
  check(catalog, report) {
    for (const channel of catalog.blobs.channels) {
      if (channel.name !== '') continue;
      const message = `a channel of package ${quoted(channel.package)} has no name`;
      report(message, locate(channel, 'name'), { package: channel.package, hint: 'name: stable' });
    }
  },
};

import { chainBelow, headOf } from '../../fbc/channel.ts';
import { locate } from '../../fbc/model.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'channel/cycle',
  severity: 'error',
  summary: 'Reports channels in which replaces forms a cycle',
  opm: ['detected cycle in replaces chain of upgrade graph: a -> b -> a'],
  check(catalog, report) {
    for (const channel of catalog.blobs.channels) {
      const head = headOf(channel);
      const cycle = head && chainBelow(channel, head).cycle;
      if (!cycle) continue;
      const closing = channel.entries.find(({ name }) => name === cycle.at(-2));
      const message = `channel ${quoted(channel.name)} of package ${quoted(channel.package)}: replaces form a cycle: ${cycle.join(' -> ')}`;
      const location = locate(channel, 'entries', closing?.index ?? 0, 'replaces');
      const details = {
        package: channel.package,
        channel: channel.name,
        hint: 'replaces must name an older version',
      };
      report(message, location, details);
    }
  },
};

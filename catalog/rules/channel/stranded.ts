import { chainBelow, headOf } from '../../fbc/channel.ts';
import { locate } from '../../fbc/model.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'channel/stranded',
  severity: 'error',
  summary: 'Every entry of a channel is in the replaces chain of the head, or skipped',
  opm: ['channel contains one or more stranded bundles: a, b'],
  check(catalog, report) {
    for (const channel of catalog.blobs.channels) {
      const head = headOf(channel);
      if (!head) continue;
      for (const entry of chainBelow(channel, head).stranded) {
        const message = `channel ${quoted(channel.name)} of package ${quoted(channel.package)}: ${quoted(entry.name)} has no upgrade path to the head ${quoted(head.name)}`;
        const hint = `add to the entry of ${head.name}: skips: [${entry.name}]`;
        const details = { package: channel.package, channel: channel.name, installed: [entry.name], hint };
        report(message, locate(channel, 'entries', entry.index, 'name'), details);
      }
    }
  },
};

import { chainBelow, headOf } from '../../fbc/channel.ts';
import { locate } from '../../fbc/model.ts';
import { channelText, listed } from '../message-text.ts';
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
      const { stranded } = chainBelow(channel, head);
      const [first, ...others] = stranded;
      if (!first) continue;
      const names = stranded.map(({ name }) => name);
      const have = others.length > 0 ? 'have' : 'has';
      const message = `${channelText(channel.name, channel.package)}: ${listed(names.map(quoted))} ${have} no upgrade path to the head ${quoted(head.name)}`;
      const hint = `add to the entry of ${head.name}: skips: [${names.join(', ')}]`;
      const details = { package: channel.package, channel: channel.name, installed: names, hint };
      report(message, locate(channel, 'entries', first.index, 'name'), details);
    }
  },
};

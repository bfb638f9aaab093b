import { chainBelow, hasChain, headOf } from '../../fbc/channel.ts';
import { type Channel, locate } from '../../fbc/model.ts';
import { skippedLinks, unskipText } from '../../olm/foresight/skipped-links.ts';
import { channelText, listed } from '../message-text.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'channel/stranded',
  severity: 'error',
  summary: 'Reports entries that are neither in the replaces chain of the head nor skipped',
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
      const hint = unskipped(channel) ?? `add to the entry of ${head.name}: skips: [${names.join(', ')}]`;
      const details = { package: channel.package, channel: channel.name, installed: names, hint };
      report(message, locate(channel, 'entries', first.index, 'name'), details);
    }
  },
};

/** The link of the chain that must not be skipped, where that alone gives all of them an upgrade path. */
function unskipped(channel: Channel): string | undefined {
  const found = skippedLinks(channel).find(({ entry, skipped }) => {
    const skips = entry.skips.filter((name) => name !== skipped);
    return hasChain({
      ...channel,
      entries: channel.entries.map((one) => (one === entry ? { ...one, skips } : one)),
    });
  });
  return found && unskipText(found.entry, found.skipped);
}

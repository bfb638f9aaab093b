import { headOf } from '../../graph/channel.ts';
import { shortName } from '../../graph/edge.ts';
import type { World } from '../../graph/world.ts';
import type { Bundle, Channel } from '../../model.ts';
import { compareVersions } from '../../version.ts';
import { channelText } from '../phrase.ts';
import { placeOfHead } from '../place.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/head-regression',
  severity: 'error',
  summary: 'The head of a channel never goes back to a lower version',
  compare({ before, after, packages }, report) {
    for (const name of packages) {
      for (const channel of after.catalog.packages.get(name)?.channels.values() ?? []) {
        const old = headBundle(before, before.catalog.packages.get(name)?.channels.get(channel.name));
        const head = headBundle(after, channel);
        if (!old?.version || !head?.version || compareVersions(head.version, old.version) >= 0) continue;
        const message = `the head of ${channelText(channel.name, name)} goes back from ${shortName(old)} to ${shortName(head)}`;
        const hint = `keep the entry of ${old.name}; to take back a bad release, publish a higher version that skips it`;
        const details = { package: name, channel: channel.name, installed: [shortName(old)], hint };
        report(message, placeOfHead(channel), details);
      }
    }
  },
};

function headBundle({ catalog }: World, channel: Channel | undefined): Bundle | undefined {
  const head = channel && headOf(channel);
  return head && catalog.packages.get(channel.package)?.bundles.get(head.name);
}

import { installedOf, shortName } from '../../fbc/edge.ts';
import { checkedPackages } from '../../olm/foresight/world.ts';
import { placeOfHead } from '../finding-location.ts';
import { channelText } from '../message-text.ts';
import type { Rule } from '../rule.ts';

/** More upgrades in a row than this are worth a word, and than the second a warning: each one is waited for. */
const LONG = 10;
const VERY_LONG = 25;

export const rule: Rule = {
  id: 'graph/path-length',
  severity: 'warning',
  summary: 'Reports installations that need many upgrades in a row to reach the channel head',
  foresee(world, report) {
    if (!world.olm.has('v0')) return;
    for (const { name, channels, bundles } of checkedPackages(world)) {
      for (const channel of channels.values()) {
        const paths = channel.entries.flatMap((entry) => {
          const bundle = bundles.get(entry.name);
          if (!bundle) return [];
          const { hops } = world.foresight.v0({ package: name, channel: channel.name }, installedOf(bundle));
          return [{ bundle, hops }];
        });
        const [longest] = [...paths].sort((a, b) => b.hops - a.hops);
        if (!longest || longest.hops <= LONG) continue;
        const far = paths.filter(({ hops }) => hops > LONG).map(({ bundle }) => shortName(bundle));
        const message = `${channelText(channel.name, name)}: ${shortName(longest.bundle)} needs ${longest.hops} upgrades in a row to reach the head`;
        report(message, placeOfHead(channel), {
          package: name,
          channel: channel.name,
          subject: 'hops',
          installed: far,
          severity: longest.hops > VERY_LONG ? 'warning' : 'info',
          hint: 'add a skipRange to the head that covers the versions with a tested direct upgrade',
        });
      }
    }
  },
};

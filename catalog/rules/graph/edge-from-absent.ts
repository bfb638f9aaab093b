import { checkedPackages } from '../../olm/foresight/world.ts';
import { placeOfEntry } from '../finding-location.ts';
import { channelText, listed } from '../message-text.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/edge-from-absent',
  severity: 'info',
  summary:
    'Reports upgrade edges from bundles that the package no longer has, which help clusters that still have them',
  fix: 'nothing to do if the edges are for clusters that still have the old bundles',
  foresee(world, report) {
    for (const { name, channels, bundles } of checkedPackages(world)) {
      for (const channel of channels.values()) {
        const absent = channel.entries.flatMap(({ replaces, skips, index }) =>
          [replaces, ...skips]
            .filter((from) => from !== '' && !bundles.has(from))
            .map((from) => ({ from, index, field: from === replaces ? 'replaces' : 'skips' })),
        );
        const [first] = absent;
        if (!first) continue;
        const names = [...new Set(absent.map(({ from }) => from))];
        const message = `${channelText(channel.name, name)} has edges from ${listed(names)}, which the package does not have`;
        const location = placeOfEntry(channel, first.index, first.field);
        report(message, location, { package: name, channel: channel.name, installed: names });
      }
    }
  },
};

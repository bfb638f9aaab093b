import { checkedPackages } from '../../olm/foresight/world.ts';
import { placeOfEntry } from '../finding-location.ts';
import { channelText, listed } from '../message-text.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/edge-from-other-channel',
  severity: 'info',
  summary: 'Reports upgrade edges from entries of another channel, which help users who switch',
  fix: 'nothing to do if the edges are for users who switch channels',
  foresee(world, report) {
    for (const { name, channels, bundles } of checkedPackages(world)) {
      for (const channel of channels.values()) {
        const present = new Set(channel.entries.map((entry) => entry.name));
        const foreign = channel.entries.flatMap(({ replaces, skips, index }) =>
          [replaces, ...skips]
            .filter((from) => bundles.has(from) && !present.has(from))
            .map((from) => ({ from, index, field: from === replaces ? 'replaces' : 'skips' })),
        );
        const [first] = foreign;
        if (!first) continue;
        const names = [...new Set(foreign.map(({ from }) => from))];
        const message = `${channelText(channel.name, name)} has edges from ${listed(names)} of other channels`;
        const location = placeOfEntry(channel, first.index, first.field);
        report(message, location, { package: name, channel: channel.name, installed: names });
      }
    }
  },
};

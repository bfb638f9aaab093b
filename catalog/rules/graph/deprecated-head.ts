import { headOf } from '../../fbc/channel.ts';
import { shortName } from '../../fbc/edge.ts';
import { checkedPackages } from '../../olm/foresight/world.ts';
import { placeOfEntry } from '../finding-location.ts';
import { channelText } from '../message-text.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/deprecated-head',
  severity: 'warning',
  summary: 'Reports deprecated bundles without a successor in channels that are not deprecated',
  foresee(world, report) {
    for (const {
      name,
      channels,
      bundles,
      deprecation,
      deprecatedChannels,
      deprecatedBundles,
    } of checkedPackages(world)) {
      for (const channel of deprecation === undefined ? channels.values() : []) {
        const head = headOf(channel);
        const bundle = head && bundles.get(head.name);
        if (!bundle || !deprecatedBundles.has(bundle.name) || deprecatedChannels.has(channel.name)) continue;
        const message = `${channelText(channel.name, name)}: the head ${shortName(bundle)} is deprecated and has no successor`;
        report(message, placeOfEntry(channel, head.index), {
          package: name,
          channel: channel.name,
          installed: [shortName(bundle)],
          hint: `publish a successor, or deprecate the channel: reference: {schema: olm.channel, name: ${channel.name}}`,
        });
      }
    }
  },
};

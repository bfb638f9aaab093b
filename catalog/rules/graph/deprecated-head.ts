import { headOf } from '../../fbc/channel.ts';
import { shortName } from '../../fbc/edge.ts';
import { checkedPackages } from '../../olm/foresight/world.ts';
import { placeOfEntry } from '../finding-location.ts';
import { channelText, grouped, listed } from '../message-text.ts';
import { quoted, type Rule } from '../rule.ts';

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
      if (deprecation !== undefined) continue;
      const ended = [...channels.values()].flatMap((channel) => {
        const head = headOf(channel);
        const bundle = head && bundles.get(head.name);
        const isEnded = bundle && deprecatedBundles.has(bundle.name) && !deprecatedChannels.has(channel.name);
        return isEnded ? [{ channel, head, bundle }] : [];
      });
      for (const group of grouped(ended, ({ head }) => head.name)) {
        const [first] = group;
        if (!first) continue;
        const { channel, head, bundle } = first;
        const others = group.slice(1).map((one) => quoted(one.channel.name));
        const also = others.length > 0 ? `, also of ${listed(others)}` : '';
        const message = `${channelText(channel.name, name)}: the head ${shortName(bundle)}${also} is deprecated and has no successor`;
        report(message, placeOfEntry(channel, head.index), {
          package: name,
          ...(others.length === 0 ? { channel: channel.name } : {}),
          installed: [shortName(bundle)],
          hint: `publish a successor, or deprecate the channel: reference: {schema: olm.channel, name: ${channel.name}}`,
        });
      }
    }
  },
};

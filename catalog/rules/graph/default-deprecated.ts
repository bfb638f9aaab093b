import { checkedPackages } from '../../olm/foresight/world.ts';
import { placeOfPackage } from '../finding-location.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/default-deprecated',
  severity: 'warning',
  summary: 'Reports deprecated default channels of packages that have a supported channel',
  foresee(world, report) {
    for (const { name, defaultChannel, channels, deprecatedChannels } of checkedPackages(world)) {
      const location = placeOfPackage(world, name, 'defaultChannel');
      const other = [...channels.keys()].find((channel) => !deprecatedChannels.has(channel));
      if (!location || !deprecatedChannels.has(defaultChannel) || other === undefined) continue;
      const message = `the default channel ${quoted(defaultChannel)} of package ${quoted(name)} is deprecated, but ${quoted(other)} is not`;
      report(message, location, { package: name, channel: defaultChannel, hint: `defaultChannel: ${other}` });
    }
  },
};

import { checkedPackages } from '../../olm/foresight/world.ts';
import { placeOfPackage } from '../finding-location.ts';
import { quoted, type Rule } from '../rule.ts';
import { isUnstable } from '../unstable.ts';

export const rule: Rule = {
  id: 'graph/default-unstable',
  severity: 'warning',
  summary: 'Reports default channels that are alpha or candidate channels although there is a stable one',
  foresee(world, report) {
    for (const { name, defaultChannel, channels } of checkedPackages(world)) {
      const location = placeOfPackage(world, name, 'defaultChannel');
      const stable = [...channels.keys()].find((channel) => !isUnstable(channel));
      if (!location || !isUnstable(defaultChannel) || stable === undefined) continue;
      const message = `the default channel of package ${quoted(name)} is ${quoted(defaultChannel)}, but there is a stable channel, ${quoted(stable)}`;
      report(message, location, {
        package: name,
        channel: defaultChannel,
        hint: `defaultChannel: ${stable}`,
      });
    }
  },
};

import { checkedPackages } from '../../olm/foresight/world.ts';
import { placeOfPackage } from '../finding-location.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/all-deprecated',
  severity: 'warning',
  summary: 'Reports packages of which everything is deprecated, so that clusters have nothing to move to',
  foresee(world, report) {
    for (const { name, channels, deprecation, deprecatedChannels } of checkedPackages(world)) {
      const location = placeOfPackage(world, name);
      const isAll =
        channels.size > 0 && [...channels.keys()].every((channel) => deprecatedChannels.has(channel));
      if (!location || (deprecation === undefined && !isAll)) continue;
      const what = deprecation === undefined ? 'all channels are' : 'it is';
      const message = `package ${quoted(name)} has nothing that is not deprecated, because ${what}: every installation is shown as deprecated and has nothing to move to`;
      const hint = `if that is meant, say in the message of the deprecation what replaces it; else deprecate single channels or bundles`;
      report(message, location, { package: name, hint });
    }
  },
};

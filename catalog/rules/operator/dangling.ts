import { bundlesIn, channelsOf, edgesPlace, followersIn, graphMode } from '../operator-checks/graph.ts';
import { usesCatalogs } from '../operator-checks/settings.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'operator/dangling',
  severity: 'error',
  isOptional: true,
  summary:
    'Reports a bundle that is not the head of its channel, and that no other bundle of it replaces or skips',
  opm: ['Channel C has dangling bundles: {B}'],
  operator(operator, report) {
    if (usesCatalogs(operator) || graphMode(operator) === undefined) return;
    for (const channel of channelsOf(operator.changed)) {
      const inside = bundlesIn(operator, channel);
      const followers = followersIn(operator, channel);
      for (const bundle of inside.slice(0, -1)) {
        if (followers.has(bundle)) continue;
        const message = `no bundle of channel ${quoted(channel)} replaces or skips ${quoted(bundle.folder)}: clusters that have it get no upgrade`;
        const hint = `replace or skip ${bundle.name?.operator}.v${bundle.name?.version} in a later bundle of the channel`;
        report(message, edgesPlace(bundle, operator), { package: operator.name, channel, hint });
      }
    }
  },
};

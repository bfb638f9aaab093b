import { channelsOf, edgesPlace, followersIn, graphMode, loopIn } from '../operator-checks/graph.ts';
import { usesCatalogs } from '../operator-checks/settings.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'operator/loop',
  severity: 'error',
  isOptional: true,
  summary: 'Reports bundles of a channel that replace each other in a circle',
  opm: ['Upgrade graph loop detected: B -> C'],
  operator(operator, report) {
    if (usesCatalogs(operator) || graphMode(operator) === undefined) return;
    for (const channel of channelsOf(operator.bundles)) {
      const loop = loopIn(followersIn(operator, channel));
      if (!loop) continue;
      const { from, to } = loop;
      const message =
        from === to
          ? `bundle ${quoted(from.folder)} replaces or skips itself in channel ${quoted(channel)}`
          : `the upgrades of channel ${quoted(channel)} go in a circle: ${quoted(to.folder)} replaces or skips ${quoted(from.folder)}, which comes after it`;
      const details = {
        package: operator.name,
        channel,
        hint: 'remove one of replaces, skips and olm.skipRange',
      };
      report(message, edgesPlace(to, operator), details);
    }
  },
};

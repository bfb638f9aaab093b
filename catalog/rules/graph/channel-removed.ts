import { publishedInstallations } from '../../olm/foresight/installation.ts';
import { placeOfPackage } from '../finding-location.ts';
import { listed, versionsOf } from '../message-text.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/channel-removed',
  severity: 'error',
  summary: 'Reports removed channels that clusters may be subscribed to',
  harm: { rank: 2, kind: 'loss' },
  reads: ['history'],
  compare(change, report) {
    for (const name of change.packages) {
      const was = change.before.catalog.packages.get(name);
      const is = change.after.catalog.packages.get(name);
      const location = placeOfPackage(change.after, name);
      if (!was || !is || is.channels.size === 0 || !location) continue;
      const installations = publishedInstallations(change.before, name);
      for (const channel of was.channels.keys()) {
        if (is.channels.has(channel)) continue;
        if (!change.before.isPublished({ package: name, channel })) {
          const message = `channel ${quoted(channel)} of package ${quoted(name)} is removed before it is published`;
          report(message, location, { package: name, channel, severity: 'info' });
          continue;
        }
        const installed = installations.filter((one) => one.channel === channel).map((one) => one.installed);
        const versions = versionsOf(installed);
        const deprecated = was.deprecatedChannels.has(channel);
        const message = `channel ${quoted(channel)} of package ${quoted(name)} is removed: OLM v0 cannot resolve anything in namespaces that subscribe to it, and OLM v1 reports an error for every extension that selects it (${listed(versions)})`;
        const hint = deprecated
          ? 'it was deprecated before: waive this finding once users have had time to move'
          : `keep the channel for one more release and deprecate it: reference: {schema: olm.channel, name: ${channel}}`;
        report(message, location, { package: name, channel, installed: versions, hint });
      }
    }
  },
};

import { publishedInstallations } from '../../olm/foresight/installation.ts';
import { listed, versionsOf } from '../phrase.ts';
import { placeOfPackage } from '../place.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/channel-removed',
  severity: 'error',
  summary:
    'A channel that clusters may be subscribed to is deprecated before it is removed, and then kept for a while',
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
        const message = `channel ${quoted(channel)} of package ${quoted(name)} is gone: under OLM v0 resolution fails in every namespace with a subscription to it, whatever else is installed there; under OLM v1 every extension that selects it ends in an error (${listed(versions)})`;
        const hint = deprecated
          ? 'it was deprecated before: waive this once its users have had the time to leave'
          : `keep the channel for one more release and deprecate it: reference: {schema: olm.channel, name: ${channel}}`;
        report(message, location, { package: name, channel, installed: versions, hint });
      }
    }
  },
};

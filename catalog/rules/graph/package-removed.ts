import { publishedInstallations, withoutChannels } from '../../olm/foresight/installation.ts';
import { placeOfPackage } from '../finding-location.ts';
import { versionsOf } from '../message-text.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/package-removed',
  severity: 'error',
  summary:
    'A package that clusters may have installed is deprecated and kept for a while before it is removed',
  compare(change, report) {
    for (const name of change.packages) {
      const was = change.before.catalog.packages.get(name);
      const location = placeOfPackage(change.before, name);
      if (!was || !location || was.channels.size === 0) continue;
      if ((change.after.catalog.packages.get(name)?.channels.size ?? 0) > 0) continue;
      if (!change.before.isPublished({ package: name })) {
        const message = `package ${quoted(name)} is removed before it is published`;
        report(message, location, { package: name, severity: 'info' });
        continue;
      }
      const versions = versionsOf(withoutChannels(publishedInstallations(change.before, name)));
      const message = `package ${quoted(name)} is removed: OLM v0 cannot resolve anything in namespaces that subscribe to it, and OLM v1 reports an error for every extension of it`;
      const hint =
        was.deprecation === undefined
          ? 'keep the package for one more release and deprecate it: reference: {schema: olm.package}'
          : 'it was deprecated before: waive this finding once users have had time to move';
      report(message, location, { package: name, installed: versions, hint });
    }
  },
};

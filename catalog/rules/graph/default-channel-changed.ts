import { headOf } from '../../graph/channel.ts';
import { installedOf, shortName } from '../../graph/edge.ts';
import { fixFor } from '../../graph/fix.ts';
import { endText } from '../phrase.ts';
import { placeOfPackage } from '../place.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/default-channel-changed',
  severity: 'error',
  summary: 'When the default channel changes, the head of the old one can go to the new one',
  compare(change, report) {
    for (const name of change.packages) {
      const was = change.before.catalog.packages.get(name);
      const is = change.after.catalog.packages.get(name);
      const location = placeOfPackage(change.after, name, 'defaultChannel');
      if (!was?.blob || !is?.blob || was.defaultChannel === is.defaultChannel || !location) continue;
      const old = was.channels.get(was.defaultChannel);
      const head = old && headOf(old);
      const bundle = head && was.bundles.get(head.name);
      const changed = `the default channel of package ${quoted(name)} changes from ${quoted(was.defaultChannel)} to ${quoted(is.defaultChannel)}`;
      const fate =
        bundle &&
        change.after.foresight.v0({ package: name, channel: is.defaultChannel }, installedOf(bundle));
      const details = { package: name, channel: is.defaultChannel };
      if (!bundle || !fate || fate.arrives) {
        const message = `${changed}: new installations follow it, existing subscriptions stay where they are`;
        const hint = 'say so in the release notes, and deprecate the old channel if it gets no more updates';
        report(message, location, { ...details, severity: 'warning', hint });
        continue;
      }
      const installed = [installedOf(bundle)];
      const stuck = { package: name, channel: is.defaultChannel, olm: 'v0' as const, installed };
      const fix = fixFor(change.after, stuck, change.before);
      const message = `${changed}, but the head of the old one, ${shortName(bundle)}, cannot get to the head of the new one, ${endText(fate)}`;
      report(message, location, {
        ...details,
        installed: [shortName(bundle)],
        hint: fix?.text ?? `let an entry of channel ${is.defaultChannel} replace or skip ${bundle.name}`,
      });
    }
  },
};

import { shortName } from '../../fbc/edge.ts';
import { changesUnder, eachOnce } from '../../olm/foresight/installation-change.ts';
import { reasonOf, upgradeOf } from '../../olm/resolve/outcome.ts';
import { placeOfHead, placeOfPackage } from '../finding-location.ts';
import { grouped, listed, versionsOf } from '../message-text.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/upgrade-lost-v1',
  effect: { one: 'no longer upgrades', many: 'no longer upgrade', olm: 'v1' },
  severity: 'error',
  summary: 'Reports changes that remove upgrades that OLM v1 offered',
  harm: { rank: 8, kind: 'loss' },
  reads: ['catalogs', 'history'],
  compare(change, report) {
    const lost = changesUnder(change, 'v1').filter(
      ({ package: name, before, after }) =>
        before.next.kind === 'upgrade' &&
        after.next.kind === 'stays' &&
        // An unpublished version was never offered.
        change.before.isPublished({ package: name, bundle: before.next.to.name }),
    );
    for (const group of grouped(eachOnce(lost), ({ package: name, channel }) =>
      JSON.stringify([name, channel]),
    )) {
      const [first] = group;
      const was = first && upgradeOf(first.before.next);
      const why = first && reasonOf(first.after.next);
      if (!was || !why) continue;
      const { package: name } = first;
      const versions = versionsOf(group.map(({ installed }) => installed));
      const ofPackage = change.after.catalog.packages.get(name);
      const channel = ofPackage?.channels.get(
        first.channel === '' ? ofPackage.defaultChannel : first.channel,
      );
      const within = first.channel === '' ? '' : ` with channel ${quoted(first.channel)} alone`;
      const location = channel ? placeOfHead(channel) : placeOfPackage(change.after, name);
      if (!location) continue;
      const [subject, stays] = group.length === 1 ? ['it', 'stays'] : [shortName(first.installed), 'stay'];
      const message = `under OLM v1 ${listed(versions)} of package ${quoted(name)}${within} had an upgrade and now ${stays} without an error: ${subject} upgraded to ${shortName(was.to)}, and now ${why.text}`;
      const hint = `add an entry with a higher version that replaces or skips ${first.installed.name}`;
      const place = first.channel === '' ? {} : { channel: first.channel };
      report(message, location, { package: name, ...place, installed: versions, hint });
    }
  },
};

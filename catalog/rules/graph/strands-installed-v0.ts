import type { UpgradePath } from '../../olm/foresight/foresight.ts';
import { changesUnder, eachOnce, type InstallationChange } from '../../olm/foresight/installation-change.ts';
import { type Change, checkedPackages } from '../../olm/foresight/world.ts';
import { channelIn, placeOfHead, placeOfPackage } from '../finding-location.ts';
import { grouped, listed, versionsOf } from '../message-text.ts';
import { quoted, type Report, type Rule } from '../rule.ts';
import { reportStranded } from '../stranding.ts';

export const rule: Rule = {
  id: 'graph/strands-installed-v0',
  effect: { one: 'loses its upgrade path', many: 'lose their upgrade path', olm: 'v0' },
  severity: 'error',
  summary: 'Reports changes that strand installations that could reach their channel head under OLM v0',
  harm: { rank: 3, kind: 'loss' },
  reads: ['catalogs', 'history'],
  compare(change, report) {
    const lost = changesUnder(change, 'v0').filter(
      ({ package: name, channel, before, after }) =>
        before.arrives &&
        !after.arrives &&
        channelIn(change.after, name, channel) &&
        !isReportedByChannelRules(after.last) &&
        !isUnreadable(after.last, change),
    );
    const stranded = lost.map(({ after, ...move }) => ({ ...move, path: after }));
    reportStranded(change.after, stranded, {
      report,
      olm: 'v0',
      verb: 'can no longer reach',
      past: change.before,
    });
    const all = changesUnder(change, 'v0').filter(
      (move) => (move.before.arrives && !move.after.arrives) || losesUpgrade(move),
    );
    const open = eachOnce(all).filter((move) => move.channel === '' && isLostWithoutChannel(move, change));
    reportLostSteps(change, report);
    for (const name of change.packages) {
      const without = open.filter((move) => move.package === name).map(({ installed }) => installed);
      const location = placeOfPackage(change.after, name);
      if (without.length === 0 || !location) continue;
      const versions = versionsOf(without);
      const message = `under OLM v0 subscriptions to package ${quoted(name)} without a channel at ${listed(versions)} had an upgrade and now have none`;
      const hint = `add an entry in any channel that replaces or skips ${listed(versions)}`;
      report(message, location, { package: name, installed: versions, hint });
    }
  },
};

/** Reports who never got to the head of its channel, and now gets no upgrade at all. */
function reportLostSteps(change: Change, report: Report): void {
  const lost = changesUnder(change, 'v0').filter(
    (move) => move.channel !== '' && !move.before.arrives && losesUpgrade(move),
  );
  for (const group of grouped(lost, (move) => JSON.stringify([move.package, move.channel]))) {
    const [first] = group;
    const channel = first && channelIn(change.after, first.package, first.channel);
    if (!channel) continue;
    const versions = versionsOf(group.map(({ installed }) => installed));
    const message = `under OLM v0 ${listed(versions)} had an upgrade in channel ${quoted(channel.name)} of package ${quoted(channel.package)}, and now ${versions.length === 1 ? 'has' : 'have'} none`;
    report(message, placeOfHead(channel), {
      package: channel.package,
      channel: channel.name,
      installed: versions,
      hint: `add an entry that replaces or skips ${listed(versions)}`,
    });
  }
}

/**
 * Whether a subscription without a channel had an upgrade in any channel, and has none now. False if the default channel
 * changed, which another rule reports.
 */
function isLostWithoutChannel(
  { package: name, before: old, after: now }: InstallationChange,
  { before, after }: Change,
): boolean {
  const [was, is] = [before, after].map(({ catalog }) => catalog.packages.get(name));
  if (!was || !is || was.defaultChannel !== is.defaultChannel) return false;
  if (old.last.kind === 'fails' || now.last.kind === 'fails') return false;
  const wasOffered = old.hops > 0 && before.isPublished({ package: name, bundle: old.end.name });
  return (wasOffered && now.hops === 0) || (old.arrives && !now.arrives);
}

/** Whether a channel no longer has an upgrade that it had. Another rule reports that its head moved back. */
function losesUpgrade({ before, after }: InstallationChange): boolean {
  return before.next.kind === 'upgrade' && after.next.kind === 'stays';
}

/** Channel rules report channels without an order and entries without a bundle. */
function isReportedByChannelRules(last: UpgradePath['last']): boolean {
  return last.kind !== 'circle' && ['no-order', 'successor-missing'].includes(last.reason.code);
}

/** A requirement that OLM v0 cannot parse is reported by a rule about its bundle, where that is checked. */
function isUnreadable(last: UpgradePath['last'], { after }: Change): boolean {
  if (last.kind === 'circle' || last.reason.code !== 'bad-dependency') return false;
  const { bundle = '' } = last.reason;
  return checkedPackages(after).some(({ bundles }) => bundles.has(bundle));
}

import { chainBelow, headOf } from '../../fbc/channel.ts';
import { installedOf } from '../../fbc/edge.ts';
import type { Channel, Package } from '../../fbc/model.ts';
import type { UpgradePath } from '../../olm/foresight/foresight.ts';
import { type Installation, installationsOf } from '../../olm/foresight/installation.ts';
import { changesUnder, eachOnce, type InstallationChange } from '../../olm/foresight/installation-change.ts';
import { type Change, checkedPackages, type World } from '../../olm/foresight/world.ts';
import { channelIn, placeOfHead, placeOfPackage } from '../finding-location.ts';
import { grouped, listed, versionsOf } from '../message-text.ts';
import { quoted, type Report, type Rule } from '../rule.ts';
import { reportStranded, type Stranded } from '../stranding.ts';

export const rules: readonly Rule[] = [
  {
    id: 'graph/stranded-v0',
    effect: { one: 'has no upgrade path', many: 'have no upgrade path', olm: 'v0' },
    severity: 'error',
    summary: 'Reports bundles without an upgrade path to the head of their channel under OLM v0',
    reads: ['history'],
    checkWorld(world, report) {
      if (!world.olm.has('v0')) return;
      const stranded = checkedPackages(world).flatMap((ofPackage) =>
        [...ofPackage.channels.values()].flatMap((channel) => strandedIn(world, ofPackage, channel)),
      );
      reportStranded(world, stranded, { report, verb: 'cannot reach' });
    },
  },
  {
    id: 'graph/stranded-published',
    effect: { one: 'loses its upgrade path', many: 'lose their upgrade path', olm: 'v0' },
    severity: 'error',
    summary: 'Reports published bundles without an upgrade path to the head of their channel under OLM v0',
    reads: ['history'],
    checkWorld(world, report) {
      if (!world.olm.has('v0')) return;
      const stranded = checkedPackages(world).flatMap(({ name }) =>
        installationsOf(world, name).flatMap((one) => strandedOf(world, name, one)),
      );
      reportStranded(world, stranded, { report, verb: 'cannot reach' });
    },
  },
  {
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
        verb: 'can no longer reach',
        past: change.before,
      });
      const all = changesUnder(change, 'v0').filter(
        (move) => (move.before.arrives && !move.after.arrives) || losesUpgrade(move),
      );
      const withoutChannel = eachOnce(all).filter(
        (move) => move.channel === '' && isLostWithoutChannel(move, change),
      );
      reportLostSteps(change, report);
      for (const name of change.packages) {
        const without = withoutChannel
          .filter((move) => move.package === name)
          .map(({ installed }) => installed);
        const location = placeOfPackage(change.after, name);
        if (without.length === 0 || !location) continue;
        const versions = versionsOf(without);
        const message = `under OLM v0 subscriptions to package ${quoted(name)} without a channel at ${listed(versions)} had an upgrade and now have none`;
        const hint = `add an entry in any channel that replaces or skips ${listed(versions)}`;
        report(message, location, { package: name, installed: versions, hint });
      }
    },
  },
];

/** Entries of a channel that cannot reach its head under OLM v0, unless another rule reports the reason. */
function strandedIn({ foresight }: World, ofPackage: Package, channel: Channel): Stranded[] {
  const hidesCircle = isSoundToOpm(channel);
  return channel.entries.flatMap((entry) => {
    const bundle = ofPackage.bundles.get(entry.name);
    if (!bundle) return [];
    const installed = installedOf(bundle);
    const path = foresight.v0({ package: ofPackage.name, channel: channel.name }, installed);
    if (path.arrives) return [];
    // Other rules report channels that opm refuses, entries without bundles, and missing dependencies.
    if (path.last.kind === 'fails' && !(hidesCircle && path.last.reason.code === 'no-order')) return [];
    if (isBlocked(path.last)) return [];
    return [{ package: ofPackage.name, channel: channel.name, installed, path }];
  });
}

/** opm stops at what is skipped, so it sees no circle below that; OLM v0 walks on, and fails for the whole namespace. */
function isSoundToOpm(channel: Channel): boolean {
  const head = headOf(channel);
  return head !== undefined && chainBelow(channel, head).cycle === undefined;
}

/** Whether OLM v0 stays because the next bundle is missing, or cannot be installed. */
function isBlocked(last: UpgradePath['last']): boolean {
  return last.kind === 'stays' && ['successor-blocked', 'successor-missing'].includes(last.reason.code);
}

/** After this many days most clusters have gone on. */
const LONG_AGO = 365;

/**
 * A version that was once published in a channel and cannot reach its head; empty if it can, or if another rule reports
 * it.
 */
function strandedOf(world: World, name: string, { channel, installed, published }: Installation): Stranded[] {
  // stranded-v0 reports versions that the catalog still has; channel-removed reports removed channels.
  if (!published || !world.catalog.packages.get(name)?.channels.has(channel)) return [];
  const path = world.foresight.v0({ package: name, channel }, installed);
  // Other rules report why resolution fails.
  if (path.arrives || path.last.kind === 'fails') return [];
  const severity = isLongAgo(published.last, world.asOf) ? 'warning' : 'error';
  return [{ package: name, channel, installed, path, severity }];
}

/** Whether a bundle was last published more than {@link LONG_AGO} days before. Without dates, it may be in use. */
function isLongAgo(last: string | undefined, asOf: string | undefined): boolean {
  if (last === undefined || asOf === undefined) return false;
  const days = (Date.parse(asOf) - Date.parse(last)) / 86_400_000;
  return days > LONG_AGO;
}

/** Reports who never got to the head of its channel, and now gets no upgrade at all. */
function reportLostSteps(change: Change, report: Report): void {
  // Subscriptions without a channel are reported by themselves.
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

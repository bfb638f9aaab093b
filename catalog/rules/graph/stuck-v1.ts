import { type Installed, installedOf } from '../../fbc/edge.ts';
import type { Bundle, Channel, Package } from '../../fbc/model.ts';
import { appendToGroup, groupedBy } from '../../go/grouped.ts';
import type { UpgradePath } from '../../olm/foresight/foresight.ts';
import {
  installationKey,
  publishedInstallations,
  withoutChannels,
} from '../../olm/foresight/installation.ts';
import { changesUnder, eachOnce } from '../../olm/foresight/installation-change.ts';
import { type Change, checkedPackages, formerWorld, type World } from '../../olm/foresight/world.ts';
import { channelIn, entryIn, placeOfEntry, placeOfHead, placeOfPackage } from '../finding-location.ts';
import { endText, grouped, listed, versionsOf } from '../message-text.ts';
import { quoted, type Report, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/stuck-v1',
  effect: { one: 'has no upgrade path', many: 'have no upgrade path', olm: 'v1' },
  severity: 'error',
  summary: 'Reports bundles without an upgrade path to a channel head under OLM v1',
  reads: ['catalogs', 'history'],
  comparisonTellsNews: true,
  checkWorld(world, report) {
    for (const ofPackage of checkedPackages(world))
      reportStuck(world, ofPackage, stuckIn(world, ofPackage), report);
  },
  compare(change, report) {
    for (const name of change.packages) {
      const ofPackage = change.after.catalog.packages.get(name);
      if (!ofPackage) continue;
      // An installation that stays for another reason than before is not worse off.
      const known = stuckNames(formerWorld(change, name), name);
      const stuck = stuckIn(change.after, ofPackage).filter(({ bundle }) => !known.has(bundle.name));
      reportStuck(change.after, ofPackage, stuck, report);
      for (const [channel, group] of newInChannels(change, ofPackage))
        reportStuckInChannel(channel, group, report);
    }
    for (const [channel, group] of lostByChannel(change)) reportStuckInChannel(channel, group, report);
  },
};

interface Stuck {
  readonly bundle: Bundle;
  readonly path: UpgradePath;
}

/** Reports bundles that cannot reach a head under OLM v1, those that end at the same bundle together. */
function reportStuck(world: World, ofPackage: Package, stuck: readonly Stuck[], report: Report): void {
  for (const group of grouped(stuck, ({ path }) => path.end.name)) {
    const [first] = group;
    if (!first) continue;
    const channel = [...ofPackage.channels.values()].find((one) => entryIn(one, first.path.end.name));
    const entry = entryIn(channel, first.path.end.name);
    const location =
      channel && entry ? placeOfEntry(channel, entry.index) : placeOfPackage(world, ofPackage.name);
    if (!location) continue;
    const versions = versionsOf(group.map(({ bundle }) => bundle));
    const message = `under OLM v1 ${listed(versions)} of package ${quoted(ofPackage.name)} cannot reach a channel head: ${endText(first.path)}`;
    report(message, location, {
      package: ofPackage.name,
      ...(channel ? { channel: channel.name } : {}),
      installed: versions,
      hint: hintFor(first.path),
    });
  }
}

function hintFor({ end }: UpgradePath): string {
  return `add an entry with a higher version that replaces or skips ${end.name}`;
}

/** Names of the bundles that clusters may have and that have no path to a head, for whatever reason. */
function stuckNames(world: World, name: string): ReadonlySet<string> {
  const stuck = withoutChannels(publishedInstallations(world, name)).filter(
    (installed) => !world.foresight.v1({ package: name, channels: [] }, installed).arrives,
  );
  return new Set(stuck.map((installed) => installed.name));
}

/** Extensions that select one channel and no longer reach its head, while others still reach a head. */
function lostByChannel(change: Change): ReadonlyMap<Channel, readonly StuckInChannel[]> {
  const lost = changesUnder(change, 'v1').filter(
    ({ before, after }) =>
      before.arrives && !after.arrives && after.next.kind !== 'fails' && !isReportedElsewhere(after),
  );
  const found = new Map<Channel, StuckInChannel[]>();
  for (const move of eachOnce(lost)) {
    const channel = channelIn(change.after, move.package, move.channel);
    // An upgrade that is gone is the matter of upgrade-lost-v1.
    const hadUpgrade = move.before.next.kind === 'upgrade' && move.after.next.kind === 'stays';
    const { installed, after: path } = move;
    if (channel && !hadUpgrade) appendToGroup(found, channel, { installed, path });
  }
  return found;
}

/** Bundles that a channel newly has and from which, if it alone is selected, its head is not reached. */
function newInChannels(change: Change, { name, bundles, channels }: Package): Map<Channel, StuckInChannel[]> {
  const { before, after } = change;
  if (!after.olm.has('v1')) return new Map();
  const known = new Set(publishedInstallations(before, name).map(installationKey));
  const stuck = [...channels.values()].flatMap((channel) =>
    channel.entries.flatMap((entry) => {
      const bundle = bundles.get(entry.name);
      if (!bundle || known.has(installationKey({ channel: channel.name, installed: bundle }))) return [];
      const installed = installedOf(bundle);
      const path = after.foresight.v1({ package: name, channels: [channel.name] }, installed);
      const arrivesWithoutChannel = after.foresight.v1({ package: name, channels: [] }, installed).arrives;
      // Without a channel it is stuck as well: then the report on all channels names it.
      const needsNoReport = path.arrives || path.next.kind === 'fails' || isReportedElsewhere(path);
      return arrivesWithoutChannel && !needsNoReport ? [{ channel, installed, path }] : [];
    }),
  );
  if (stuck.length === 0) return new Map();
  const wasStuck = stuckInAnyWay([before, ...before.preceding, ...before.following], name);
  return groupedBy(
    stuck.filter(({ installed }) => !wasStuck.has(installed.name)),
    ({ channel }) => channel,
  );
}

interface StuckInChannel {
  readonly installed: Installed;
  readonly path: UpgradePath;
}

/** Names of what had no path to a head in any of some worlds, with any channel selected or none: a copy is not new. */
function stuckInAnyWay(worlds: readonly World[], name: string): ReadonlySet<string> {
  const stuck = worlds.flatMap((world) =>
    publishedInstallations(world, name).filter(({ channel, installed }) =>
      [[], [channel]].some((channels) => !world.foresight.v1({ package: name, channels }, installed).arrives),
    ),
  );
  return new Set(stuck.map(({ installed }) => installed.name));
}

function reportStuckInChannel(channel: Channel, group: readonly StuckInChannel[], report: Report): void {
  const [first] = group;
  if (!first) return;
  const versions = versionsOf(group.map(({ installed }) => installed));
  const message = `under OLM v1 ${listed(versions)} of package ${quoted(channel.package)} with channel ${quoted(channel.name)} alone cannot reach its head: ${endText(first.path)}`;
  report(message, placeOfHead(channel), {
    package: channel.package,
    channel: channel.name,
    installed: versions,
    hint: hintFor(first.path),
  });
}

/** Bundles of a package that cannot reach a head under OLM v1, unless another rule reports the reason. */
function stuckIn({ foresight, olm }: World, ofPackage: Package): Stuck[] {
  if (!olm.has('v1')) return [];
  const listedNames = new Set(
    [...ofPackage.channels.values()].flatMap(({ entries }) => entries.map(({ name }) => name)),
  );
  // OLM v1 installs nothing without a valid version, which bundle/version reports.
  return [...ofPackage.bundles.values()]
    .filter(({ name, version }) => version !== undefined && listedNames.has(name))
    .map((bundle) => ({
      bundle,
      path: foresight.v1({ package: ofPackage.name, channels: [] }, installedOf(bundle)),
    }))
    .filter(({ path }) => !path.arrives && !isReportedElsewhere(path));
}

/** Versions that sort wrongly, dependencies, and channels without heads have rules of their own. */
function isReportedElsewhere({ last }: UpgradePath): boolean {
  return last.kind !== 'circle' && ['successor-lower', 'dependency'].includes(last.reason.code);
}

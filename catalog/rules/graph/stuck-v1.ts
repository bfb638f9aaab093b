import { installedOf } from '../../fbc/edge.ts';
import type { Bundle, Channel, Package } from '../../fbc/model.ts';
import type { UpgradePath } from '../../olm/foresight/foresight.ts';
import { changesUnder, eachOnce, type InstallationChange } from '../../olm/foresight/installation-change.ts';
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
  foresee(world, report) {
    for (const ofPackage of checkedPackages(world)) tell(world, ofPackage, stuckIn(world, ofPackage), report);
  },
  compare(change, report) {
    for (const name of change.packages) {
      const ofPackage = change.after.catalog.packages.get(name);
      if (!ofPackage) continue;
      const former = formerWorld(change, name);
      // Another reason why nothing follows makes nobody worse off.
      const stuck = stuckIn(change.after, ofPackage).filter(({ bundle }) => !wasStuck(former, bundle));
      tell(change.after, ofPackage, stuck, report);
    }
    for (const [channel, group] of byChannel(change)) tellChannel(channel, group, report);
  },
};

interface Stuck {
  readonly bundle: Bundle;
  readonly path: UpgradePath;
}

function tell(world: World, ofPackage: Package, stuck: readonly Stuck[], report: Report): void {
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

/** Whether a bundle had no path to a head before, for whatever reason. */
function wasStuck({ catalog, foresight }: World, { package: name, name: bundle }: Bundle): boolean {
  const ofPackage = catalog.packages.get(name);
  const was = ofPackage?.bundles.get(bundle);
  const isListed = [...(ofPackage?.channels.values() ?? [])].some((one) => entryIn(one, bundle));
  return (
    was !== undefined && isListed && !foresight.v1({ package: name, channels: [] }, installedOf(was)).arrives
  );
}

/** Extensions that select one channel, reached its head before and no longer do, where others still reach a head. */
function byChannel(change: Change): ReadonlyMap<Channel, readonly InstallationChange[]> {
  const lost = changesUnder(change, 'v1').filter(
    ({ before, after }) =>
      before.arrives && !after.arrives && after.next.kind !== 'fails' && !isToldElsewhere(after),
  );
  const found = new Map<Channel, InstallationChange[]>();
  for (const move of eachOnce(lost)) {
    const channel = channelIn(change.after, move.package, move.channel);
    // An upgrade that is gone is the matter of upgrade-lost-v1.
    const hadUpgrade = move.before.next.kind === 'upgrade' && move.after.next.kind === 'stays';
    if (channel && !hadUpgrade) found.set(channel, [...(found.get(channel) ?? []), move]);
  }
  return found;
}

function tellChannel(channel: Channel, group: readonly InstallationChange[], report: Report): void {
  const [first] = group;
  if (!first) return;
  const versions = versionsOf(group.map(({ installed }) => installed));
  const message = `under OLM v1 ${listed(versions)} of package ${quoted(channel.package)} with channel ${quoted(channel.name)} alone can no longer reach its head: ${endText(first.after)}`;
  report(message, placeOfHead(channel), {
    package: channel.package,
    channel: channel.name,
    installed: versions,
    hint: hintFor(first.after),
  });
}

function stuckIn({ foresight, olm }: World, ofPackage: Package): Stuck[] {
  if (!olm.has('v1')) return [];
  const listedNames = new Set(
    [...ofPackage.channels.values()].flatMap(({ entries }) => entries.map(({ name }) => name)),
  );
  return [...ofPackage.bundles.values()]
    .filter(({ name }) => listedNames.has(name))
    .map((bundle) => ({
      bundle,
      path: foresight.v1({ package: ofPackage.name, channels: [] }, installedOf(bundle)),
    }))
    .filter(({ path }) => !path.arrives && !isToldElsewhere(path));
}

/** Versions that sort wrongly, dependencies, and channels without heads have rules of their own. */
function isToldElsewhere({ last }: UpgradePath): boolean {
  return last.kind !== 'circle' && ['successor-lower', 'dependency'].includes(last.reason.code);
}

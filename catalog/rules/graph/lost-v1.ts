import { shortName } from '../../fbc/edge.ts';
import type { Channel } from '../../fbc/model.ts';
import type { Location } from '../../finding.ts';
import { correctionOf, fixFor } from '../../olm/foresight/fix.ts';
import type { Fix } from '../../olm/foresight/fix-edits.ts';
import type { UpgradePath } from '../../olm/foresight/foresight.ts';
import { changesUnder, eachOnce, type InstallationChange } from '../../olm/foresight/installation-change.ts';
import type { Change } from '../../olm/foresight/world.ts';
import { reasonOf, upgradeOf } from '../../olm/resolve/outcome.ts';
import { channelIn, placeOfEntry, placeOfHead, placeOfPackage } from '../finding-location.ts';
import { grouped, listed, versionsOf } from '../message-text.ts';
import { quoted, type Report, type Rule } from '../rule.ts';

export const rules: readonly Rule[] = [
  {
    id: 'graph/strands-installed-v1',
    effect: { one: 'loses its upgrade path', many: 'lose their upgrade path', olm: 'v1' },
    severity: 'error',
    summary: 'Reports changes that break working installations under OLM v1',
    harm: { rank: 4, kind: 'loss' },
    reads: ['catalogs', 'history'],
    compare(change, report) {
      const lost = changesUnder(change, 'v1').filter((move) => isLost(move, change));
      const groups = grouped(eachOnce(lost), (move) =>
        JSON.stringify([move.package, move.channel, wasRefused(move)]),
      );
      for (const group of groups) reportGroup(change, group, report);
    },
  },
  {
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
  },
];

/** Whether OLM v1 finds no bundle any more. What it refused before for its dependencies is worse off, too: they could be repaired. */
function isLost({ package: name, channel, before, after }: InstallationChange, change: Change): boolean {
  const ofPackage = change.after.catalog.packages.get(name);
  const isThere = channel === '' ? ofPackage !== undefined : ofPackage?.channels.has(channel) === true;
  const worked = before.next.kind !== 'fails' || wasRefused({ before });
  return isThere && worked && failsFor(after, 'no-bundle');
}

/** Whether OLM v1 refused what it would have taken before, for its dependencies: another error takes its place. */
function wasRefused({ before }: Pick<InstallationChange, 'before'>): boolean {
  return failsFor(before, 'dependency');
}

/** Whether OLM v1 resolves nothing for what is installed, for the reason of this code. */
function failsFor({ next }: UpgradePath, code: string): boolean {
  return next.kind === 'fails' && next.reason.code === code;
}

/**
 * Reports installations that OLM v1 no longer upgrades.
 *
 * @param group those of one package and channel that end in the same way
 */
function reportGroup(change: Change, group: readonly InstallationChange[], report: Report): void {
  const [first] = group;
  if (!first) return;
  const { package: name, channel } = first;
  const target = channelIn(change.after, name, channel) ?? homeOf(change, first);
  const refused = wasRefused(first);
  const fix = target && !refused ? fixIn(change, target, group) : undefined;
  const location = locationIn(change, name, { target, fix });
  if (!location) return;
  const versions = versionsOf(group.map(({ installed }) => installed));
  report(messageOf(first, versions), location, {
    package: name,
    ...(target ? { channel: target.name } : {}),
    installed: versions,
    ...(refused ? { severity: 'warning' } : {}),
    hint: fix?.text ?? 'keep the bundle, or add an entry that replaces or skips it',
    ...correctionOf(target, fix),
  });
}

function messageOf(move: InstallationChange, versions: readonly string[]): string {
  const within = move.channel === '' ? '' : ` with channel ${quoted(move.channel)} alone`;
  const before = wasRefused(move) ? '. Before, OLM v1 refused its dependencies' : '';
  return `under OLM v1 an extension of package ${quoted(move.package)}${within} at ${listed(versions)} fails: the catalog no longer has the bundle, and no entry replaces or skips it${before}`;
}

/** The edit of a channel that gives all of a group an upgrade path again. */
function fixIn(change: Change, target: Channel, group: readonly InstallationChange[]): Fix | undefined {
  const [first] = group;
  const installed = group.map((move) => move.installed);
  const onlyChannel = first?.channel !== '';
  const stuck = { package: target.package, channel: target.name, olm: 'v1' as const, onlyChannel, installed };
  return fixFor(change.after, stuck, change.before);
}

/** The entry to change, else the head of the channel, else the package as it is or was. */
function locationIn(
  change: Change,
  name: string,
  { target, fix }: { readonly target: Channel | undefined; readonly fix: Fix | undefined },
): Location | undefined {
  if (target) return fix && fix.index >= 0 ? placeOfEntry(target, fix.index) : placeOfHead(target);
  return placeOfPackage(change.after, name) ?? placeOfPackage(change.before, name);
}

/** The channel that an installation most likely came from and that is still there. */
function homeOf(change: Change, { package: name, installed }: InstallationChange): Channel | undefined {
  const was = [...(change.before.catalog.packages.get(name)?.channels.values() ?? [])];
  const homes = was.filter(({ entries }) => entries.some((entry) => entry.name === installed.name));
  const isNow = change.after.catalog.packages.get(name);
  const names = [...homes.map((home) => home.name), isNow?.defaultChannel ?? ''];
  return names.map((one) => isNow?.channels.get(one)).find((channel) => channel !== undefined);
}

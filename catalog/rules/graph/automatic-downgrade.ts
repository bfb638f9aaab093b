import { shortName, versionText } from '../../fbc/edge.ts';
import type { UpgradePath } from '../../olm/foresight/foresight.ts';
import { changesUnder, eachOnce, type InstallationChange } from '../../olm/foresight/installation-change.ts';
import type { Change } from '../../olm/foresight/world.ts';
import { upgradeOf } from '../../olm/resolve/outcome.ts';
import type { Version } from '../../version/version.ts';
import { lowering } from '../downgrade.ts';
import { channelIn, entryIn, placeOfEntry, placeOfPackage } from '../finding-location.ts';
import { grouped, listed, versionsOf } from '../message-text.ts';
import { quoted, type Report, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/automatic-downgrade',
  severity: 'error',
  summary: 'Reports changes that downgrade installations',
  harm: { rank: 5, kind: 'change' },
  reads: ['catalogs', 'history'],
  compare(change, report) {
    for (const olm of ['v0', 'v1'] as const) {
      const down = changesUnder(change, olm).filter(
        ({ installed, before, after }) =>
          before.next.kind !== 'fails' &&
          goesDown(after, installed.version) &&
          !goesDown(before, installed.version),
      );
      const groups = grouped(eachOnce(down), ({ package: name, channel, after }) =>
        JSON.stringify([name, channel, upgradeOf(after.next)?.to.name]),
      );
      for (const group of groups) reportGroup(change, group, report);
    }
  },
};

/** Whether the next version is lower; a suffix that sorts below is another rule's matter. */
function goesDown({ next }: UpgradePath, from: Version | undefined): boolean {
  return next.kind === 'upgrade' && lowering(from, next.to.version) === 2;
}

function reportGroup(change: Change, group: readonly InstallationChange[], report: Report): void {
  const [first] = group;
  const upgrade = first && upgradeOf(first.after.next);
  if (!upgrade) return;
  const { package: name, olm } = first;
  const { to, edge } = upgrade;
  const channels = [...(change.after.catalog.packages.get(name)?.channels.values() ?? [])];
  const channel =
    channelIn(change.after, name, first.channel) ?? channels.find((one) => entryIn(one, to.name));
  const entry = entryIn(channel, to.name);
  const location =
    channel && entry ? placeOfEntry(channel, entry.index, edge) : placeOfPackage(change.after, name);
  if (!location) return;
  const versions = versionsOf(group.map(({ installed }) => installed));
  const message = `under OLM ${olm} ${listed(versions)} of package ${quoted(name)} would be downgraded to ${shortName(to)} automatically: its ${edge} covers newer versions`;
  report(message, location, {
    package: name,
    ...(channel ? { channel: channel.name } : {}),
    installed: versions,
    hint:
      edge === 'skipRange'
        ? `end the range below ${versionText(to)}: skipRange: '… <${versionText(to)}'`
        : `remove the newer version from ${edge}, or keep its entry`,
  });
}

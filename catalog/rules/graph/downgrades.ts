import { installedOf, shortName, versionText } from '../../fbc/edge.ts';
import type { Bundle, Channel, Package } from '../../fbc/model.ts';
import type { UpgradePath } from '../../olm/foresight/foresight.ts';
import { changesUnder, eachOnce, type InstallationChange } from '../../olm/foresight/installation-change.ts';
import { type Change, checkedPackages, type World } from '../../olm/foresight/world.ts';
import { upgradeOf } from '../../olm/resolve/outcome.ts';
import type { Version } from '../../version/version.ts';
import { type LoweringField, lowering, loweringFields } from '../downgrade.ts';
import { channelIn, entryIn, placeOfEntry, placeOfPackage } from '../finding-location.ts';
import { channelText, grouped, listed, MOST_LISTED, versionsOf } from '../message-text.ts';
import { quoted, type Report, type Rule } from '../rule.ts';

export const rules: readonly Rule[] = [
  {
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
  },
  {
    id: 'graph/downgrade-edge',
    severity: 'error',
    summary: 'Reports upgrade edges from a newer version to an older one',
    foresee(world, report) {
      for (const ofPackage of checkedPackages(world)) {
        for (const channel of ofPackage.channels.values()) {
          const fields = loweringFields(ofPackage, channel, MOST_LISTED);
          const takers = fields.length > 0 ? takersIn(world, ofPackage, channel) : NOBODY;
          for (const field of fields) reportField(field, takers, report);
        }
      }
    },
  },
];

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

/** Bundles of a channel by the name of their automatic upgrade. */
type Takers = ReadonlyMap<string, readonly Bundle[]>;

const NOBODY: Takers = new Map();

function reportField(lowering: LoweringField, takers: Takers, report: Report): void {
  const { channel, entry, field, to, count, lowest } = lowering;
  const taken = versionsOf((takers.get(to.name) ?? []).filter(lowering.includes));
  const isTaken = taken.length > 0;
  const newer = isTaken ? listed(taken) : listed(versionsOf(lowest), count);
  const effect = isTaken ? `${newer} would be downgraded` : 'no cluster follows that edge today';
  const message = `${channelText(channel.name, channel.package)}: ${field} of ${shortName(to)} covers newer versions (${newer}); ${effect}`;
  report(message, placeOfEntry(channel, entry.index, field), {
    package: channel.package,
    channel: channel.name,
    subject: `${field} of ${to.name}`,
    installed: taken,
    severity: isTaken ? 'error' : 'warning',
    hint:
      field === 'skipRange'
        ? `end the range below the entry's own version: skipRange: '${belowOwn(entry.skipRange, versionText(to))}'`
        : `remove ${lowest[0]?.name ?? ''} from ${field}`,
  });
}

/**
 * A range without its upper bounds, ended below the own version. One with alternatives is only hinted at: each would
 * need its own bound.
 */
function belowOwn(range: string, version: string): string {
  return range.includes('||')
    ? `… <${version}`
    : `${range
        .replaceAll(/<=?\s*[^\s]+/g, '')
        .replaceAll(/\s+/g, ' ')
        .trim()} <${version}`.trim();
}

function takersIn({ foresight, olm }: World, ofPackage: Package, channel: Channel): Takers {
  const takers = new Map<string, Bundle[]>();
  for (const { name } of channel.entries) {
    const from = ofPackage.bundles.get(name);
    if (!from) continue;
    const installed = installedOf(from);
    const v0 = foresight.v0({ package: ofPackage.name, channel: channel.name }, installed);
    const v1 = foresight.v1({ package: ofPackage.name, channels: [] }, installed);
    const next = new Set([
      ...(olm.has('v0') ? [upgradeOf(v0.next)?.to.name] : []),
      ...(olm.has('v1') ? [upgradeOf(v1.next)?.to.name] : []),
    ]);
    for (const to of next) {
      if (to === undefined) continue;
      const known = takers.get(to);
      if (known) known.push(from);
      else takers.set(to, [from]);
    }
  }
  return takers;
}
